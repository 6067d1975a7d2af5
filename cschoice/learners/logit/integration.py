"""Points and weights for integrals over independent normal coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import qmc

from cschoice.errors import InvalidParameter

_DROPPED = 100  # the first points of a Halton sequence are correlated across dimensions
_REACH = 8.0  # standard deviations; all but 1e-15 of the normal distribution
_POOL_VALUES = 8_000_000  # normal numbers in memory; tasks share sets of draws beyond


@dataclass(frozen=True)
class Draws:
    """Sets of standard normal points: one set per task, or shared ones where tasks are many."""

    points: NDArray[np.float64]  # (n_sets, n_random + 1, n_draws), the last row constant one
    log_weights: NDArray[np.float64]  # (n_draws,)
    per_task: bool  # whether each task has a set of its own

    def sets(self, number: int, tasks: slice) -> NDArray[np.float64]:
        """Return the sets of a block's tasks, or the one that all tasks of the block share.

        ``number`` is the number of the block. Sharing costs little accuracy and turns many small
        matrix products into a large one.
        """
        first = number % len(self.points)
        return self.points[tasks] if self.per_task else self.points[first : first + 1]

    def fewer(self, n_draws: int) -> Draws:
        """Return the first draws of each set, equally weighted."""
        return Draws(self.points[:, :, :n_draws], np.full(n_draws, -np.log(n_draws)), self.per_task)

    def mirrored(self, signs: NDArray[np.float64]) -> Draws:
        """Return the draws with the given sign in each dimension."""
        if (signs > 0).all():
            return self
        points = self.points * np.append(signs, 1.0)[:, None]
        return Draws(points, self.log_weights, self.per_task)


def make_draws(method: str, n_tasks: int, n_random: int, n_draws: int, seed: int) -> Draws:
    """Return the draws of ``n_tasks`` tasks: ``sobol`` (scrambled), ``halton`` or ``quadrature``.

    Each task has draws of its own, so that simulation errors average out over tasks. Quadrature
    is the trapezoidal rule in one dimension. Under the normal density its error falls
    exponentially with the number of nodes, and faster than that of Gauss–Hermite quadrature
    where choices are almost certain, because the nodes lie closer together.
    """
    n_sets = max(1, min(n_tasks, _POOL_VALUES // max(1, n_random * n_draws)))
    if method == "quadrature":
        if n_random != 1:
            only = "quadrature integrates exactly one random coefficient"
            raise InvalidParameter(f"{only}, got {n_random}: name it in random_features")
        nodes = np.linspace(-_REACH, _REACH, n_draws) if n_draws > 1 else np.zeros(1)
        log_weights = -(nodes**2) / 2
        log_weights -= np.log(np.exp(log_weights).sum())
        return Draws(np.stack([nodes, np.ones(n_draws)])[None], log_weights, per_task=False)
    # The last row, of ones, turns the means into one more term of the product with the draws.
    points = np.ones((n_sets, n_random + 1, n_draws))
    sequence = uniform_points(method, n_sets, n_random, n_draws, seed)
    for dimension in range(n_random):
        points[:, dimension] = ndtri(sequence[:, :, dimension])
    return Draws(points, np.full(n_draws, -np.log(n_draws)), per_task=n_sets >= n_tasks)


def uniform_points(
    method: str, n_sets: int, n_random: int, n_draws: int, seed: int
) -> NDArray[np.float64]:
    """Return sets of points between zero and one, (n_sets, n_draws, n_random).

    ``mlhs`` (modified Latin hypercube) puts one point into each of ``n_draws`` equal intervals, in
    every set and dimension; the others continue one sequence from set to set.
    """
    if method == "mlhs":
        rng = np.random.default_rng(seed)
        shifts = rng.random((n_sets, 1, n_random))
        places = np.broadcast_to(np.arange(n_draws)[:, None], (n_sets, n_draws, n_random))
        return np.asarray((rng.permuted(places, axis=1) + shifts) / n_draws)
    return _SEQUENCES[method](n_sets * n_draws, n_random, seed).reshape(n_sets, n_draws, n_random)


def _sobol(n_points: int, n_dimensions: int, seed: int) -> NDArray[np.float64]:
    """Return points of a scrambled Sobol sequence, (n_points, n_dimensions)."""
    engine = qmc.Sobol(n_dimensions, scramble=True, rng=np.random.default_rng(seed))
    points = engine.random_base2(int(np.ceil(np.log2(n_points))))[:n_points]
    # A point may round to zero, whose normal quantile is infinite.
    return np.asarray(np.clip(points, 1e-12, 1 - 1e-12))


def _halton(n_points: int, n_dimensions: int, seed: int) -> NDArray[np.float64]:  # noqa: ARG001
    """Return points of a Halton sequence, (n_points, n_dimensions)."""
    engine = qmc.Halton(n_dimensions, scramble=False).fast_forward(_DROPPED)
    return np.asarray(engine.random(n_points))


_SEQUENCES = {"sobol": _sobol, "halton": _halton}
