"""The likelihoods of mixed logit models, with their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.draws import Draws
from cschoice.learners.layout import Block, TaskLayout, Values
from cschoice.learners.likelihood import log_softmax, log_sum
from cschoice.tasks import ChoiceTasks

_BLOCK_VALUES = 65_536  # utilities at once: half a megabyte stays in the cache
_SAFE_EXPONENT = 600.0  # no sum of exponentials up to here overflows


@dataclass(frozen=True)
class Simulation:
    """What the likelihood with normal coefficients needs: objects, and draws for the tasks."""

    layout: TaskLayout
    random: NDArray[np.int64]  # the features with random coefficients
    draws: Draws

    @classmethod
    def of(cls, tasks: ChoiceTasks, random: NDArray[np.int64], draws: Draws) -> Simulation:
        """Lay the tasks out in blocks that leave room for one value per draw."""
        size = _BLOCK_VALUES // draws.points.shape[2]
        return cls(TaskLayout(tasks, chosen_first=True, block_entries=size), random, draws)

    def differences(self, block: Block) -> NDArray[np.float64]:
        """Return the others minus the chosen object, (tasks, others, features)."""
        x = self.layout.features(block)
        return np.ascontiguousarray((x[:, 1:] - x[:, :1]).transpose(2, 1, 0))


def normal_scores(data: Simulation, means: Values, deviations: Values) -> tuple[Values, Values]:
    """Return the log-likelihood of each task and its gradient by means and deviations.

    Per draw the chosen object has probability 1 / (1 + sum of exp U), where U are the utilities
    of the others minus its own; the task's probability is their weighted mean.
    """
    n_means = len(means)
    dtype = np.result_type(means, deviations)
    logs = np.zeros(data.layout.n_tasks, dtype=dtype)
    scores = np.zeros((len(logs), n_means + len(deviations)), dtype=dtype)
    weights = np.exp(data.draws.log_weights)
    for number, block in enumerate(data.layout.blocks):
        if block.size == 1:
            continue
        tasks = slice(block.first_task, block.first_task + block.n_tasks)
        points = data.draws.sets(number, tasks)
        x = data.differences(block)
        x_random = x[:, :, data.random]
        factors = np.concatenate([x_random * deviations, (x @ means)[:, :, None]], axis=2)
        utilities = _product(factors, points)
        top = _shift(utilities)
        np.exp(utilities, out=utilities)
        totals = utilities.sum(axis=1)
        totals += np.exp(-top)
        base = top.real.min(axis=1, keepdims=True)
        shares = weights * np.exp(base - top) / totals
        sums = shares.sum(axis=1, keepdims=True)
        logs[tasks] = (np.log(sums) - base)[:, 0]
        shares /= sums * totals
        utilities *= shares[:, None]
        moments = _product(utilities, points.swapaxes(1, 2))
        scores[tasks, :n_means] = -(moments[:, :, -1:] * x).sum(axis=1)
        scores[tasks, n_means:] = -(moments[:, :, :-1] * x_random).sum(axis=1)
    return logs, scores


def _product(left: Values, right: Values) -> Values:
    """Return the product of stacks of matrices; with a single one on the right, all at once."""
    if len(right) > 1:
        stacked: Values = left @ right
        return stacked
    product: Values = left.reshape(-1, left.shape[2]) @ right[0]
    return product.reshape(*left.shape[:2], -1)


def _shift(utilities: Values) -> NDArray[np.float64]:
    """Subtract, where exponentials might overflow, what prevents it; return what it was.

    The utilities are differences: the chosen object's own is zero. That bounds sums from below,
    so that in all ordinary cases nothing needs to be subtracted.
    """
    if utilities.real.max() < _SAFE_EXPONENT:
        return np.zeros((1, 1))
    top: NDArray[np.float64] = np.maximum(utilities.real.max(axis=1), 0.0)
    utilities -= top[:, None]
    return top


def normal_log_probabilities(
    layout: TaskLayout, random: NDArray[np.int64], draws: Draws, means: Values, deviations: Values
) -> Values:
    """Return the logarithm of each object's probability, in the order of the layout."""
    points = draws.points[0]
    coefficients = np.repeat(means[:, None], points.shape[1], axis=1)
    coefficients[random] += deviations[:, None] * points[:-1]
    values = np.empty(layout.n_entries)
    for block in layout.blocks:
        utilities = np.tensordot(coefficients, layout.features(block), axes=(0, 0))
        logs = log_softmax(utilities, axis=1) + draws.log_weights[:, None, None]
        block.view(values)[:] = log_sum(logs, axis=0)
    return values


def discrete_loss(layout: TaskLayout, coefficients: Values) -> tuple[Any, Values]:
    """Return the negative log-likelihood of equally probable logit models, and its gradient."""
    values = layout.values(coefficients)
    loss: Any = 0.0
    for _, utilities in layout.blocks_with(values):
        logs = log_softmax(utilities, axis=1)
        sums = log_sum(logs[:, 0], axis=0)
        loss -= (sums - np.log(len(coefficients))).sum()
        posterior = np.exp(logs[:, 0] - sums)
        np.exp(logs, out=utilities)
        utilities *= posterior[:, None]
        utilities[:, 0] -= posterior
    return loss, layout.pull(values)


def discrete_log_probabilities(layout: TaskLayout, coefficients: Values) -> Values:
    """Return the logarithm of each object's probability, in the order of the layout."""
    values = layout.values(coefficients)
    for _, utilities in layout.blocks_with(values):
        utilities[0] = log_sum(log_softmax(utilities, axis=1), axis=0)
    mean: Values = values[0] - np.log(len(coefficients))
    return mean
