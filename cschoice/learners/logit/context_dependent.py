"""The context-dependent utility model, also known as Halo: each rival helps or hurts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.context_factors import Pool
from cschoice.learners.logit.context_layout import Terms, sum_of_others
from cschoice.learners.logit.context_logit import ContextLogit
from cschoice.learners.logit.layout import Values
from cschoice.learners.logit.optimization import Vector
from cschoice.tasks import Kind


class ContextDependentLogit(ContextLogit):
    """u(x, S) = Σ_{y ∈ S∖x} U(x, y), with U affine in the features of both.

    Of Seshadri, Peysakhovich and Ugander (ICML 2019); not a learner of the paper. Written out, with
    all that is constant within a task left out, u = (θ + κ n + B Σ y)·x, where n is the number of
    other objects. Where the features are constants of alternatives, this is any matrix U of the
    effect of one alternative on another, and the same model as the Halo MNL of Yousefi Maragheh et
    al. (2018). With ``rank``, U(x, y) = t(x)·c(y) for affine t and c with so many values.

    Tasks of one size do not identify θ apart from κ, and constants of alternatives never all of
    B: ``cschoice estimate`` leaves out the parameters that add nothing to those before them.
    """

    name = "cdm"
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})

    context_: Vector  # B, (features, features)
    crowding_: Vector  # κ
    targets_: Vector  # of low rank, each row with the constant last
    contexts_: Vector

    @property
    def effective_rank(self) -> int | None:
        """The rank of U; None where it is not restricted."""
        return self.rank

    def _context(self, x: Values) -> Values:
        return np.concatenate([sum_of_others(x), x[-1:]])  # the last feature is one

    def _terms(self) -> Terms:
        n = self.n_features_in_
        own = np.arange(n)
        left = np.concatenate([own, np.repeat(own, n), own])
        right = np.concatenate([np.full(n, n + 1), np.tile(own, n), np.full(n, n)])
        return left, right

    def _pool(self) -> Pool:
        return sum_of_others

    def _places(self) -> dict[str, NDArray[np.int64]]:
        n, rank = self.n_features_in_ + 1, self.effective_rank or 0
        targets = n + np.arange(rank * n).reshape(rank, n)
        none = np.arange(0)  # θ is part of U
        return {"coefficients_": none, "targets_": targets, "contexts_": targets + rank * n}

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        n = self.n_features_in_
        if self.effective_rank is None:
            return {"coefficients_": (n,), "context_": (n, n), "crowding_": (n,)}
        return {name: places.shape for name, places in self._places().items()}

    def _names(self, features: Sequence[str]) -> list[str]:
        if self.effective_rank is None:
            pairs = [f"{a} × other {b}" for a in features for b in features]
            return [*features, *pairs, *(f"{a} × others" for a in features)]
        numbers = range(1, self.effective_rank + 1)
        parts = [*features, "constant"]
        return [
            f"{role} {k}: {a}" for role in ("target", "context") for k in numbers for a in parts
        ]
