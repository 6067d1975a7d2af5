"""Clusters of objects: the nests of objects without a fixed identity."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from cschoice.seeding import seed_for
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.scaling import is_constant

_SAMPLE = 20_000  # objects; enough to place a handful of centers
_DISTANCES_AT_ONCE = 4_000_000


class Clusters:
    """The k-means clusters of standardized objects; any object can be assigned to one."""

    def __init__(self, centers: NDArray[np.float64], deviation: NDArray[np.float64]) -> None:
        self.centers, self.deviation = centers, deviation

    @classmethod
    def learn(cls, tasks: ChoiceTasks, n_clusters: int, seed: int) -> Clusters:
        """Return the clusters of all objects of the tasks, each counted once.

        With fewer distinct objects than clusters, some clusters stay empty.
        """
        rng = np.random.default_rng(seed_for(seed, "clusters"))
        items = np.unique(tasks.items)
        if len(items) > _SAMPLE:
            items = rng.choice(items, _SAMPLE, replace=False)
        objects = tasks.table[items].astype(np.float64)
        deviation = objects.std(axis=0)
        deviation[is_constant(deviation, objects.mean(axis=0))] = 1.0
        n_clusters = min(n_clusters, len(objects))
        means = KMeans(n_clusters, n_init=3, random_state=int(rng.integers(2**31)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of equal objects
            means.fit(objects / deviation)
        return cls(means.cluster_centers_, deviation)

    def assign(self, table: NDArray[np.float32]) -> NDArray[np.int64]:
        """Return the number of the nearest center of each row."""
        step = max(1, _DISTANCES_AT_ONCE // len(self.centers))
        lengths = (self.centers**2).sum(axis=1) / 2
        parts = [
            np.argmin(lengths - (table[start : start + step] / self.deviation) @ self.centers.T, 1)
            for start in range(0, len(table), step)
        ]
        return np.concatenate(parts)
