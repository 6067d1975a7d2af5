"""Nested logit: alternatives in one nest are closer substitutes than the others.

Both models are one formula. An object j belongs to nest k with share a(k, j); the dissimilarity
l(k) in (0, 1] says how far the nest's objects differ in what the model does not see:

    P(j | k) is proportional to (a(k, j) exp U(j)) ** (1 / l(k)),
    P(k) to the sum of those over j, to the power l(k),      P(j) = sum over k of P(k) P(j | k).

In the nested logit the shares are 0 or 1, in the generalized one a softmax of the features.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners.base import Arrays
from cschoice.learners.clusters import cluster, nearest
from cschoice.learners.layout import Block, TaskLayout, Values
from cschoice.learners.likelihood import LogitLearner, Vector, log_softmax, minimize
from cschoice.learners.mnl import fit_linear, loss_terms
from cschoice.space import Dimension, Integer, Real
from cschoice.tasks import ChoiceTasks, Kind

_OUTSIDE = -1e9  # the logarithm of no share at all; finite, so that 0 times it is 0
_SMALLEST = 0.01  # of a dissimilarity: utilities are divided by it


class _Nested(LogitLearner):
    """What the two nested models share: the formula, its gradient, and the fit."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})

    n_nests: int
    coefficients_: Vector
    dissimilarities_: Vector

    def _log_shares(self, layout: TaskLayout, allocation: dict[str, Values]) -> Values:
        """Return the logarithm of each object's share in each nest, (nests, entries)."""
        raise NotImplementedError

    def _pull_shares(
        self, layout: TaskLayout, residuals: Values, log_shares: Values
    ) -> list[Values]:
        """Return the gradients of the parameters of the shares, flat."""
        raise NotImplementedError

    def _loss(self, data: TaskLayout, parameters: Values) -> tuple[Any, Values]:
        parts = self._split(parameters)
        lambdas = parts["dissimilarities_"]
        utilities = data.values(parts["coefficients_"])
        log_shares = self._log_shares(data, parts)
        residuals = np.empty((len(lambdas), data.n_entries), dtype=parameters.dtype)
        loss: Any = 0.0
        slopes = np.zeros_like(lambdas)
        for block in data.blocks:
            part, slope = _nested_terms(block, utilities, log_shares, lambdas, residuals)
            loss, slopes = loss + part, slopes + slope
        gradients = [data.pull(residuals.sum(axis=0)), slopes]
        return loss, np.concatenate(gradients + self._pull_shares(data, residuals, log_shares))

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        layout = self._data(tasks, learning=False)
        parts = {name: getattr(self, name) for name in self._shapes()}
        utilities = layout.values(self.coefficients_)
        log_shares = self._log_shares(layout, parts)
        for block in layout.blocks:
            within, nests = _log_shares_of(block, utilities, log_shares, self.dissimilarities_)
            block.view(utilities)[:] = _log_sum(within + nests[:, None])
        restored: NDArray[np.float64] = layout.restore(utilities)
        return restored
