"""The base of logit models whose coefficients depend linearly on the set that is offered."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.context_factors import Factors, Pool
from cschoice.learners.logit.context_layout import ContextLayout, Terms
from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.multinomial import (
    fit_linear,
    linear_scores,
    loss_gradient,
    loss_terms,
)
from cschoice.learners.logit.optimization import Vector, minimize
from cschoice.seeding import seed_for
from cschoice.space import Dimension, Limit, Number, Optional, Real, Whole
from cschoice.tasks import ChoiceTasks, Kind

_SMALL_PROBLEM = 256  # parameters; with more, only the best of short searches goes on
_FEW_STEPS, _MANY_STEPS = 40, 2000
_ROUNDS, _SMALL_GAIN = 20, 1e-6  # of steps with the curvature there, and what ends them


class ContextLogit(LogitLearner):
    """A logit model in which the objects of a set change the coefficients of its members.

    Without ``rank`` every pair of features has its effect, the loss is convex and the estimate its
    global minimum. With it, the matrix of effects is a product of two of that rank, for many
    features; the loss has several minima then, and the best of ``n_starts`` searches is kept.
    """

    limits: ClassVar[Mapping[str, Limit]] = {
        "rank": Optional(Whole(1, 1000)),
        "n_starts": Whole(1, 1000),
        "l2": Number(0),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {"l2": Real(1e-6, 10.0)}

    coefficients_: Vector

    def __init__(self, rank: int | None = None, n_starts: int = 10, l2: float = 1e-5) -> None:
        self.rank = rank
        self.n_starts = n_starts
        self.l2 = l2

    @property
    @abstractmethod
    def effective_rank(self) -> int | None:
        """The rank of the matrix of effects; None where it is not restricted."""

    @abstractmethod
    def _context(self, x: Values) -> Values:
        """Return the context of the objects of a block; the last of their features is one."""

    @abstractmethod
    def _terms(self) -> Terms:
        """Return the feature and the context behind each parameter of the full model."""

    @abstractmethod
    def _pool(self) -> Pool:
        """Return how the contexts of objects become that of their set."""

    @abstractmethod
    def _places(self) -> dict[str, NDArray[np.int64]]:
        """Return by attribute the places of the parameters of low rank in ``Factors``' matrix."""

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        data = self._data(tasks)
        if isinstance(data, Factors):
            found = self._search(data, np.random.default_rng(seed_for(seed, self.name)))
        else:
            found = fit_linear(data, self.l2 * self._penalty_weights(data))
        self._take(found, -float(self._loss(data, found)[0]))

    def _search(self, data: Factors, rng: np.random.Generator) -> Vector:
        """Return the best minimum of low rank that the searches find."""
        weights = self.penalty(data)
        objective = self._penalized(data, weights)
        rough = self.sizes(data) / 4 + weights
        starts = [self._start(data, rng) for _ in range(self.n_starts)]
        small = len(rough) <= _SMALL_PROBLEM
        steps = _MANY_STEPS if small else _FEW_STEPS
        tried = [minimize(objective, start, rough, max_steps=steps) for start in starts]
        best = min(tried, key=lambda at: objective(at)[0])
        if not small:
            return minimize(objective, best, rough, max_steps=_MANY_STEPS)
        for _ in range(_ROUNDS):
            before = objective(best)[0]
            scores = self._scores(data, best)
            best = minimize(objective, best, scores.T @ scores + np.diag(weights))
            if objective(best)[0] > before - _SMALL_GAIN:
                break
        return best

    def _start(self, data: Factors, rng: np.random.Generator) -> Vector:
        """Return the estimates without context, and targets to which no context speaks yet."""
        deviation = data.layout.moments()[1]
        matrix = np.zeros((1 + 2 * data.rank, data.layout.n_features))
        matrix[0] = fit_linear(data.layout, self.l2 * deviation**2)
        shape = (data.rank, data.layout.n_features)
        matrix[1 : 1 + data.rank] = rng.normal(size=shape) / deviation / np.sqrt(shape[1])
        start: Vector = matrix.ravel()[self._flat_places()]
        return start

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        data = self._data(tasks, learning=False)
        if isinstance(data, Factors):
            values = data.utilities(self._matrix(data, self._parameters()))
            return np.asarray(data.layout.restore(values))
        return np.asarray(data.restore(data.linear(self._parameters())))

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> ContextLayout | Factors:
        if self.effective_rank is None:
            return ContextLayout(tasks, self._context, self._terms(), chosen_first=learning)
        layout = TaskLayout(tasks, chosen_first=learning, intercept=True)
        return Factors(layout, self._pool(), self.effective_rank)

    def _loss(self, data: ContextLayout | Factors, parameters: Values) -> tuple[Any, Values]:
        if not isinstance(data, Factors):
            return loss_gradient(data, parameters)
        loss, gradient = data.loss_gradient(self._matrix(data, parameters))
        return loss, gradient.ravel()[self._flat_places()]

    def _hessian(self, data: ContextLayout | Factors, parameters: Vector) -> Matrix:
        if isinstance(data, Factors):
            return super()._hessian(data, parameters)
        return loss_terms(data, data.blocks, parameters)[2]

    def levelled(self, hessian: Matrix, parameters: Vector) -> Matrix:
        """Return the Hessian without curvature where the product of the factors stays the same."""
        if self.effective_rank is None:
            return hessian
        flat = np.linalg.qr(self._turns(parameters))[0]
        level = np.eye(len(parameters)) - flat @ flat.T
        return np.asarray(level @ hessian @ level)

    def _turns(self, parameters: Vector) -> Matrix:
        """Return the directions in which targets and contexts turn against each other."""
        parts = self._split(parameters)
        targets, contexts = parts["targets_"], parts["contexts_"]
        turns = []
        for one, other in np.ndindex(len(targets), len(targets)):
            moved = {name: np.zeros_like(part) for name, part in parts.items()}
            moved["targets_"][one], moved["contexts_"][other] = targets[other], -contexts[one]
            turns.append(np.concatenate([part.ravel() for part in moved.values()]))
        return np.column_stack(turns)

    def _scores(self, data: ContextLayout | Factors, parameters: Vector) -> Vector:
        if not isinstance(data, Factors):
            return linear_scores(data, parameters)
        scores = data.scores(self._matrix(data, parameters))
        return np.asarray(scores.reshape(len(scores), -1)[:, self._flat_places()])

    def _matrix(self, data: Factors, parameters: Values) -> Values:
        """Return the matrix of linear functions with the parameters in their places."""
        matrix = np.zeros((1 + 2 * data.rank, data.layout.n_features), dtype=parameters.dtype)
        matrix.reshape(-1)[self._flat_places()] = parameters
        return matrix

    def _flat_places(self) -> NDArray[np.int64]:
        return np.concatenate([places.ravel() for places in self._places().values()])

    @property
    def _n_own(self) -> int:
        """The number of features of an object, with the constant where it means something."""
        return self.n_features_in_ + (self.kind_ is Kind.SUBSET)

    def _own_names(self, features: Sequence[str]) -> list[str]:
        return [*features, "intercept"][: self._n_own]

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        if self.effective_rank is None:
            values = by_feature.copy()
            values[self.n_features_in_ : self._n_own] = other  # the intercept
            return values
        # The constants of factors count as features: scale moves freely between factors.
        values = np.append(by_feature[: self.n_features_in_], 1.0)
        places = self._flat_places()
        return np.where(places == self.n_features_in_, other, values[places % len(values)])
