"""The simulated likelihood of people whose coefficients are random, with its gradient.

A person draws coefficients once and chooses by them in all tasks: the probability of what the
person chose is the mean over draws of the product over tasks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.panel import Panel, PeopleBlock

_SAFE_EXPONENT = 600.0  # sums of exponentials do not overflow below it


@dataclass(frozen=True)
class Tastes:
    """Which coefficients are random, how, and the draws behind them."""

    random: NDArray[np.int64]  # features
    distributions: tuple[str, ...]
    draws: NDArray[np.float64]  # (people, random, draws), or (1, …) if people share them

    def of_people(self, people: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the draws of some people."""
        return self.draws if len(self.draws) == 1 else self.draws[people]

    def values(self, arguments: Values) -> tuple[Values, Values]:
        """Return coefficients and their slopes, given mean + spread · z; (people, random, …)."""
        if set(self.distributions) == {"normal"}:
            return arguments, np.ones((1, 1, 1))
        values, slopes = np.empty_like(arguments), np.empty_like(arguments)
        for k, name in enumerate(self.distributions):
            kind = DISTRIBUTIONS[name]
            values[:, k] = kind.value(arguments[:, k])
            slopes[:, k] = kind.slope(arguments[:, k], values[:, k])
        return values, slopes


@dataclass(frozen=True)
class PanelSimulation:
    """The data of the likelihood."""

    panel: Panel
    tastes: Tastes

    @property
    def layout(self) -> TaskLayout:
        """Return the layout of the tasks."""
        return self.panel.layout


def people_terms(
    data: PanelSimulation, means: Values, spreads: Values
) -> tuple[Values, Values, Values]:
    """Return each person's log-likelihood and its gradients by means and spreads.

    ``spreads`` is a lower triangular matrix, (random, random); so is the gradient of each person.
    """
    dtype = np.result_type(means, spreads)
    n_random = len(data.tastes.random)
    logs = np.empty(data.panel.n_people, dtype=dtype)
    by_mean = np.empty((len(logs), len(means)), dtype=dtype)
    by_spread = np.empty((len(logs), n_random, n_random), dtype=dtype)
    for block in data.panel.blocks:
        draws = data.tastes.of_people(block.people)
        _, slopes, residuals, shares, log = _block(data.tastes, block, means, spreads)
        logs[block.people] = log
        x_random = block.differences[:, :, data.tastes.random]
        residuals *= -shares[:, None]
        by_argument = x_random.swapaxes(1, 2) @ residuals
        by_argument *= slopes
        by_mean[block.people] = (residuals.sum(axis=2)[:, None] @ block.differences)[:, 0]
        by_mean[np.ix_(block.people, data.tastes.random)] = by_argument.sum(axis=2)
        by_spread[block.people] = by_argument @ draws.swapaxes(1, 2)
    if data.panel.weights is not None:
        logs *= data.panel.weights
        by_mean *= data.panel.weights[:, None]
        by_spread *= data.panel.weights[:, None, None]
    return logs, by_mean, by_spread


def posteriors(
    data: PanelSimulation, means: Values, spreads: Values
) -> Iterator[tuple[NDArray[np.int64], Values, Values]]:
    """Yield people, their random coefficients (people, random, draws) and each draw's share."""
    for block in data.panel.blocks:
        coefficients, _, _, shares, _ = _block(data.tastes, block, means, spreads)
        wide = np.broadcast_to(coefficients, (len(block.people), *coefficients.shape[1:]))
        yield block.people, wide, shares


def _block(
    tastes: Tastes, block: PeopleBlock, means: Values, spreads: Values
) -> tuple[Values, Values, Values, Values, Values]:
    """Return coefficients, slopes, probabilities of other objects, shares of draws, and logs."""
    draws = tastes.of_people(block.people)
    arguments = means[tastes.random][:, None] + spreads @ draws
    coefficients, slopes = tastes.values(arguments)
    fixed = means.copy()
    fixed[tastes.random] = 0.0
    utilities = block.differences[:, :, tastes.random] @ coefficients
    utilities += (block.differences @ fixed)[:, :, None]
    if block.absent is not None:
        utilities[block.absent] = -np.inf
    by_task = block.by_task(utilities)
    top = None
    if utilities.real.max() > _SAFE_EXPONENT:
        top = np.maximum(by_task.real.max(axis=2), 0.0)
        by_task -= top[:, :, None]
    np.exp(utilities, out=utilities)
    totals = by_task.sum(axis=2)
    totals += 1.0 if top is None else np.exp(-top)
    by_task /= totals[:, :, None]
    log_products = -np.log(totals).sum(axis=1)
    if top is not None:
        log_products -= top.sum(axis=1)
    highest = log_products.real.max(axis=1, keepdims=True)
    shares = np.exp(log_products - highest)
    sums = shares.sum(axis=1, keepdims=True)
    shares /= sums
    logs = (np.log(sums / shares.shape[1]) + highest)[:, 0]
    return coefficients, slopes, utilities, shares, logs
