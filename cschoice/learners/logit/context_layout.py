"""The layout of utilities that are linear in products of an object's features and its set's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.layout import Block, TaskLayout, Values
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.scaling import is_constant

_MOST_ENTRIES, _VALUES_IN_BLOCK = 16_384, 2_000_000
# From features (features, objects, tasks) to those of the context, (contexts, objects or 1, tasks).
Context = Callable[[Values], Values]
Terms = tuple[NDArray[np.int64], NDArray[np.int64]]


def mean_of_all(values: Values) -> Values:
    """Return the mean over the objects of each task, once per task."""
    mean: Values = values.mean(axis=-2, keepdims=True)
    return mean


def sum_of_others(values: Values) -> Values:
    """Return for each object the sum over the other objects of its task."""
    others: Values = values.sum(axis=-2, keepdims=True) - values
    return others


class ContextLayout(TaskLayout):
    """A layout whose feature t is feature ``terms[0][t]`` times context ``terms[1][t]``.

    The products are formed block by block for a Hessian, and never for values and gradients: those
    are sums over a matrix with one weight per product. The last feature of an object is one.
    """

    def __init__(
        self, tasks: ChoiceTasks, context: Context, terms: Terms, *, chosen_first: bool = False
    ) -> None:
        block_entries = min(_MOST_ENTRIES, max(64, _VALUES_IN_BLOCK // len(terms[0])))
        super().__init__(
            tasks, chosen_first=chosen_first, intercept=True, block_entries=block_entries
        )
        self.context, self.terms = context, terms
        self.n_features = len(terms[0])

    def features(self, block: Block) -> NDArray[np.float64]:
        """Return the products of a block's objects, (n_terms, size, n_tasks)."""
        x = super().features(block)
        left, right = self.terms
        products: NDArray[np.float64] = x[left] * self.context(x)[right]
        return products

    def linear(self, weights: Values) -> Values:
        """Return the linear function of each object's products."""
        values = np.empty(self.n_entries, dtype=weights.dtype)
        for block in self.blocks:
            x = super().features(block)
            block.view(values)[:] = self._weighed(weights, x, self.context(x))
        return values

    def transposed(self, residuals: Values) -> Values:
        """Return sums of products weighted by residuals: the transpose of ``linear``."""
        sums = np.zeros(self.n_features, dtype=residuals.dtype)
        for block in self.blocks:
            x = super().features(block)
            sums += _sums(x * block.view(residuals), self.context(x))[self.terms]
        return sums

    def by_task(self, residuals: Values) -> Values:
        """Return the sums of ``transposed`` task by task, (n_tasks, n_terms), as tasks come."""
        sums = np.empty((self.n_tasks, self.n_features), dtype=residuals.dtype)
        for block in self.blocks:
            part = np.einsum("tjn,jn->nt", self.features(block), block.view(residuals))
            sums[self.task_numbers[block.tasks]] = part
        return sums

    def gradient(self, weights: Values, to_residuals: Callable[[Block, Values], None]) -> Values:
        """Return ``transposed(residuals)`` with residuals computed from ``linear(weights)``."""
        sums = np.zeros(self.n_features, dtype=weights.dtype)
        for block in self.blocks:
            x = super().features(block)
            context = self.context(x)
            values = self._weighed(weights, x, context)
            to_residuals(block, values)
            sums += _sums(x * values, context)[self.terms]
        return sums

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation of each product; 1 for a constant product."""
        first, second = np.zeros(self.n_features), np.zeros(self.n_features)
        for block in self.blocks:
            x = super().features(block)
            context = self.context(x)
            first += _sums(x, context)[self.terms]
            second += _sums(x**2, context**2)[self.terms]
        mean = first / self.n_entries
        deviation = np.sqrt(np.maximum(second / self.n_entries - mean**2, 0.0))
        return mean, np.where(is_constant(deviation, mean), 1.0, deviation)

    def _weighed(self, weights: Values, x: Values, context: Values) -> Values:
        """Return the linear function of the objects of a block, (size, n_tasks)."""
        matrix = np.zeros((len(x), len(context)), dtype=weights.dtype)
        matrix[self.terms] = weights
        slopes = (matrix @ context.reshape(len(context), -1)).reshape(-1, *context.shape[1:])
        return np.asarray((x * slopes).sum(axis=0))


def _sums(weighted: Values, context: Values) -> Values:
    """Return for each feature and context the sum of their products over all objects."""
    if context.shape[1] == 1:
        weighted = weighted.sum(axis=1, keepdims=True)
    sums: Values = weighted.reshape(len(weighted), -1) @ context.reshape(len(context), -1).T
    return sums
