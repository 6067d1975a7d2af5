"""The linear context logit: the mean object of a set shifts the coefficients of its members."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.context_factors import Pool
from cschoice.learners.logit.context_layout import Terms, mean_of_all
from cschoice.learners.logit.context_logit import ContextLogit
from cschoice.learners.logit.layout import Values
from cschoice.learners.logit.optimization import Vector

_FULL_FEATURES, _RANK = 100, 8  # with more features, effects are of this rank unless one is given


class LinearContextLogit(ContextLogit):
    """u(x, S) = (θ + A x̄_S)·x, with x̄_S the mean of all objects of the set.

    Of Tomlinson and Benson (KDD 2021); not a learner of the paper. ``context_`` is A: how much one
    unit more of feature b, in the mean of the set, adds to the coefficient of feature a. θ and A
    are identified if the products of x̄_S (and a one) with the differences between an object and
    the mean have full rank over the tasks; ``standard_errors`` names the parameters that are not.
    With more than a hundred features A is of rank 8, unless ``rank`` says otherwise.
    """

    name = "lcl"

    context_: Vector  # A, (features, features)
    targets_: Vector  # of low rank: A is the transpose of these, times contexts_
    contexts_: Vector

    @property
    def effective_rank(self) -> int | None:
        """The rank of A; None where it is not restricted."""
        if self.rank is None and self.n_features_in_ > _FULL_FEATURES:
            return _RANK
        return self.rank

    @property
    def effects(self) -> Vector:
        """The matrix A, of any rank, (features, features)."""
        return self.context_ if self.effective_rank is None else self.targets_.T @ self.contexts_

    def _context(self, x: Values) -> Values:
        return mean_of_all(x)

    def _terms(self) -> Terms:
        n, own = self.n_features_in_, np.arange(self._n_own)
        left = np.concatenate([own, np.repeat(own, n)])
        right = np.concatenate([np.full(len(own), n), np.tile(np.arange(n), len(own))])
        return left, right

    def _pool(self) -> Pool:
        return mean_of_all

    def _places(self) -> dict[str, NDArray[np.int64]]:
        n, rank = self.n_features_in_, self.effective_rank or 0
        rows = (n + 1) * np.arange(1 + 2 * rank)[:, None]
        return {
            "coefficients_": np.arange(self._n_own),
            "targets_": rows[1 : 1 + rank] + np.arange(self._n_own),
            "contexts_": rows[1 + rank :] + np.arange(n),
        }

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        if self.effective_rank is None:
            return {"coefficients_": (self._n_own,), "context_": (self._n_own, self.n_features_in_)}
        return {name: places.shape for name, places in self._places().items()}

    def _names(self, features: Sequence[str]) -> list[str]:
        own = self._own_names(features)
        if self.effective_rank is None:
            return [*own, *(f"{a} × mean of {b}" for a in own for b in features)]
        numbers = range(1, self.effective_rank + 1)
        return [
            *own,
            *(f"target {k}: {a}" for k in numbers for a in own),
            *(f"context {k}: {b}" for k in numbers for b in features),
        ]
