"""Runs of entries of any length, and values laid over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTasks

Index = int | slice | NDArray[np.int64] | NDArray[np.bool_] | Sequence[int]


class Ragged:
    """Tasks as runs of entries: everything that follows from their offsets."""

    offsets: NDArray[np.int64]  # (n_tasks + 1,)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of objects of each task."""
        return np.diff(self.offsets)

    def numbers(self, index: Index) -> NDArray[np.int64]:
        """Turn a selection of tasks into their numbers, at least one."""
        if not isinstance(index, slice):
            index = np.atleast_1d(np.asarray(index, dtype=None if np.size(index) else np.int64))
            if index.ndim != 1:
                raise InvalidTasks([f"tasks are selected by a list, got shape {index.shape}"])
        numbers = np.arange(len(self))[index]
        if len(numbers) == 0:
            raise InvalidTasks(["no tasks: the selection is empty"])
        return np.asarray(numbers)

    def entries(self, index: Index) -> NDArray[np.int64]:
        """Return the entry numbers of the selected tasks, in the order of the selection."""
        numbers = self.numbers(index)
        sizes = self.sizes[numbers]
        starts = starts_of(sizes)
        return np.arange(starts[-1]) + np.repeat(self.offsets[numbers] - starts[:-1], sizes)

    def reduce(self, operation: np.ufunc, values: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
        """Combine the values of each task's entries into one value per task.

        >>> tasks = Ragged()
        >>> tasks.offsets = np.array([0, 2, 3])
        >>> tasks.reduce(np.add, np.array([2, 3, 4]))
        array([5, 4])
        """
        reduced: NDArray[Any] = operation.reduceat(values, self.offsets[:-1], dtype=dtype)
        return reduced

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Repeat one value per task for each of its entries."""
        return np.repeat(values, self.sizes)

    def descending(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the entry numbers, task by task, each task's largest value first.

        Tasks of one size are sorted as the rows of one matrix, an order of magnitude faster
        than one sort of everything by task and value.
        """
        order = np.empty(self.offsets[-1], dtype=np.int64)
        sizes = self.sizes
        for size in np.unique(sizes):
            rows = self.offsets[:-1][sizes == size][:, None] + np.arange(size)
            ranks = np.argsort(-values[rows], axis=1, kind="stable")
            order[rows] = np.take_along_axis(rows, ranks, axis=1)
        return order


def starts_of(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the offsets of runs of these lengths."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def cuts(offsets: NDArray[np.int64], n_entries: int) -> list[int]:
    """Return where to cut tasks into runs of about so many entries: first tasks, and the end.

    >>> cuts(np.array([0, 2, 7, 8, 17, 20, 23]), 6)
    [0, 2, 4, 5, 6]
    """
    starts = np.searchsorted(offsets[:-1], np.arange(0, offsets[-1], n_entries))
    return [int(start) for start in np.unique(np.append(starts, len(offsets) - 1))]
