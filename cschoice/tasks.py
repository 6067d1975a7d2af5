"""Choice tasks: sets of objects of any size, with what was chosen from each.

Sets of different size exist here and nowhere else: a task is a run of *entries*, an entry is a
row number of a shared item table. Everyone else works on flat arrays with one value per entry,
or on padded batches with an explicit mask.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cschoice import taskfile
from cschoice.batch import TaskBatch
from cschoice.errors import InvalidFile, InvalidParameter, InvalidTasks
from cschoice.taskchecks import checked, counted

Index = int | slice | NDArray[np.int64] | NDArray[np.bool_] | Sequence[int]

_COMPARED_AT_ONCE = 1_000_000


class Kind(StrEnum):
    """What a task asks for: one object, or any non-empty subset."""

    SINGLETON = "singleton"
    SUBSET = "subset"


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceTasks:
    """Ragged choice tasks over a shared item table; immutable.

    >>> tasks = ChoiceTasks(
    ...     table=[[0.0], [1.0], [2.0]],
    ...     items=[0, 1, 0, 1, 2],
    ...     offsets=[0, 2, 5],
    ...     chosen=[False, True, False, False, True],
    ...     kind=Kind.SINGLETON,
    ... )
    >>> tasks
    ChoiceTasks(singleton, 2 tasks of 2–3 objects, 1 feature, 40.0 % chosen, 3 shared items)
    >>> tasks[1].features.ravel().tolist()
    [0.0, 1.0, 2.0]
    """

    table: NDArray[np.float32]  # (n_items, n_features), shared by every slice
    items: NDArray[np.int64]  # (n_entries,) row of the table behind each entry
    offsets: NDArray[np.int64]  # (n_tasks + 1,) where each task's entries start
    chosen: NDArray[np.bool_]  # (n_entries,)
    kind: Kind

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        arrays, problems = checked(
            self.table, self.items, self.offsets, self.chosen, self.kind == Kind.SINGLETON
        )
        if self.kind not in list(Kind):
            problems.append(f"kind must be singleton or subset, got {self.kind!r}")
        if problems or arrays is None:
            raise InvalidTasks(problems)
        self._store(*arrays, Kind(self.kind))

    def _store(
        self, table: ArrayLike, items: ArrayLike, offsets: ArrayLike, chosen: ArrayLike, kind: Kind
    ) -> None:
        object.__setattr__(self, "table", _read_only(table, np.float32))
        object.__setattr__(self, "items", _read_only(items, np.int64))
        object.__setattr__(self, "offsets", _read_only(offsets, np.int64))
        object.__setattr__(self, "chosen", _read_only(chosen, np.bool_))
        object.__setattr__(self, "kind", kind)

    @classmethod
    def trusted(
        cls, table: ArrayLike, items: ArrayLike, offsets: ArrayLike, chosen: ArrayLike, kind: Kind
    ) -> Self:
        """Make tasks without the checks, from arrays that are valid by construction."""
        tasks = object.__new__(cls)
        tasks._store(table, items, offsets, chosen, kind)
        return tasks

    @classmethod
    def from_dense(cls, x: ArrayLike, chosen: ArrayLike, kind: Kind) -> Self:
        """Make tasks of one size from ``x`` (tasks, objects, features).

        ``chosen`` is a boolean array (tasks, objects) or, for singleton choice, the position of
        the chosen object in each task.
        """
        try:
            features, choice = np.asarray(x), np.asarray(chosen)
        except (TypeError, ValueError, OverflowError) as error:
            raise InvalidTasks([f"x and chosen must be arrays of numbers: {error}"]) from error
        if features.ndim != 3:
            raise InvalidTasks(
                [f"x must have shape (tasks, objects, features), got {features.shape}"]
            )
        n_tasks, n_objects, n_features = features.shape
        if choice.shape == (n_tasks,) and choice.dtype.kind in "iu":
            outside = (choice < 0) | (choice >= n_objects)
            if outside.any():
                raise InvalidTasks([counted(outside, "chosen position", "outside its task")])
            choice = np.arange(n_objects) == choice[:, None]
        if choice.shape != (n_tasks, n_objects):
            allowed = f"{(n_tasks, n_objects)}, or be one position per task"
            raise InvalidTasks([f"chosen must have shape {allowed}; got {choice.shape}"])
        return cls(
            table=features.reshape(n_tasks * n_objects, n_features),
            items=np.arange(n_tasks * n_objects),
            offsets=np.arange(n_tasks + 1) * n_objects,
            chosen=choice.ravel(),
            kind=kind,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[ChoiceTasks]) -> ChoiceTasks:
        """Put tasks of one kind behind each other; a table they all share stays shared."""
        if not parts:
            raise InvalidTasks(["there is nothing to concatenate"])
        first = parts[0]
        problems = [
            f"part {number} has {name} {got}, part 0 has {expected}"
            for number, part in enumerate(parts)
            for name, got, expected in (
                ("kind", part.kind, first.kind),
                ("number of features", part.n_features, first.n_features),
            )
            if got != expected
        ]
        if problems:
            raise InvalidTasks(problems)
        shared = all(part.table is first.table for part in parts)
        shift = np.cumsum([0] + [0 if shared else len(part.table) for part in parts])
        sizes = np.concatenate([part.sizes for part in parts])
        return cls.trusted(
            first.table if shared else np.concatenate([part.table for part in parts]),
            np.concatenate([part.items + by for part, by in zip(parts, shift, strict=False)]),
            _starts(sizes),
            np.concatenate([part.chosen for part in parts]),
            first.kind,
        )

    @classmethod
    def from_parquet(cls, path: str | Path) -> Self:
        """Read tasks that ``to_parquet`` wrote."""
        path = Path(path)
        columns = taskfile.read(path)
        starts = np.flatnonzero(np.diff(columns.task, prepend=-1))
        if not np.array_equal(columns.task[starts], np.arange(len(starts))):
            raise InvalidFile(f"{path} is damaged (task numbers are not 0, 1, 2, …)")
        try:
            return cls(
                table=columns.table,
                items=np.arange(len(columns.task)) if columns.items is None else columns.items,
                offsets=np.append(starts, len(columns.task)),
                chosen=columns.chosen,
                kind=cast(Kind, columns.kind),  # checked with the rest
            )
        except InvalidTasks as error:
            raise InvalidFile(f"{path}: {error}") from error

    def to_parquet(
        self,
        path: str | Path,
        origin: Mapping[str, Any] | None = None,
        progress: taskfile.Progress | None = None,
    ) -> None:
        """Write the tasks with what is known of their ``origin``; see ``taskfile`` for the format.

        Each file appears whole or not at all. ``progress`` is told numbers of entries written.
        """
        used, items = np.unique(self.items, return_inverse=True)
        shared = len(used) < self.n_entries
        columns = taskfile.TaskColumns(
            kind=str(self.kind),
            task=np.repeat(np.arange(len(self)), self.sizes),
            chosen=self.chosen,
            table=self.table[used] if shared else self.features,
            items=items if shared else None,
            origin=origin or {},
        )
        taskfile.write(Path(path), columns, progress)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_entries(self) -> int:
        """The number of objects over all tasks."""
        return len(self.items)

    @property
    def n_features(self) -> int:
        """The number of features of an object."""
        return int(self.table.shape[1])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of objects of each task."""
        return np.diff(self.offsets)

    @property
    def features(self) -> NDArray[np.float32]:
        """The features of every entry, (n_entries, n_features)."""
        return self.table[self.items]

    def __eq__(self, other: object) -> bool:
        """Compare by value: the same sets, features and choices, whatever the tables look like."""
        if not isinstance(other, ChoiceTasks):
            return NotImplemented
        if (self.kind, self.n_features) != (other.kind, other.n_features):
            return False
        if not np.array_equal(self.offsets, other.offsets):
            return False
        if not np.array_equal(self.chosen, other.chosen):
            return False
        step = max(1, _COMPARED_AT_ONCE // max(1, self.n_features))
        parts = (slice(start, start + step) for start in range(0, self.n_entries, step))
        return all(
            np.array_equal(self.table[self.items[part]], other.table[other.items[part]])
            for part in parts
        )

    def __repr__(self) -> str:
        sizes = self.sizes
        objects = f"{sizes.min()}–{sizes.max()}" if sizes.min() < sizes.max() else f"{sizes[0]}"
        parts = [
            str(self.kind),
            f"{len(self):,} task{'s' * (len(self) != 1)} of {objects} objects",
            f"{self.n_features:,} feature{'s' * (self.n_features != 1)}",
            f"{self.chosen.mean():.1%} chosen".replace("%", " %"),
        ]
        if len(self.table) < self.n_entries:
            parts.append(f"{len(self.table):,} shared items")
        return f"ChoiceTasks({', '.join(parts)})"

    def __getitem__(self, index: Index) -> ChoiceTasks:
        """Select tasks by number, slice, numbers or mask; the item table stays shared."""
        numbers = self._numbers(index)
        entries = self.entries(numbers)
        return self.trusted(
            self.table,
            self.items[entries],
            _starts(self.sizes[numbers]),
            self.chosen[entries],
            self.kind,
        )

    def _numbers(self, index: Index) -> NDArray[np.int64]:
        """Turn whatever selects tasks into task numbers, at least one."""
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
        numbers = self._numbers(index)
        sizes = self.sizes[numbers]
        starts = _starts(sizes)
        return np.arange(starts[-1]) + np.repeat(self.offsets[numbers] - starts[:-1], sizes)

    def standardized_by(self, train: ChoiceTasks) -> ChoiceTasks:
        """Scale features to mean 0 and variance 1 over the entries of ``train``.

        A feature that is constant there keeps its scale.
        """
        weight = np.bincount(train.items, minlength=len(train.table)) / train.n_entries
        mean = weight @ train.table
        deviation = np.sqrt(weight @ (train.table - mean) ** 2)
        deviation[deviation <= 1e-6 * np.maximum(1, np.abs(mean))] = 1
        table = (self.table - mean) / deviation
        return self.trusted(table, self.items, self.offsets, self.chosen, self.kind)

    def reduce(self, operation: np.ufunc, values: NDArray[Any], dtype: Any = None) -> NDArray[Any]:
        """Combine one value per entry into one per task.

        >>> tasks = ChoiceTasks.from_dense([[[0.0], [1.0]]], [1], Kind.SINGLETON)
        >>> tasks.reduce(np.add, np.array([2, 3]))
        array([5])
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
        order = np.empty(self.n_entries, dtype=np.int64)
        sizes = self.sizes
        for size in np.unique(sizes):
            rows = self.offsets[:-1][sizes == size][:, None] + np.arange(size)
            ranks = np.argsort(-values[rows], axis=1, kind="stable")
            order[rows] = np.take_along_axis(rows, ranks, axis=1)
        return order

    def pad(self, index: Index) -> TaskBatch:
        """Pad the selected tasks to the size of the largest of them."""
        numbers = self._numbers(index)
        sizes = self.sizes[numbers]
        positions = np.arange(sizes.max())
        mask = positions < sizes[:, None]
        entries = np.where(mask, self.offsets[numbers][:, None] + positions, 0)
        return TaskBatch(
            tasks=numbers,
            entries=entries,
            items=self.items[entries],
            mask=mask,
            chosen=self.chosen[entries] & mask,
            table=self.table,
        )

    def batches(
        self, batch_size: int, rng: np.random.Generator | None = None
    ) -> Iterator[TaskBatch]:
        """Yield every task once, in padded batches of tasks of similar size.

        With ``rng`` tasks are shuffled within their size and batches among each other; without,
        the order is by size.
        """
        if batch_size < 1:
            raise InvalidParameter(f"batch_size must be at least 1, got {batch_size}")
        order = np.arange(len(self)) if rng is None else rng.permutation(len(self))
        order = order[np.argsort(self.sizes[order], kind="stable")]
        starts = np.arange(0, len(order), batch_size)
        for start in starts if rng is None else rng.permutation(starts):
            yield self.pad(order[start : start + batch_size])


def _read_only(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    array = np.asarray(values, dtype=dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])
