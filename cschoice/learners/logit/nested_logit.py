"""The nested logit and the generalized nested logit: how objects belong to nests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners.learner import Arrays
from cschoice.learners.logit.clusters import Clusters
from cschoice.learners.logit.layout import Values
from cschoice.learners.logit.multinomial import fit_linear
from cschoice.learners.logit.nested_likelihood import OUTSIDE, NestedModel, NestedObjects
from cschoice.learners.logit.optimization import Vector
from cschoice.learners.logit.softmax import log_softmax
from cschoice.seeding import seed_for
from cschoice.space import Limit, OneOf, Optional, Whole
from cschoice.tasks import ChoiceTasks

_ACCURACY, _STEPS = 1e-8, 500  # looser than elsewhere: the generalized model has flat valleys


class NestedLogit(NestedModel):
    """Nested logit whose nests are clusters of the objects, or given by a feature.

    Objects have no fixed identity, so nests are the k-means clusters of all training objects.
    If nests are known, ``nest_feature`` is the index of the feature that holds the number of the
    nest; that feature is then no part of the utility. ``nest_utility="centre"`` adds to the utility
    of all objects of a nest a linear function of its centre, as the code released with the paper
    does.
    """

    name = "nl"
    limits: ClassVar[Mapping[str, Limit]] = {
        **NestedModel.limits,
        "nest_feature": Optional(Whole(0)),
        "nest_utility": OneOf(("none", "centre")),
    }

    def __init__(
        self,
        n_nests: int = 5,
        l2: float = 1e-5,
        nest_feature: int | None = None,
        nest_utility: str = "none",
        max_dissimilarity: float = 1.0,
    ) -> None:
        self.n_nests = n_nests
        self.l2 = l2
        self.nest_feature = nest_feature
        self.nest_utility = nest_utility
        self.max_dissimilarity = max_dissimilarity

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        if self.nest_feature is None:
            clusters = Clusters.learn(tasks, self.n_nests, seed)
            self.centers_, self.deviation_ = clusters.centers, clusters.deviation
        else:
            if self._has_nest_utility:
                raise InvalidParameter(
                    "nest_utility 'centre' is for nests that are clusters: leave out nest_feature"
                )
            if self.nest_feature >= tasks.n_features:
                allowed = f"0 to {tasks.n_features - 1}"
                raise InvalidParameter(f"nest_feature must be {allowed}, got {self.nest_feature}")
            self.centers_ = np.unique(tasks.features[:, self.nest_feature]).astype(np.float64)[
                :, None
            ]
            self.deviation_ = np.ones(1)
        data = self._data(tasks)
        penalty = self.l2 * self._penalty_weights(data.layout)
        start = {
            "coefficients_": fit_linear(data.layout, penalty[: data.layout.n_features]),
            "dissimilarities_": np.ones(len(self.centers_)),
        }
        scales = np.full(len(self.centers_), len(tasks) / 4)
        if self._has_nest_utility:
            start["nest_coefficients_"] = np.zeros(tasks.n_features)
            scales = np.append(scales, len(tasks) / 4 * self.deviation_**2)
        self._optimize(data, start, scales)

    @property
    def _has_nest_utility(self) -> bool:
        return self.nest_utility == "centre"

    @property
    def _centres(self) -> Vector:
        """Return the centres of the nests in the units of the features, (nests, features)."""
        return self.centers_ * self.deviation_

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> NestedObjects:
        if self.nest_feature is None:
            nests = Clusters(self.centers_, self.deviation_).assign(tasks.table)
        else:
            nests = self._given_nests(tasks)
            table = np.delete(tasks.table, self.nest_feature, axis=1)
            tasks = tasks.with_arrays(table=table, encoding=None)
        layout = NestedObjects.layout_of(tasks, len(self.centers_), learning)
        inside = nests[tasks.items[layout.order]] == np.arange(len(self.centers_))[:, None]
        return NestedObjects(layout, np.where(inside, 0.0, OUTSIDE))

    def _given_nests(self, tasks: ChoiceTasks) -> NDArray[np.int64]:
        labels, given = self.centers_[:, 0], tasks.table[:, self.nest_feature]
        nests = np.minimum(np.searchsorted(labels, given), len(labels) - 1)
        unknown = np.setdiff1d(given[tasks.items], labels)
        if len(unknown):
            known = ", ".join(f"{label:g}" for label in labels)
            raise InvalidTasks([f"nest {unknown[0]:g} was not seen in training, known: {known}"])
        return nests

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        n_features = self.n_features_in_ - (self.nest_feature is not None)
        shapes = {"coefficients_": (n_features,), "dissimilarities_": (len(self.centers_),)}
        return {**shapes, "nest_coefficients_": (n_features,)} if self._has_nest_utility else shapes

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        values = [by_feature, np.full(len(self.centers_), other)]
        return np.concatenate([*values, by_feature] if self._has_nest_utility else values)

    def _names(self, features: Sequence[str]) -> list[str]:
        own = [name for number, name in enumerate(features) if number != self.nest_feature]
        given = self.nest_feature is not None
        labels = self.centers_[:, 0] if given else np.arange(1, len(self.centers_) + 1)
        of_nests = [f"nest: {name}" for name in own] if self._has_nest_utility else []
        return [*own, *(f"dissimilarity of nest {label:g}" for label in labels), *of_nests]

    def _functions(self, data: NestedObjects, parts: dict[str, Values]) -> Values:
        assert data.log_shares is not None
        if not self._has_nest_utility:
            return data.log_shares
        # The power of a sum of shares brings the utility of the nest to the front of its chance.
        of_nests: Values = self._centres @ parts["nest_coefficients_"]
        return data.log_shares + of_nests[:, None]

    def _log_shares(self, functions: Values) -> Values:
        return functions

    def _by_functions(self, log_shares: Values, residuals: Values, total: Values) -> Values:  # noqa: ARG002
        return residuals

    def _function_gradients(
        self,
        data: NestedObjects,  # noqa: ARG002
        parts: dict[str, Values],  # noqa: ARG002
        residuals: Values,
    ) -> list[Values]:
        return [residuals.sum(axis=1) @ self._centres] if self._has_nest_utility else []

    def _function_scores(
        self,
        data: NestedObjects,
        parts: dict[str, Values],  # noqa: ARG002
        residuals: Values,
    ) -> list[Values]:
        if not self._has_nest_utility:
            return []
        return [data.sums_by_task(residuals) @ self._centres]

    def _state(self) -> Arrays:
        return {**super()._state(), "centers_": self.centers_, "deviation_": self.deviation_}


class GeneralizedNestedLogit(NestedModel):
    """Nested logit in which each object belongs to every nest by a learned share.

    The shares are a softmax of linear functions, with constants, of the object minus the mean
    object, so that they do not depend on the origin of a feature. The function of the last nest,
    the reference, is zero. The likelihood has several maxima; the seed determines the start of
    the search.
    """

    name = "gnl"

    allocation_: Vector
    allocation_intercept_: Vector
    center_: Vector

    def __init__(self, n_nests: int = 5, l2: float = 1e-5, max_dissimilarity: float = 1.0) -> None:
        self.n_nests = n_nests
        self.l2 = l2
        self.max_dissimilarity = max_dissimilarity

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        data = self._data(tasks)
        self.center_, deviation = data.layout.moments()
        rng = np.random.default_rng(seed_for(seed, "allocation"))
        directions = rng.normal(size=(self.n_nests - 1, len(deviation))) / np.sqrt(len(deviation))
        start = {
            "coefficients_": fit_linear(data.layout, self.l2 * deviation**2),
            # Dissimilarities of one would make the shares irrelevant.
            "dissimilarities_": np.full(self.n_nests, 0.7),
            "allocation_": directions / deviation,
            "allocation_intercept_": np.zeros(self.n_nests - 1),
        }
        curved = np.ones((self.n_nests - 1, len(deviation))) * deviation**2
        scales = np.concatenate(
            [np.full(self.n_nests, 0.25), curved.ravel() / 20, np.full(self.n_nests - 1, 0.05)]
        )
        self._optimize(data, start, len(tasks) * scales, accuracy=_ACCURACY, max_steps=_STEPS)

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> NestedObjects:
        return NestedObjects(NestedObjects.layout_of(tasks, self.n_nests, learning))

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {
            "coefficients_": (self.n_features_in_,),
            "dissimilarities_": (self.n_nests,),
            "allocation_": (self.n_nests - 1, self.n_features_in_),
            "allocation_intercept_": (self.n_nests - 1,),
        }

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        n_free = self.n_nests - 1
        others = np.full(self.n_nests, other)
        return np.concatenate([by_feature, others, np.tile(by_feature, n_free), others[:-1]])

    def _names(self, features: Sequence[str]) -> list[str]:
        nests = range(1, self.n_nests + 1)
        allocations = [f"share of nest {nest}: {name}" for nest in nests[:-1] for name in features]
        constants = [f"share of nest {nest}: constant" for nest in nests[:-1]]
        dissimilarities = [f"dissimilarity of nest {nest}" for nest in nests]
        return [*features, *dissimilarities, *allocations, *constants]

    def _functions(self, data: NestedObjects, parts: dict[str, Values]) -> Values:
        constants = parts["allocation_intercept_"] - parts["allocation_"] @ self.center_
        return data.layout.linear(parts["allocation_"]) + constants[:, None]

    def _log_shares(self, functions: Values) -> Values:
        reference = np.zeros_like(functions, shape=(1, *functions.shape[1:]))
        return log_softmax(np.concatenate([functions, reference]))

    def _by_functions(self, log_shares: Values, residuals: Values, total: Values) -> Values:
        derivatives: Values = residuals[:-1] - np.exp(log_shares[:-1]) * total
        return derivatives

    def _function_gradients(
        self,
        data: NestedObjects,
        parts: dict[str, Values],  # noqa: ARG002
        residuals: Values,
    ) -> list[Values]:
        totals = residuals.sum(axis=1)
        by_allocation = data.layout.transposed(residuals) - totals[:, None] * self.center_
        return [by_allocation.ravel(), totals]

    def _function_scores(
        self,
        data: NestedObjects,
        parts: dict[str, Values],  # noqa: ARG002
        residuals: Values,
    ) -> list[Values]:
        totals = data.sums_by_task(residuals)
        by_allocation = [
            data.layout.by_task(residual) - totals[:, nest, None] * self.center_
            for nest, residual in enumerate(residuals)
        ]
        return [*by_allocation, totals]

    def _state(self) -> Arrays:
        return {**super()._state(), "center_": self.center_}
