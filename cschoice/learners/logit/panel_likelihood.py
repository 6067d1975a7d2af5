"""The simulated likelihood of people whose coefficients are random, with its gradient.

A person draws coefficients once and chooses by them in all tasks: the probability of what the
person chose is the mean over draws of the product over tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.optimization import Vector
from cschoice.learners.logit.panel import Panel, PeopleBlock

_SAFE_EXPONENT = 600.0  # sums of exponentials do not overflow below it


@dataclass(frozen=True)
class Tastes:
    """Which coefficients are random, how, and the draws behind them."""

    random: NDArray[np.int64]  # features
    distributions: tuple[str, ...]
    draws: NDArray[np.float64]  # (people, random, draws), or (1, …) if people share them
    money: int | None = None  # the feature of which other coefficients are amounts

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
        made = _block(data.tastes, block, means, spreads)
        logs[block.people] = made.logs
        x_random = block.differences[:, :, data.tastes.random]
        residuals = made.chances
        residuals *= -made.shares[:, None]
        by_price = None
        if made.scale is not None and made.worth is not None:
            by_price = -(residuals * made.worth).sum(axis=1)
            residuals *= made.scale[:, None]
        by_argument = x_random.swapaxes(1, 2) @ residuals
        by_mean[block.people] = (residuals.sum(axis=2)[:, None] @ block.differences)[:, 0]
        if by_price is not None:
            by_mean[block.people, data.tastes.money] = by_price.sum(axis=1)
            by_argument[:, data.tastes.random == data.tastes.money] = by_price[:, None]
        by_argument *= made.slopes
        by_mean[np.ix_(block.people, data.tastes.random)] = by_argument.sum(axis=2)
        by_spread[block.people] = by_argument @ draws.swapaxes(1, 2)
    if data.panel.weights is not None:
        logs *= data.panel.weights
        by_mean *= data.panel.weights[:, None]
        by_spread *= data.panel.weights[:, None, None]
    return logs, by_mean, by_spread


def people_hessian(
    data: PanelSimulation, means: Vector, spreads: Vector, parameters: Sequence[tuple[int, int]]
) -> Vector:
    """Return the exact Hessian of the log-likelihood.

    A parameter is a feature and a number: 0 for its mean, k + 1 for its coefficient of the k-th
    draw. As arguments are linear in them, a Hessian by arguments in each draw is enough: it is
    summed over draws once with each product of two draws.
    """
    n_features, n_factors = len(means), len(data.tastes.random) + 1
    first, second = np.triu_indices(n_features)
    sums = np.zeros((len(first), n_factors * n_factors))
    scores = np.zeros((len(parameters), len(parameters)))
    features, factors = np.array(parameters).T
    for block in data.panel.blocks:
        by_pair, by_argument = _by_arguments(data.tastes, block, means, spreads, first, second)
        draws = data.tastes.of_people(block.people)
        wide = np.ones((len(block.people), n_factors, by_pair.shape[2]))
        wide[:, 1:] = draws
        weights = np.ones(len(block.people))
        if data.panel.weights is not None:
            weights = data.panel.weights[block.people]
            by_pair *= weights[:, None, None]
        products = (wide[:, :, None] * wide[:, None]).reshape(len(wide), n_factors**2, -1)
        sums += (by_pair @ products.swapaxes(1, 2)).sum(axis=0)
        score = (by_argument @ wide.swapaxes(1, 2))[:, features, factors]
        scores += (weights[:, None] * score).T @ score
    by_feature = np.empty((n_features, n_features, n_factors, n_factors))
    by_feature[first, second] = by_feature[second, first] = sums.reshape(-1, n_factors, n_factors)
    summed = by_feature[features[:, None], features, factors[:, None], factors]
    return np.asarray(summed - scores)


def _by_arguments(
    tastes: Tastes,
    block: PeopleBlock,
    means: Vector,
    spreads: Vector,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> tuple[Vector, Vector]:
    """Return second derivatives by pairs of arguments and gradients, weighted by draws' shares.

    The second derivatives include the products of the gradients of a draw.
    """
    made = _block(tastes, block, means, spreads)
    slopes, chances, shares = made.slopes, made.chances, made.shares
    x = block.differences
    n_people, _, n_features = x.shape
    per_task = block.n_tasks * n_people
    by_task = x.reshape(per_task, -1, n_features).swapaxes(1, 2)
    mean = by_task @ chances.reshape(per_task, -1, chances.shape[2])
    mean = mean.reshape(n_people, block.n_tasks, n_features, -1)
    total = mean.sum(axis=1)
    moved = np.ones_like(total)
    moved[:, tastes.random] = slopes
    squares = (x[:, :, first] * x[:, :, second]).swapaxes(1, 2) @ chances
    by_argument = -total * moved
    by_pair = np.empty_like(squares)
    for place, (one, other) in enumerate(zip(first, second, strict=True)):
        covered = np.einsum("ptr,ptr->pr", mean[:, :, one], mean[:, :, other])
        curved = (covered - squares[:, place]) * moved[:, one] * moved[:, other]
        by_pair[:, place] = curved + by_argument[:, one] * by_argument[:, other]
    diagonal = {int(one): place for place, one in enumerate(first) if one == second[place]}
    for k, (feature, name) in enumerate(zip(tastes.random, tastes.distributions, strict=True)):
        bend = DISTRIBUTIONS[name].bend(made.coefficients[:, k])
        by_pair[:, diagonal[int(feature)]] -= bend * total[:, feature]
    by_pair *= shares[:, None]
    by_argument *= shares[:, None]
    return by_pair, by_argument


def posteriors(
    data: PanelSimulation, means: Values, spreads: Values
) -> Iterator[tuple[NDArray[np.int64], Values, Values]]:
    """Yield people, their random coefficients (people, random, draws) and each draw's share."""
    for block in data.panel.blocks:
        made = _block(data.tastes, block, means, spreads)
        shape = (len(block.people), *made.coefficients.shape[1:])
        yield block.people, np.broadcast_to(made.coefficients, shape), made.shares


