"""The medoid problem: choose the most central object (section sub:dgp:medoid)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.generated.random_points import BitGenerator, fill_uniform
from cschoice.datasets.generated.synthetic import Chosen, Points, SyntheticPoints
from cschoice.errors import InvalidParameter
from cschoice.tasks import Kind


@dataclass(frozen=True, kw_only=True)
class Medoid(SyntheticPoints):
    """Points uniform in the unit cube; the one nearest to all others is chosen."""

    kind: ClassVar[Kind] = Kind.SINGLETON

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_objects == 2 or (self.n_features == 1 and self.n_objects % 2 == 0):
            raise InvalidParameter(
                "the medoid must be unique, but two objects always tie with 2 objects, and with "
                f"1 feature and an even number of them; got n_objects={self.n_objects}, "
                f"n_features={self.n_features}: use an odd n_objects"
            )

    def _draw(self, bits: BitGenerator, points: Points) -> Chosen:
        fill_uniform(bits, points)
        return medoids(points)


def medoids(points: Points) -> Chosen:
    """Mark the medoid of each task: the smallest sum of Euclidean distances.

    In float32, and again in float64 for the few tasks where rounding could decide.
    """
    n_objects, n_features, n_tasks = points.shape
    sums = distance_sums(points)
    smallest = sums.min(axis=0)
    rounding = np.float32((n_objects + n_features) * 2.0**-23)
    near: Chosen = sums <= smallest + smallest * rounding
    if np.count_nonzero(near) > n_tasks:
        unclear = np.flatnonzero(near.sum(axis=0) > 1)
        exact = distance_sums(points[..., unclear].astype(np.float64))
        near[:, unclear] = np.arange(n_objects)[:, None] == exact.argmin(axis=0)
    return near


def distance_sums(points: NDArray[Any]) -> NDArray[Any]:
    """Sum the distances of each object to all others of its task, (objects, tasks).

    Objects are paired with those a fixed step further on: whole blocks of pairs at once, and
    each pair once.
    """
    n_objects, n_features, n_tasks = points.shape
    sums = np.zeros((n_objects, n_tasks), dtype=points.dtype)
    buffer = np.empty((max(1, n_objects - 1), n_features, n_tasks), dtype=points.dtype)
    for step in range(1, n_objects):
        differences = np.subtract(points[step:], points[:-step], out=buffer[: n_objects - step])
        np.square(differences, out=differences)
        distances = np.add.reduce(differences, axis=1)
        np.sqrt(distances, out=distances)
        sums[step:] += distances
        sums[:-step] += distances
    return sums
