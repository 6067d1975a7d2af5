"""The likelihoods of mixed logit models, with their gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.integration import Draws
from cschoice.learners.logit.layout import Block, TaskLayout, Values
from cschoice.learners.logit.softmax import log_softmax, log_sum
from cschoice.tasks import ChoiceTasks

_BLOCK_VALUES = 65_536  # utilities of a block: half a megabyte fits into the cache
_SAFE_EXPONENT = 600.0  # sums of exponentials do not overflow below it


@dataclass(frozen=True)
class Simulation:
    """The data of a simulated likelihood: the layout of the tasks, and their draws."""

    layout: TaskLayout
    random: NDArray[np.int64]  # indices of the features with random coefficients
    draws: Draws

    @classmethod
    def of(cls, tasks: ChoiceTasks, random: NDArray[np.int64], draws: Draws) -> Simulation:
        """Return tasks and draws with blocks that leave room in the cache for every draw."""
        size = _BLOCK_VALUES // draws.points.shape[2]
        return cls(TaskLayout(tasks, chosen_first=True, block_entries=size), random, draws)

    def differences(self, block: Block) -> NDArray[np.float64]:
        """Return the differences of other objects to the chosen one, (tasks, others, features)."""
        x = self.layout.features(block)
        return np.ascontiguousarray((x[:, 1:] - x[:, :1]).transpose(2, 1, 0))


def normal_scores(data: Simulation, means: Values, deviations: Values) -> tuple[Values, Values]:
    """Return each task's log-likelihood and its gradient by means and deviations.

    In one draw the chosen object has probability 1 / (1 + sum of exp U), where U are the
    utilities of the other objects minus its own; the probability of the task is the weighted
    mean over draws.
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
        top = _subtract_maximum(utilities)
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
    if data.layout.weights is not None:
        logs *= data.layout.weights
        scores *= data.layout.weights[:, None]
    return logs, scores


def _product(left: Values, right: Values) -> Values:
    """Return the products of two stacks of matrices; the right one may hold a single matrix."""
    if len(right) > 1:
        stacked: Values = left @ right
        return stacked
    product: Values = left.reshape(-1, left.shape[2]) @ right[0]
    return product.reshape(*left.shape[:2], -1)


def _subtract_maximum(utilities: Values) -> NDArray[np.float64]:
    """Subtract each task's maximum where exp() could overflow; return the numbers subtracted.

    Utilities are differences to the chosen object, whose own is zero: sums of exponentials are at
    least one, so that ordinary cases need no subtraction.
    """
    if utilities.real.max() < _SAFE_EXPONENT:
        return np.zeros((1, 1))
    top: NDArray[np.float64] = np.maximum(utilities.real.max(axis=1), 0.0)
    utilities -= top[:, None]
    return top


def shared_normal_loss(
    data: Simulation, means: Values, deviations: Values
) -> tuple[Any, Values, Values]:
    """Return the negative log-likelihood with draws that all tasks share, and its gradients.

    The model is then a mixture of as many logit models as draws, with tied coefficients. With
    many features this is an order of magnitude less work.
    """
    points = data.draws.points[0, :-1].T
    coefficients = _coefficients(data.random, points, means, deviations)
    loss, by_draw = discrete_loss(data.layout, coefficients, data.draws.log_weights)
    return loss, by_draw.sum(axis=0), (by_draw[:, data.random] * points).sum(axis=0)


def discrete_loss(
    layout: TaskLayout, coefficients: Values, log_weights: NDArray[np.float64]
) -> tuple[Any, Values]:
    """Return the negative log-likelihood of a finite mixture of logit models, with its gradient."""
    losses: list[Any] = []

    def to_residuals(block: Block, utilities: Values) -> None:
        counted = layout.weights_of(block)
        losses.append(_discrete_residuals(utilities, log_weights, counted))

    gradient = layout.gradient(coefficients, to_residuals)
    return sum(losses), gradient


def discrete_scores(
    layout: TaskLayout, coefficients: Values, log_weights: NDArray[np.float64]
) -> Values:
    """Return the gradient of each task's log-likelihood, (n_tasks, components × features)."""
    residuals = layout.linear(coefficients)
    for block in layout.blocks:
        _discrete_residuals(block.view(residuals), log_weights, layout.weights_of(block))
    return -np.concatenate([layout.by_task(row) for row in residuals], axis=1)


def _discrete_residuals(utilities: Values, log_weights: Values, counted: Values | float) -> Any:
    """Return the loss of a block whose tasks count so much; turn utilities into derivatives."""
    logs = log_softmax(utilities, axis=1)
    joint = logs[:, 0] + log_weights[:, None]
    sums = log_sum(joint, axis=0)
    posterior = np.exp(joint - sums) * counted
    np.exp(logs, out=utilities)
    utilities *= posterior[:, None]
    utilities[:, 0] -= posterior
    return -(sums * counted).sum()


def normal_log_probabilities(
    layout: TaskLayout, random: NDArray[np.int64], draws: Draws, means: Values, deviations: Values
) -> Values:
    """Return the log-probability of each object with normal coefficients, in the layout's order."""
    points = draws.points[0, :-1].T
    coefficients = _coefficients(random, points, means, deviations)
    return discrete_log_probabilities(layout, coefficients, draws.log_weights)


def discrete_log_probabilities(
    layout: TaskLayout, coefficients: Values, log_weights: NDArray[np.float64]
) -> Values:
    """Return the log-probability of each object under a mixture, in the layout's order."""
    results = np.empty(layout.n_entries)
    for run, _, views in layout.linear_runs(coefficients):
        logs = [log_softmax(view, axis=1) + log_weights[:, None, None] for _, view in views]
        results[run] = np.concatenate([log_sum(part, axis=0).ravel() for part in logs])
    return results


def _coefficients(
    random: NDArray[np.int64], points: Values, means: Values, deviations: Values
) -> Values:
    """Return the coefficients of each draw, (draws, features)."""
    coefficients = np.tile(means, (len(points), 1)).astype(np.result_type(means, deviations))
    coefficients[:, random] += points * deviations
    return coefficients
