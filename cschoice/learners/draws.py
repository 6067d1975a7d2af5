"""Points and weights that replace an integral over independent normal coefficients by a sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri  # noqa: TID253 - loaded on demand
from scipy.stats import qmc  # noqa: TID253

from cschoice.errors import InvalidParameter

_DROPPED = 100  # first points of a Halton sequence: they are correlated across dimensions
_REACH = 8.0  # standard deviations; all but 1e-15 of the normal distribution
_POOL_VALUES = 8_000_000  # normal numbers that are kept; beyond, tasks take turns


@dataclass(frozen=True)
class Draws:
    """Sets of standard normal points; task n is integrated with set n modulo their number."""

    points: NDArray[np.float64]  # (n_sets, n_random + 1, n_draws), the last row constant one
    log_weights: NDArray[np.float64]  # (n_draws,)

    def sets(self, first: int, n_tasks: int) -> NDArray[np.float64]:
        """Return the points of consecutive tasks; a single set is not repeated."""
        n_sets = len(self.points)
        if n_sets == 1:
            return self.points
        start = first % n_sets
        if start + n_tasks <= n_sets:
            return self.points[start : start + n_tasks]
        return self.points[(first + np.arange(n_tasks)) % n_sets]

    def fewer(self, n_draws: int) -> Draws:
        """Return the first draws of each set, equally weighted."""
        return Draws(self.points[:, :, :n_draws], np.full(n_draws, -np.log(n_draws)))

    def mirrored(self, signs: NDArray[np.float64]) -> Draws:
        """Return the draws with the given sign in each dimension."""
        if (signs > 0).all():
            return self
        return Draws(self.points * np.append(signs, 1.0)[:, None], self.log_weights)


def make_draws(method: str, n_tasks: int, n_random: int, n_draws: int, seed: int) -> Draws:
    """Return draws for so many tasks: ``sobol`` (scrambled), ``halton`` or ``quadrature``.

    Different tasks get different draws, so that errors of simulation average out. Quadrature is
    the trapezoidal rule in one dimension: for smooth functions under the normal density its
    error falls exponentially, and faster than that of Gauss's rule where choices are almost
    certain (its nodes are closer to each other).
    """
    if n_draws < 1:
        raise InvalidParameter(f"n_draws must be 1 or larger, got {n_draws}")
    equal = np.full(n_draws, -np.log(n_draws))
    n_sets = max(1, min(n_tasks, _POOL_VALUES // max(1, n_random * n_draws)))
    if method == "quadrature":
        if n_random != 1:
            only = "quadrature integrates exactly one random coefficient"
            raise InvalidParameter(f"{only}, got {n_random}: name it in random_features")
        nodes = np.linspace(-_REACH, _REACH, n_draws) if n_draws > 1 else np.zeros(1)
        log_weights = -(nodes**2) / 2
        log_weights -= np.log(np.exp(log_weights).sum())
        return Draws(_with_ones(nodes[None, None]), log_weights)
    if method == "halton":
        uniform = _halton(n_sets * n_draws, n_random)
    elif method == "sobol":
        engine = qmc.Sobol(n_random, scramble=True, rng=np.random.default_rng(seed))
        uniform = engine.random_base2(int(np.ceil(np.log2(n_sets * n_draws))))
        # Scrambled points may round to zero, whose normal quantile is infinite.
        uniform = np.clip(uniform[: n_sets * n_draws].T, 1e-12, 1 - 1e-12)
    else:
        allowed = "sobol, halton or quadrature"
        raise InvalidParameter(f"integration must be {allowed}, got {method!r}")
    points = ndtri(uniform).reshape(n_random, n_sets, n_draws)
    return Draws(_with_ones(points.transpose(1, 0, 2)), equal)


def _with_ones(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Append a constant to each set: means then are one more column of the same product."""
    n_sets, n_random, n_draws = points.shape
    extended = np.ones((n_sets, n_random + 1, n_draws))
    extended[:, :-1] = points
    return extended


def _halton(n_points: int, n_dimensions: int) -> NDArray[np.float64]:
    """Return a Halton sequence without its first points, (n_dimensions, n_points)."""
    n_needed = n_points + _DROPPED
    rows = np.empty((n_dimensions, n_points))
    for row, base in zip(rows, _primes(n_dimensions), strict=True):
        sequence, weight = np.zeros(1), 1.0
        while len(sequence) < n_needed:
            weight /= base
            digits = np.arange(min(base, -(-n_needed // len(sequence))))[:, None]
            sequence = (sequence + weight * digits).ravel()
        row[:] = sequence[_DROPPED:n_needed]
    return rows


def _primes(count: int) -> list[int]:
    primes: list[int] = []
    candidate = 2
    while len(primes) < count:
        if all(candidate % prime for prime in primes):
            primes.append(candidate)
        candidate += 1
    return primes
