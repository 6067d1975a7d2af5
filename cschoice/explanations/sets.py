"""Sets like those of the data with an object left out, or with other features."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.ragged import starts_of

Entries = NDArray[np.int64]
Values = NDArray[np.float64]

_AT_ONCE = 200_000  # objects


@dataclass(frozen=True)
class SameSize:
    """The tasks with one number of objects: their numbers, and their entries as a matrix."""

    numbers: Entries  # (tasks,)
    entries: Entries  # (tasks, objects)

    @property
    def n_objects(self) -> int:
        """The number of objects of each of these tasks."""
        return int(self.entries.shape[1])


def by_size(tasks: ChoiceTasks, smallest: int = 1) -> Iterator[SameSize]:
    """Yield the tasks of each size, the smallest first."""
    for size in np.unique(tasks.sizes[tasks.sizes >= smallest]):
        numbers = np.flatnonzero(tasks.sizes == size)
        yield SameSize(numbers, tasks.offsets[numbers][:, None] + np.arange(size))


def of_entries(tasks: ChoiceTasks, entries: Entries) -> ChoiceTasks:
    """Return sets of these entries of the tasks, one set per row; nothing is known to be chosen."""
    n_sets, n_objects = entries.shape
    return tasks.with_arrays(
        items=tasks.items[entries.ravel()],
        offsets=starts_of(np.full(n_sets, n_objects)),
        chosen=np.zeros(entries.size, dtype=bool),
        groups=None,
        weights=None,
    )


def of_features(tasks: ChoiceTasks, features: NDArray[np.floating]) -> ChoiceTasks:
    """Return sets of objects with these features, (sets, objects, features)."""
    n_sets, n_objects, n_features = features.shape
    return tasks.with_arrays(
        table=features.reshape(-1, n_features),
        items=np.arange(n_sets * n_objects),
        offsets=starts_of(np.full(n_sets, n_objects)),
        chosen=np.zeros(n_sets * n_objects, dtype=bool),
        groups=None,
        weights=None,
    )


def utilities(learner: Learner, tasks: ChoiceTasks) -> Values:
    """Return the utility of every entry, with a bounded number of objects at once."""
    parts = [tasks] if tasks.n_entries <= _AT_ONCE else tasks.pieces(_AT_ONCE)
    return np.concatenate([np.float64(learner.precise_utilities(part)) for part in parts])


def utilities_of(learner: Learner, tasks: ChoiceTasks, entries: Entries) -> Values:
    """Return the utilities in sets of these entries, in the shape of the entries.

    Sets that occur several times are evaluated once.
    """
    flat = entries.reshape(-1, entries.shape[-1])
    distinct, which = np.unique(flat, axis=0, return_inverse=True)
    found = utilities(learner, of_entries(tasks, distinct)).reshape(distinct.shape)
    return found[which.ravel()].reshape(entries.shape)


def utilities_with(learner: Learner, tasks: ChoiceTasks, features: NDArray[np.floating]) -> Values:
    """Return the utilities of objects with these features, (…, objects, features)."""
    flat = features.reshape(-1, *features.shape[-2:])
    return utilities(learner, of_features(tasks, flat)).reshape(features.shape[:-1])


def without_each(entries: Entries) -> Entries:
    """Return each set without each of its objects, (sets, left out, the others).

    >>> without_each(np.array([[4, 5, 6]])).tolist()
    [[[5, 6], [4, 6], [4, 5]]]
    """
    n_objects = entries.shape[1]
    kept = np.array([[k for k in range(n_objects) if k != out] for out in range(n_objects)])
    return entries[:, kept]


def subsets(n: int, size: int) -> NDArray[np.int64]:
    """Return the subsets of 0, …, n − 1 of one size, one per row.

    >>> subsets(3, 2).tolist(), subsets(3, 0).shape
    ([[0, 1], [0, 2], [1, 2]], (1, 0))
    """
    found = list(combinations(range(n), size))
    return np.array(found, dtype=np.int64).reshape(len(found), size)


def sample(tasks: ChoiceTasks, n_entries: int, seed: int) -> Entries:
    """Return the numbers of tasks drawn at random, with about so many objects; at least one."""
    if tasks.n_entries <= n_entries:
        return np.arange(len(tasks))
    order = np.random.default_rng(seed).permutation(len(tasks))
    most = int(np.searchsorted(np.cumsum(tasks.sizes[order]), n_entries, side="right"))
    return np.sort(order[: max(1, most)])
