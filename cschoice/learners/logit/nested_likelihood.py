"""The likelihood of nested logit models: objects of one nest are closer substitutes.

Both models share one formula. Object j belongs to nest k with share a(k, j). The dissimilarity
l(k) in (0, 1] measures how much the objects of the nest differ in unobserved respects:

    P(j | k) is proportional to (a(k, j) exp U(j)) ** (1 / l(k)),
    P(k) to the sum of these over j, to the power l(k);      P(j) = sum over k of P(k) P(j | k).

In the nested logit the shares are 0 or 1, in the generalized one a softmax of linear functions.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.multinomial import information
from cschoice.learners.logit.optimization import Bounds, Objective, Vector, minimize
from cschoice.learners.logit.softmax import log_softmax, log_sum
from cschoice.space import Dimension, Integer, Limit, Number, Real, Whole
from cschoice.tasks import ChoiceTasks, Kind

OUTSIDE = -1e9  # the logarithm of a share of zero; finite, so that its product with zero is zero
_SMALLEST = 0.05  # dissimilarity: utilities are divided by it
_BLOCK_VALUES = 32_768  # a quarter of a megabyte: several such arrays fit into the cache


@dataclass(frozen=True)
class NestedObjects:
    """The layout of tasks, with the log shares of their objects, or their kinds, where given."""

    layout: TaskLayout
    log_shares: Values | None = None  # (nests, entries)
    kinds: NDArray[np.int64] | None = None  # of entries

    @classmethod
    def layout_of(cls, tasks: ChoiceTasks, n_nests: int, learning: bool) -> TaskLayout:
        """Return a layout whose blocks leave room in the cache for one value per nest."""
        size = max(1, _BLOCK_VALUES // n_nests)
        return TaskLayout(tasks, chosen_first=learning, block_entries=size)

    def sums_by_task(self, values: Values) -> Values:
        """Return sums of (nests, entries) over the objects of each task, (n_tasks, nests)."""
        sums = np.empty((self.layout.n_tasks, len(values)), dtype=values.dtype)
        for block in self.layout.blocks:
            sums[self.layout.task_numbers[block.tasks]] = block.view(values).sum(axis=1).T
        return sums


class NestedModel(LogitLearner):
    """The base of both nested models: the formula, its gradient and its optimization.

    The shares of objects in nests are computed from functions of the objects, which a model may
    learn. With a ``max_dissimilarity`` above one, objects of a nest may be worse substitutes than
    others; such a model may be no model of utilities.
    """

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})
    limits: ClassVar[Mapping[str, Limit]] = {
        "n_nests": Whole(1, 1000),
        "l2": Number(0),
        "max_dissimilarity": Number(1, 100),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {
        "n_nests": Integer(2, 10),
        "l2": Real(1e-6, 10.0),
    }
    n_nests: int
    max_dissimilarity: float
    coefficients_: Vector
    dissimilarities_: Vector

    @abstractmethod
    def _functions(self, data: NestedObjects, parts: dict[str, Values]) -> Values:
        """Return the functions behind the shares, one column per entry."""

    @abstractmethod
    def _log_shares(self, functions: Values) -> Values:
        """Return the logarithm of each object's share in each nest, (nests, ...)."""

    @abstractmethod
    def _by_functions(self, log_shares: Values, residuals: Values, total: Values) -> Values:
        """Return the derivatives by the functions, given those by log shares and their total."""

    @abstractmethod
    def _function_gradients(
        self, data: NestedObjects, parts: dict[str, Values], residuals: Values
    ) -> list[Values]:
        """Return the gradients by the parameters of the functions, flattened."""

    @abstractmethod
    def _function_scores(
        self, data: NestedObjects, parts: dict[str, Values], residuals: Values
    ) -> list[Values]:
        """Return the same gradients task by task, (n_tasks, n_parameters) each."""

    def _bounds(self) -> Bounds:
        n_parameters = sum(int(np.prod(shape)) for shape in self._shapes().values())
        low, high = np.full(n_parameters, -np.inf), np.full(n_parameters, np.inf)
        self._split(low)["dissimilarities_"][:] = _SMALLEST
        self._split(high)["dissimilarities_"][:] = self.max_dissimilarity
        return low, high

    def _optimize(
        self,
        data: NestedObjects,
        start: dict[str, Vector],
        scales: Vector,
        **options: Any,
    ) -> None:
        """Fit from a start; ``scales`` is a rough curvature of all parameters but coefficients."""
        found = self._search(data, start, scales, **options)
        self._take(found, -float(self._loss(data, found)[0]))

    def _search(
        self,
        data: NestedObjects,
        start: dict[str, Vector],
        scales: Vector,
        *,
        objective: Objective | None = None,
        bounds: Bounds | None = None,
        **options: Any,
    ) -> Vector:
        """Return the minimum of the penalized loss, or of an objective in other parameters."""
        layout = data.layout
        weights = self.l2 * layout.n_tasks * self._penalty_weights(layout)
        n_coefficients = len(start["coefficients_"])
        linear = information(layout, start["coefficients_"], weights[:n_coefficients])
        curvature: NDArray[np.float64] = np.concatenate([_diagonal(linear), scales])
        if linear.ndim == 2:
            curvature = np.diag(curvature)
            curvature[:n_coefficients, :n_coefficients] = linear
        first = np.concatenate([np.ravel(start[name]) for name in self._shapes()])
        objective = objective or self._penalized(data, weights)
        return minimize(objective, first, curvature, bounds=bounds or self._bounds(), **options)

    def _loss(self, data: NestedObjects, parameters: Values) -> tuple[Any, Values]:
        loss, utilities, slopes, residuals = self._residuals(data, parameters)
        gradients = [
            data.layout.transposed(utilities),
            slopes.sum(axis=1),
            *self._function_gradients(data, self._split(parameters), residuals),
        ]
        return loss, np.concatenate(gradients)

    def _scores(self, data: NestedObjects, parameters: Vector) -> Vector:
        _, utilities, slopes, residuals = self._residuals(data, parameters)
        by_lambda = np.empty((data.layout.n_tasks, len(slopes)))
        by_lambda[data.layout.task_numbers] = slopes.T
        by_functions = self._function_scores(data, self._split(parameters), residuals)
        return -np.concatenate([data.layout.by_task(utilities), by_lambda, *by_functions], axis=1)

    def _residuals(
        self, data: NestedObjects, parameters: Values
    ) -> tuple[Any, Values, Values, Values]:
        """Return the loss and its derivatives by utilities, lambdas task by task, and functions."""
        parts = self._split(parameters)
        lambdas = parts["dissimilarities_"]
        utilities = data.layout.linear(parts["coefficients_"])
        functions = self._functions(data, parts)
        residuals = np.empty_like(functions, dtype=parameters.dtype)
        slopes = np.empty((len(lambdas), data.layout.n_tasks), dtype=parameters.dtype)
        loss: Any = 0.0
        for block in data.layout.blocks:
            view, log_shares = block.view(utilities), self._log_shares(block.view(functions))
            logs, slope, residual = _block_terms(view, log_shares, lambdas[:, None, None])
            weights = data.layout.weights_of(block)
            loss, slopes[:, block.tasks] = loss - (weights * logs).sum(), weights * slope
            residual *= weights
            view[:] = residual.sum(axis=0)
            block.view(residuals)[:] = self._by_functions(log_shares, residual, view)
        return loss, utilities, slopes, residuals

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        utilities, _ = self._chances_and_logsums(self._data(tasks, learning=False))
        return utilities

    def _inclusive_values(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        _, logsums = self._chances_and_logsums(self._data(tasks, learning=False))
        return logsums

    def _chances_and_logsums(self, data: NestedObjects) -> tuple[Vector, Vector]:
        """Return the log-probability of each object, and the logsum of each task."""
        values = data.layout.linear(self.coefficients_)
        logsums = np.empty(data.layout.n_tasks)
        functions = self._functions(data, {name: getattr(self, name) for name in self._shapes()})
        lambdas = self.dissimilarities_[:, None, None]
        for block in data.layout.blocks:
            view = block.view(values)
            powers = (view + self._log_shares(block.view(functions))) / lambdas
            sums = log_sum(powers, axis=1)
            nests = lambdas[:, :, 0] * sums
            logsums[data.layout.task_numbers[block.tasks]] = log_sum(nests, axis=0)
            view[:] = log_sum(powers + (log_softmax(nests) - sums)[:, None], axis=0)
        return data.layout.restore(values), logsums


def _block_terms(
    utilities: Values, log_shares: Values, lambdas: Values
) -> tuple[Values, Values, Values]:
    """Return each task's log-likelihood, and the loss's derivatives by lambdas and log shares.

    The derivatives by an object's log shares sum to the derivative by its utility. ``lambdas`` is
    (nests, 1, 1); the chosen object comes first.
    """
    powers = (utilities + log_shares) / lambdas
    top = powers.real.max(axis=1, keepdims=True)
    within = np.exp(powers - top)
    totals = within.sum(axis=1, keepdims=True)
    within /= totals  # P(j | k)
    sums = (top + np.log(totals))[:, 0]
    log_nests = log_softmax(lambdas[:, 0] * sums)
    joint = log_nests + powers[:, 0] - sums
    log_likelihood = log_sum(joint, axis=0)
    posterior = np.exp(joint - log_likelihood)  # P(k | the chosen object)
    surprise = posterior - np.exp(log_nests)
    within *= (lambdas[:, 0] * surprise - posterior)[:, None]
    within[:, 0] += posterior
    by_lambda = surprise * sums
    by_lambda -= np.einsum("kjn,kjn->kn", within, powers) / lambdas[:, 0]
    within /= -lambdas
    return log_likelihood, -by_lambda, within


def _diagonal(information: NDArray[np.float64]) -> Vector:
    return information if information.ndim == 1 else np.diag(information)
