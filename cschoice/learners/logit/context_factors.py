"""Context of low rank: factors of an object as a target, times factors of the others as context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cschoice.learners.logit.layout import Block, TaskLayout, Values
from cschoice.learners.logit.softmax import log_softmax, softplus
from cschoice.tasks import Kind

Pool = Callable[[Values], Values]  # symmetric, along the objects of tasks


@dataclass(frozen=True)
class Factors:
    """Tasks, and how linear functions of objects become utilities.

    u = own + Σ_r target_r · pool(context_r), where all three are linear functions of the layout's
    features: the rows of one matrix, first ``own``, then targets, then contexts.
    """

    layout: TaskLayout
    pool: Pool
    rank: int

    def utilities(self, matrix: Values) -> Values:
        """Return the utility of each place of the layout."""
        values = np.empty(self.layout.n_entries, dtype=matrix.dtype)
        for _, _, views in self.layout.linear_runs(matrix):
            for block, view in views:
                block.view(values)[:] = self._parts(view)[0]
        return values

    def loss_gradient(self, matrix: Values) -> tuple[Any, Values]:
        """Return the negative log-likelihood and its gradient by the matrix."""
        losses: list[Any] = []

        def to_residuals(block: Block, view: Values) -> None:
            losses.append(self._to_residuals(block, view))

        gradient = self.layout.gradient(matrix, to_residuals)
        return sum(losses), gradient

    def scores(self, matrix: Values) -> Values:
        """Return the gradient of each task's log-likelihood, (n_tasks, rows, features)."""
        residuals = self.layout.linear(matrix)
        for block in self.layout.blocks:
            self._to_residuals(block, block.view(residuals))
        return -np.stack([self.layout.by_task(row) for row in residuals], axis=1)

    def _parts(self, view: Values) -> tuple[Values, Values, Values]:
        """Return utilities, targets and pooled contexts of a block."""
        targets = view[1 : 1 + self.rank]
        pooled = self.pool(view[1 + self.rank :])
        return view[0] + (targets * pooled).sum(axis=0), targets, pooled

    def _to_residuals(self, block: Block, view: Values) -> Any:
        """Replace linear functions by the derivative of the loss by each; return the loss."""
        utilities, targets, pooled = self._parts(view)
        loss, residuals = _loss(self.layout, block, utilities)
        view[1 + self.rank :] = self.pool(residuals * targets)
        view[1 : 1 + self.rank] = residuals * pooled
        view[0] = residuals
        return loss


def _loss(layout: TaskLayout, block: Block, utilities: Values) -> tuple[Any, Values]:
    """Return the negative log-likelihood of a block and its derivative by each utility."""
    weights = layout.weights_of(block)
    if layout.kind is Kind.SUBSET:
        signs = np.where(block.view(layout.chosen), -1.0, 1.0)
        margins = signs * utilities
        return (weights * softplus(margins)).sum(), weights * signs * np.exp(-softplus(-margins))
    logs = log_softmax(utilities)
    residuals = np.exp(logs)
    residuals[0] -= 1.0
    return -(weights * logs[0]).sum(), weights * residuals