@dataclass(frozen=True)
class _Drawn:
    """The choices of a block's people under each of their draws: chances and derivatives."""

    coefficients: Values  # (people, random, draws)
    slopes: Values
    chances: Values  # of other objects, (people, places, draws)
    shares: Values  # of draws, (people, draws)
    logs: Values  # of people
    scale: Values | None = None  # minus the coefficient of money, (people, draws)
    worth: Values | None = None  # utilities in units of money, (people, places, draws)


def _block(tastes: Tastes, block: PeopleBlock, means: Values, spreads: Values) -> _Drawn:
    """Return the chances of a block's choices under each of their people's draws."""
    draws = tastes.of_people(block.people)
    arguments = means[tastes.random][:, None] + spreads @ draws
    coefficients, slopes = tastes.values(arguments)
    scale = worth = None
    if tastes.money is None:
        utilities = _utilities(tastes, block, means, coefficients)
    else:
        of_money = tastes.random == tastes.money
        price = coefficients[:, of_money][:, 0] if of_money.any() else means[[[tastes.money]]]
        scale = -price
        # Amounts are paid by money, one for one: its own coefficient is outside the brackets.
        inside, fixed = np.where(of_money[:, None], -1.0, coefficients), means.copy()
        fixed[tastes.money] = -1.0
        worth = _utilities(tastes, block, fixed, inside)
        utilities = worth * scale[:, None]
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
    return _Drawn(coefficients, slopes, utilities, shares, logs, scale, worth)


def _utilities(tastes: Tastes, block: PeopleBlock, means: Values, coefficients: Values) -> Values:
    """Return linear utilities with some coefficients random, (people, places, draws)."""
    fixed = means.copy()
    fixed[tastes.random] = 0.0
    utilities: Values = block.differences[:, :, tastes.random] @ coefficients
    utilities += (block.differences @ fixed)[:, :, None]
    return utilities
