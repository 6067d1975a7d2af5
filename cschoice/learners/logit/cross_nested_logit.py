"""The cross-nested logit: kinds of objects are divided between nests by estimated shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners.learner import Arrays
from cschoice.learners.logit.clusters import Clusters
from cschoice.learners.logit.layout import Values, sums_by_item
from cschoice.learners.logit.multinomial import fit_linear
from cschoice.learners.logit.nested_likelihood import OUTSIDE, NestedModel, NestedObjects
from cschoice.learners.logit.optimization import Bounds, Vector
from cschoice.learners.logit.softmax import log_softmax
from cschoice.seeding import seed_for
from cschoice.space import Dimension, Integer, Limit, Optional, Several, Whole
from cschoice.tasks import ChoiceTasks

_LEAST = 1e-3  # a share: at zero the likelihood has no slope


class CrossNestedLogit(NestedModel):
    """Nested logit in which each kind of object belongs to several nests, to each by a share.

    Kinds are the values of the feature ``kind_feature``, such as the number of an alternative;
    without it, the ``n_kinds`` k-means clusters of all training objects. ``nest_features`` are
    one feature per nest, not zero where an object may be in it; without them every kind may be in
    all of ``n_nests`` nests. None of these features is a part of the utility. The shares of a kind
    sum to one. The likelihood may have several maxima; the seed determines the start of the search.
    """

    name = "cnl"
    limits: ClassVar[Mapping[str, Limit]] = {
        **NestedModel.limits,
        "n_kinds": Whole(1, 1000),
        "kind_feature": Optional(Whole(0)),
        "nest_features": Optional(Several(Whole(0))),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {
        **NestedModel.search_space,
        "n_kinds": Integer(2, 20),
    }

    shares_: Vector  # of each kind in all its nests but the last
    centers_: NDArray[np.float64]  # of clusters, or the values of ``kind_feature``
    deviation_: Vector
    allowed_: NDArray[np.bool_]  # (nests, kinds)

    def __init__(
        self,
        n_nests: int = 3,
        l2: float = 1e-5,
        n_kinds: int = 6,
        kind_feature: int | None = None,
        nest_features: Sequence[int] | None = None,
        max_dissimilarity: float = 1.0,
    ) -> None:
        self.n_nests = n_nests
        self.l2 = l2
        self.n_kinds = n_kinds
        self.kind_feature = kind_feature
        self.nest_features = nest_features
        self.max_dissimilarity = max_dissimilarity

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        self._learn_kinds(tasks, seed)
        data = self._data(tasks)
        penalty = self.l2 * self._penalty_weights(data.layout)
        n_nests, n_free = len(self.allowed_), len(self._free[0])
        rng = np.random.default_rng(seed_for(seed, "shares"))
        start = {
            "coefficients_": fit_linear(data.layout, penalty[: data.layout.n_features]),
            # Dissimilarities of one would make the shares irrelevant.
            "dissimilarities_": np.full(n_nests, 0.7),
            "shares_": 0.5 * rng.normal(size=n_free),  # logarithms of ratios to the last share
        }
        scales = len(tasks) * np.append(np.full(n_nests, 0.25), np.full(n_free, 0.05))
        reach = np.full(n_free, np.log(1 / _LEAST - 1))
        low, high = (bound[: len(bound) - n_free] for bound in self._bounds())
        found = self._search(
            data,
            start,
            scales,
            objective=lambda at: self._by_ratios(data, at),
            bounds=(np.append(low, -reach), np.append(high, reach)),
        )
        found = self._with_shares(found)
        self._take(found, -float(self._loss(data, found)[0]))

    def _learn_kinds(self, tasks: ChoiceTasks, seed: int) -> None:
        """Learn the kinds of objects, and the nests in which each may be."""
        wrong = [number for number in self._without() if number >= tasks.n_features]
        if wrong:
            allowed = f"0 to {tasks.n_features - 1}"
            raise InvalidParameter(f"features of kinds and nests must be {allowed}, got {wrong[0]}")
        if self.kind_feature is None:
            clusters = Clusters.learn(self._own(tasks), self.n_kinds, seed)
            self.centers_, self.deviation_ = clusters.centers, clusters.deviation
        else:
            labels = np.unique(tasks.features[:, self.kind_feature]).astype(np.float64)
            self.centers_, self.deviation_ = labels[:, None], np.ones(1)
        kinds = self._kinds(tasks)[tasks.items]
        if self.nest_features is None:
            self.allowed_ = np.ones((self.n_nests, len(self.centers_)), dtype=bool)
            return
        inside = tasks.features[:, list(self.nest_features)] != 0
        self.allowed_ = np.zeros((inside.shape[1], len(self.centers_)), dtype=bool)
        np.logical_or.at(self.allowed_.T, kinds, inside)
        lost = np.flatnonzero(~self.allowed_.any(axis=0))
        if len(lost):
            raise InvalidTasks([f"kind {lost[0]} is in no nest"])

    def _without(self) -> list[int]:
        """Return the features that are no part of the utility."""
        kind = [] if self.kind_feature is None else [self.kind_feature]
        return [*kind, *(self.nest_features or ())]

    def _own(self, tasks: ChoiceTasks) -> ChoiceTasks:
        """Return the tasks with the features of the utility alone."""
        table = np.delete(tasks.table, self._without(), axis=1)
        return tasks.with_arrays(table=table, encoding=None)

    def _kinds(self, tasks: ChoiceTasks) -> NDArray[np.int64]:
        """Return the kind of each item."""
        if self.kind_feature is None:
            return Clusters(self.centers_, self.deviation_).assign(self._own(tasks).table)
        given, labels = tasks.table[:, self.kind_feature], self.centers_[:, 0]
        kinds = np.minimum(np.searchsorted(labels, given), len(labels) - 1)
        unknown = np.setdiff1d(given[tasks.items], labels)
        if len(unknown):
            known = ", ".join(f"{label:g}" for label in labels)
            raise InvalidTasks([f"kind {unknown[0]:g} was not seen in training, known: {known}"])
        return kinds

    @property
    def _free(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return nests and kinds of the shares that are parameters: all but a kind's last one."""
        kinds, nests = np.nonzero((self.allowed_ & (self._last != self._numbers)).T)
        return nests, kinds

    @property
    def _numbers(self) -> NDArray[np.int64]:
        return np.arange(len(self.allowed_))[:, None]

    @property
    def _last(self) -> NDArray[np.int64]:
        """Return the last nest of each kind, whose share is the rest of the others'."""
        last: NDArray[np.int64] = len(self.allowed_) - 1 - self.allowed_[::-1].argmax(axis=0)
        return last

    def _matrix(self, shares: Values) -> Values:
        """Return the shares of all kinds in all nests, (nests, kinds); NaN where none is left."""
        matrix = np.zeros(self.allowed_.shape, dtype=shares.dtype)
        matrix[self._free] = shares
        matrix[self._last, np.arange(len(self._last))] = 1 - matrix.sum(axis=0)
        matrix[self.allowed_ & (matrix.real <= 0)] = np.nan
        return matrix

    def _with_shares(self, at: Vector) -> Vector:
        """Return parameters whose shares were given as logarithms of ratios to the last."""
        parts = self._split(at)
        ratios = np.full(self.allowed_.shape, OUTSIDE)
        ratios[self._last, np.arange(len(self._last))] = 0.0
        ratios[self._free] = parts["shares_"]
        parts["shares_"] = np.exp(log_softmax(ratios))[self._free]
        return np.concatenate(list(parts.values()))

    def _by_ratios(self, data: NestedObjects, at: Vector) -> tuple[float, Vector]:
        """Return the penalized loss and its gradient by logarithms of ratios of shares."""
        inside = self._with_shares(at)
        loss, gradient = self._penalized(data, self.penalty(data))(inside)
        parts, shares = self._split(gradient), self._split(inside)["shares_"]
        kinds = self._free[1]
        pulls = shares * parts["shares_"]
        means = np.bincount(kinds, pulls, minlength=self.allowed_.shape[1])
        parts["shares_"] = pulls - shares * means[kinds]
        return loss, np.concatenate(list(parts.values()))

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> NestedObjects:
        layout = NestedObjects.layout_of(self._own(tasks), len(self.allowed_), learning)
        return NestedObjects(layout, kinds=self._kinds(tasks)[tasks.items[layout.order]])

    def _bounds(self) -> Bounds:
        low, high = super()._bounds()
        self._split(low)["shares_"][:], self._split(high)["shares_"][:] = _LEAST, 1 - _LEAST
        return low, high

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {
            "coefficients_": (self.n_features_in_ - len(self._without()),),
            "dissimilarities_": (len(self.allowed_),),
            "shares_": (len(self._free[0]),),
        }

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        return np.append(by_feature, np.full(len(self.allowed_) + len(self._free[0]), other))

    def _names(self, features: Sequence[str]) -> list[str]:
        own = [name for number, name in enumerate(features) if number not in self._without()]
        return [
            *own,
            *(f"dissimilarity of nest {nest}" for nest in range(1, len(self.allowed_) + 1)),
            *(
                f"share of kind {kind + 1} in nest {nest + 1}"
                for nest, kind in zip(*self._free, strict=True)
            ),
        ]

    def _functions(self, data: NestedObjects, parts: dict[str, Values]) -> Values:
        matrix = self._matrix(parts["shares_"])
        logs = np.full(matrix.shape, OUTSIDE, dtype=matrix.dtype)
        logs[self.allowed_] = np.log(matrix[self.allowed_])
        values: Values = logs[:, data.kinds]
        return values

    def _log_shares(self, functions: Values) -> Values:
        return functions

    def _by_functions(self, log_shares: Values, residuals: Values, total: Values) -> Values:  # noqa: ARG002
        return residuals

    def _function_gradients(
        self, data: NestedObjects, parts: dict[str, Values], residuals: Values
    ) -> list[Values]:
        assert data.kinds is not None
        sums = sums_by_item(residuals, data.kinds, self.allowed_.shape[1])
        return [self._by_shares(sums, parts["shares_"])]

    def _function_scores(
        self, data: NestedObjects, parts: dict[str, Values], residuals: Values
    ) -> list[Values]:
        n_kinds = self.allowed_.shape[1]
        sums = [data.sums_by_task(residuals * (data.kinds == kind)) for kind in range(n_kinds)]
        return [self._by_shares(np.stack(sums, axis=2), parts["shares_"])]

    def _by_shares(self, sums: Values, shares: Values) -> Values:
        """Return derivatives by shares from those by their logarithms, (..., nests, kinds)."""
        by_share = sums / np.where(self.allowed_, self._matrix(shares), 1.0)
        nests, kinds = self._free
        derivatives: Values = by_share[..., nests, kinds] - by_share[..., self._last[kinds], kinds]
        return derivatives

    def _state(self) -> Arrays:
        own = {"centers_": self.centers_, "deviation_": self.deviation_, "allowed_": self.allowed_}
        return {**super()._state(), **own}
