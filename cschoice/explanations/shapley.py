"""Shapley values: a fair division of a value among those who make it, exactly or by drawing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Game = Callable[[NDArray[np.bool_]], Values]  # coalitions (n, players) to their values (n,)

_EXACT = 10  # players: 1,024 coalitions
_DRAWS = 200  # orders of more players, each with its reverse


@dataclass(frozen=True)
class Shares:
    """The contribution of each player; they sum to the value of all minus that of none."""

    values: Values
    errors: Values  # standard errors; 0 where nothing was drawn

    @property
    def exact(self) -> bool:
        """Whether every coalition was looked at."""
        return not self.errors.any()


def shapley(game: Game, n: int, seed: int = 0, draws: int = _DRAWS) -> Shares:
    """Return the Shapley values of a game of n players.

    >>> glove = lambda some: np.minimum(some[:, 0], some[:, 1:].sum(1)).astype(float)
    >>> shapley(glove, 3).values.round(4).tolist()
    [0.6667, 0.1667, 0.1667]
    """
    if n == 0:
        return Shares(np.zeros(0), np.zeros(0))
    return _exact(game, n) if n <= _EXACT else _drawn(game, n, seed, draws)


def _exact(game: Game, n: int) -> Shares:
    """Average the contribution of a player over all coalitions of the others."""
    coalitions = (np.arange(2**n)[:, None] >> np.arange(n)) & 1 == 1
    values = game(coalitions)
    weights = np.array([factorial(s) * factorial(n - s - 1) / factorial(n) for s in range(n)])
    sizes = coalitions.sum(1)
    shares = np.empty(n)
    for player in range(n):
        without = np.flatnonzero(~coalitions[:, player])
        added = values[without + (1 << player)] - values[without]
        shares[player] = weights[sizes[without]] @ added
    return Shares(shares, np.zeros(n))


def _drawn(game: Game, n: int, seed: int, draws: int) -> Shares:
    """Average the contribution of a player over random orders; each order sums exactly."""
    rng = np.random.default_rng(seed)
    orders = np.argsort(rng.random((draws, n)), axis=1)
    ranks = np.argsort(np.concatenate([orders, orders[:, ::-1]]), axis=1)
    # The first k of an order, k = 0, …, n.
    coalitions = ranks[:, None, :] < np.arange(n + 1)[:, None]
    values = game(coalitions.reshape(-1, n)).reshape(len(ranks), n + 1)
    added = np.take_along_axis(np.diff(values, axis=1), ranks, axis=1)
    paired = (added[:draws] + added[draws:]) / 2
    return Shares(paired.mean(0), np.asarray(paired.std(0, ddof=1) / np.sqrt(draws)))
