"""A test of independence without a model: the same objects in different sets.

If the odds of two objects never depend on the rest of the set, two people who were offered both
could have exchanged them: all ways to exchange choices like that are equally likely, given how
often each object was chosen. The test compares the data with such exchanges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.tasks import ChoiceTasks, Kind

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_OBJECTS = 1000
_FEWEST_ROUNDS, _MOST_ROUNDS = 10, 100  # of exchanges between two samples
_LUCE_STEPS = 200


@dataclass(frozen=True)
class Offers:
    """Which objects were offered, object for object the same wherever they have the same features.

    ``objects`` and ``task_of`` have one value per entry, ``chosen`` one per task.
    """

    objects: Numbers
    task_of: Numbers
    chosen: Numbers
    n_objects: int

    @classmethod
    def of(cls, tasks: ChoiceTasks) -> Offers | None:
        """Return the offers of singleton tasks; None without objects that come back.

        A task of weight two is two tasks; other weights than whole ones have no exchanges.
        """
        if tasks.kind is not Kind.SINGLETON:
            return None
        if tasks.weights is not None:
            if not np.array_equal(tasks.weights, tasks.weights.round()):
                return None
            tasks = tasks[np.repeat(np.arange(len(tasks)), tasks.weights.astype(np.int64))]
        used, places = np.unique(tasks.items, return_inverse=True)
        kinds, codes = np.unique(tasks.table[used], axis=0, return_inverse=True)
        if len(kinds) > min(MOST_OBJECTS, tasks.n_entries // 2):
            return None
        objects = codes.reshape(-1)[places].astype(np.int64)
        task_of = tasks.spread(np.arange(len(tasks)))
        return cls(objects, task_of, objects[tasks.chosen], len(kinds))

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Whether each task offers each object, (tasks, objects)."""
        inside = np.zeros((len(self.chosen), self.n_objects), dtype=bool)
        inside[self.task_of, self.objects] = True
        return inside

    @property
    def _distinct(self) -> Floats:
        """The different sets, (sets, objects), ones and zeros."""
        packed = np.unique(np.packbits(self.inside, axis=1), axis=0)
        return np.unpackbits(packed, axis=1, count=self.n_objects).astype(np.float64)

    @property
    def n_sets(self) -> int:
        """The number of different sets."""
        return len(self._distinct)

    @property
    def n_movable_pairs(self) -> int:
        """The number of pairs of objects that come together in two different sets."""
        sets = self._distinct
        together = np.triu(sets.T @ sets, k=1)
        return int((together >= 2).sum())

    def beside(self, chosen: Numbers) -> Floats:
        """Return how often each object was chosen where each other one was offered, too."""
        pairs = chosen[self.task_of] * self.n_objects + self.objects
        counts = np.bincount(pairs, minlength=self.n_objects**2)
        return counts.reshape(self.n_objects, self.n_objects).astype(np.float64)

    def expected(self) -> Floats:
        """Return ``beside`` as it would be on average if each object had one worth in all sets."""
        wins = np.bincount(self.chosen, minlength=self.n_objects).astype(np.float64)
        worth = np.where(wins > 0, 1.0, 0.0)
        for _ in range(_LUCE_STEPS):
            per_task = 1 / np.bincount(self.task_of, worth[self.objects])
            offered = np.bincount(self.objects, per_task[self.task_of], self.n_objects)
            worth = np.where(wins > 0, wins / offered, 0.0)
            worth /= worth.mean()
        per_task = 1 / np.bincount(self.task_of, worth[self.objects])
        inside = self.inside
        return worth[:, None] * ((inside * per_task[:, None]).T @ inside)


@dataclass(frozen=True)
class Exchange:
    """The outcome of the test: a statistic, and how often exchanges gave one as large."""

    statistic: float
    p: float
    n_samples: int
    n_exchanged: float  # choices that changed from the data to a sample, on average


def exchange_test(
    offers: Offers,
    n_samples: int = 499,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Exchange:
    """Test whether the odds of objects depend on the rest of the set.

    The statistic is the sum over pairs of (observed − expected)² / expected of how often one was
    chosen beside the other. Samples come from a chain of exchanges that passes through the data at
    a random place, so that the p-value is exact however slowly the chain mixes (Besag, Clifford).
    """
    rng = np.random.default_rng(seed)
    expected, inside = offers.expected(), offers.inside
    counted = expected > 0
    np.fill_diagonal(counted, False)

    def statistic(chosen: Numbers) -> float:
        difference = (offers.beside(chosen) - expected)[counted]
        return float((difference**2 / expected[counted]).sum())

    observed = statistic(offers.chosen)
    rounds = int(np.clip(offers.n_objects - 1, _FEWEST_ROUNDS, _MOST_ROUNDS))
    n_before = int(rng.integers(n_samples + 1))
    as_large, changed, done = 0, 0.0, 0
    for length in (n_before, n_samples - n_before):
        chosen = offers.chosen
        for _ in range(length):
            for _ in range(rounds):
                chosen = _exchanged(chosen, inside, rng)
            as_large += statistic(chosen) >= observed * (1 - 1e-12)
            changed += float((chosen != offers.chosen).sum())
            done += 1
            if progress is not None:
                progress(done, n_samples)
    return Exchange(observed, (1 + as_large) / (1 + n_samples), n_samples, changed / n_samples)


def _exchanged(chosen: Numbers, inside: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    """Match objects in pairs, and shuffle the choices of tasks that chose one and offer both."""
    order = rng.permutation(inside.shape[1])
    half = len(order) // 2
    partner = np.arange(len(order))
    partner[order[:half]], partner[order[half : 2 * half]] = order[half : 2 * half], order[:half]
    other = partner[chosen]
    active = np.flatnonzero(inside[np.arange(len(chosen)), other] & (other != chosen))
    pair = np.minimum(chosen[active], other[active])
    places = active[np.argsort(pair, kind="stable")]
    shuffled = active[np.lexsort((rng.random(len(active)), pair))]
    result = chosen.copy()
    result[places] = chosen[shuffled]
    return result
