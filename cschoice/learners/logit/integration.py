"""Points and weights that replace an integral over independent normal coefficients by a sum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from cschoice.errors import InvalidParameter

_DROPPED = 100  # first points of a Halton sequence: they are correlated across dimensions
_REACH = 8.0  # standard deviations; all but 1e-15 of the normal distribution
_POOL_VALUES = 8_000_000  # normal numbers that are kept; beyond, tasks share them


@dataclass(frozen=True)
class Draws:
    """Sets of standard normal points, one for each task or, if those are too many, for a few."""

    points: NDArray[np.float64]  # (n_sets, n_random + 1, n_draws), the last row constant one
    log_weights: NDArray[np.float64]  # (n_draws,)
    own: bool  # whether each task has its own set

    def sets(self, number: int, tasks: slice) -> NDArray[np.float64]:
        """Return the sets of some tasks, or the one they share; ``number`` is that of the block.

        Sharing by blocks costs little accuracy and makes one large product of many small ones.
        """
        first = number % len(self.points)
        return self.points[tasks] if self.own else self.points[first : first + 1]

    def fewer(self, n_draws: int) -> Draws:
        """Return the first draws of each set, equally weighted."""
        return Draws(self.points[:, :, :n_draws], np.full(n_draws, -np.log(n_draws)), self.own)

    def mirrored(self, signs: NDArray[np.float64]) -> Draws:
        """Return the draws with the given sign in each dimension."""
        if (signs > 0).all():
            return self
        points = self.points * np.append(signs, 1.0)[:, None]
        return Draws(points, self.log_weights, self.own)


def make_draws(method: str, n_tasks: int, n_random: int, n_draws: int, seed: int) -> Draws:
    """Return draws for so many tasks: ``sobol`` (scrambled), ``halton`` or ``quadrature``.

    Different tasks get different draws, so that errors of simulation average out. Quadrature is
    the trapezoidal rule in one dimension: for smooth functions under the normal density its
    error falls exponentially, and faster than that of Gauss's rule where choices are almost
    certain (its nodes are closer to each other).
    """
    if n_draws < 1:
        raise InvalidParameter(f"n_draws must be 1 or larger, got {n_draws}")
    n_sets = max(1, min(n_tasks, _POOL_VALUES // max(1, n_random * n_draws)))
    if method == "quadrature":
        if n_random != 1:
            only = "quadrature integrates exactly one random coefficient"
            raise InvalidParameter(f"{only}, got {n_random}: name it in random_features")
        nodes = np.linspace(-_REACH, _REACH, n_draws) if n_draws > 1 else np.zeros(1)
        log_weights = -(nodes**2) / 2
        log_weights -= np.log(np.exp(log_weights).sum())
        return Draws(np.stack([nodes, np.ones(n_draws)])[None], log_weights, own=False)
    if method not in _SEQUENCES:
        allowed = "sobol, halton or quadrature"
        raise InvalidParameter(f"integration must be {allowed}, got {method!r}")
    # The constant makes means one more column of the product that scales the draws.
    points = np.ones((n_sets, n_random + 1, n_draws))
    rows = _SEQUENCES[method](n_sets * n_draws, n_random, seed)
    for dimension, row in enumerate(rows):
        points[:, dimension] = ndtri(row).reshape(n_sets, n_draws)
    return Draws(points, np.full(n_draws, -np.log(n_draws)), own=n_sets >= n_tasks)


def _sobol(n_points: int, n_dimensions: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield each dimension of a scrambled Sobol sequence."""
    engine = qmc.Sobol(n_dimensions, scramble=True, rng=np.random.default_rng(seed))
    points = engine.random_base2(int(np.ceil(np.log2(n_points))))[:n_points]
    # A point may round to zero, whose normal quantile is infinite.
    return (np.clip(row, 1e-12, 1 - 1e-12) for row in points.T)


def _halton(n_points: int, n_dimensions: int, seed: int) -> Iterator[NDArray[np.float64]]:  # noqa: ARG001
    """Yield each dimension of a Halton sequence without its first points."""
    n_needed = n_points + _DROPPED
    for base in _primes(n_dimensions):
        sequence, weight = np.zeros(1), 1.0
        while len(sequence) < n_needed:
            weight /= base
            digits = np.arange(min(base, -(-n_needed // len(sequence))))[:, None]
            sequence = (sequence + weight * digits).ravel()
        yield sequence[_DROPPED:n_needed]


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes


_SEQUENCES = {"sobol": _sobol, "halton": _halton}
