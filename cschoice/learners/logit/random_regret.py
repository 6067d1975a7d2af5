"""Random regret: an object is chosen for how little it is regretted against each of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.learners.logit.layout import Block, TaskLayout, Values
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.multinomial import fit_linear, information
from cschoice.learners.logit.optimization import Vector, minimize
from cschoice.learners.logit.softmax import log_softmax, logistic, softplus
from cschoice.space import Dimension, Limit, Number, Optional, Real, Several, Whole
from cschoice.tasks import ChoiceTasks, Kind

_PAIR_VALUES = 131_072  # of the pairs of a block: a megabyte


@dataclass(frozen=True)
class Compared:
    """The layout of tasks whose objects are compared by pairs, and which features are."""

    layout: TaskLayout
    compared: NDArray[np.bool_]  # of features


class RandomRegret(LogitLearner):
    """Random regret minimization: the utility depends on the other objects of the task.

    The regret of object i is the sum over other objects j and features m of
    log(1 + exp(b(m) (x(j, m) − x(i, m)))): losses count more than gains. ``linear_features`` (none
    by default) are not compared but added to the utility, as constants of alternatives are.
    """

    name = "random-regret"
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})
    limits: ClassVar[Mapping[str, Limit]] = {
        "linear_features": Optional(Several(Whole(0))),
        "l2": Number(0),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {"l2": Real(1e-6, 10.0)}

    coefficients_: Vector

    def __init__(self, linear_features: Sequence[int] | None = None, l2: float = 1e-5) -> None:
        self.linear_features = linear_features
        self.l2 = l2

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        if self.linear_features and max(self.linear_features) >= tasks.n_features:
            allowed = f"numbers from 0 to {tasks.n_features - 1}"
            given = list(self.linear_features)
            raise InvalidParameter(f"linear_features must be {allowed}, got {given}")
        data = self._data(tasks)
        penalty = self.penalty(data)
        linear = fit_linear(data.layout, penalty / len(tasks))
        # Where differences are small, the regret is half a utility for each object of the task.
        halves = data.compared * (tasks.sizes.mean() / 2 - 1) + 1
        found = minimize(
            self._penalized(data, penalty),
            linear / np.maximum(halves, 1),
            information(data.layout, linear, penalty),
        )
        self._take(found, -float(self._loss(data, found)[0]))

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> Compared:
        compared = np.ones(tasks.n_features, dtype=bool)
        compared[list(self.linear_features or ())] = False
        size = max(1, _PAIR_VALUES // int(tasks.sizes.max()))
        return Compared(TaskLayout(tasks, chosen_first=learning, block_entries=size), compared)

    def _loss(self, data: Compared, parameters: Values) -> tuple[Any, Values]:
        loss: Any = 0.0
        gradient = np.zeros_like(parameters)
        for block in data.layout.blocks:
            logs, scores = _block_terms(data, block, parameters)
            loss, gradient = loss - logs.sum(), gradient - scores.sum(axis=1)
        return loss, gradient

    def _scores(self, data: Compared, parameters: Vector) -> Vector:
        scores = np.empty((data.layout.n_tasks, len(parameters)))
        for block in data.layout.blocks:
            numbers = data.layout.task_numbers[block.tasks]
            scores[numbers] = _block_terms(data, block, parameters)[1].T
        return scores

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        data = self._data(tasks, learning=False)
        values = np.empty(data.layout.n_entries)
        for block in data.layout.blocks:
            x = data.layout.features(block)
            utilities = _utilities(x, data.compared, self.coefficients_)
            block.view(values)[:] = log_softmax(utilities)
        restored: NDArray[np.float64] = data.layout.restore(values)
        return restored

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {"coefficients_": (self.n_features_in_,)}

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:  # noqa: ARG002
        return by_feature

    def _names(self, features: Sequence[str]) -> list[str]:
        return list(features)


def _utilities(x: NDArray[np.float64], compared: NDArray[np.bool_], at: Values) -> Values:
    """Return the linear terms of a block's objects minus their regrets, (size, n_tasks)."""
    values: Values = np.tensordot(np.where(compared, 0.0, at), x, axes=1)
    for number in np.flatnonzero(compared):
        values -= softplus(at[number] * _gaps(x[number])).sum(axis=1)
    # Each object was compared with itself, too: a constant.
    return values


def _gaps(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return other objects minus each object, (size, others, n_tasks)."""
    return x[None] - x[:, None]


def _block_terms(data: Compared, block: Block, at: Values) -> tuple[Values, Values]:
    """Return each task's log-likelihood and its gradient, (features, n_tasks)."""
    x = data.layout.features(block)
    logs = log_softmax(_utilities(x, data.compared, at))
    residuals = -np.exp(logs)
    residuals[0] += 1.0
    weights = data.layout.weights_of(block)
    residuals *= weights
    scores = np.einsum("fjn,jn->fn", x, residuals)
    for number in np.flatnonzero(data.compared):
        gaps = _gaps(x[number])
        slopes = (gaps * logistic(at[number] * gaps)).sum(axis=1)
        scores[number] = -(slopes * residuals).sum(axis=0)
    return weights * logs[0], scores
