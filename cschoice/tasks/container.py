"""Choice tasks: sets of objects of any size, with the choice made from each.

Sets of different size exist here and nowhere else: a task is a run of *entries*, an entry is a
row number of a shared item table. Everyone else works on flat arrays with one value per entry;
only networks pad them, see ``nets.batches``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from types import EllipsisType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cschoice.errors import InvalidFile, InvalidTasks
from cschoice.io.documents import from_json, to_json
from cschoice.tasks import frames, parquet
from cschoice.tasks.checks import checked, dense, differences
from cschoice.tasks.kind import Kind
from cschoice.tasks.ragged import Index, Ragged, cuts, starts_of
from cschoice.tasks.scaling import Scaling

_COMPARED_AT_ONCE = 1_000_000
_TYPES = {
    "table": np.float32,
    "items": np.int64,
    "offsets": np.int64,
    "chosen": np.bool_,
    "kind": None,
    "groups": np.int64,
    "encoding": None,
    "weights": np.float64,
}


@dataclass(frozen=True, eq=False, repr=False)
class ChoiceTasks(Ragged):
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
    groups: NDArray[np.int64] | None = None  # (n_tasks,) who chose, where it is known
    encoding: frames.Encoding | None = None  # how a table became these tasks, if one did
    weights: NDArray[np.float64] | None = None  # (n_tasks,) how much each counts, if not alike

    __hash__ = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        arrays, problems = checked(
            self.table,
            self.items,
            self.offsets,
            self.chosen,
            self.groups,
            self.weights,
            self.kind == Kind.SINGLETON,
        )
        if self.kind not in list(Kind):
            problems.append(f"kind must be singleton or subset, got {self.kind!r}")
        if self.encoding is not None and arrays is not None:
            n_named, n_features = len(self.encoding.names), np.shape(arrays[0])[1]
            if n_named != n_features:
                problems.append(f"the encoding names {n_named} features, there are {n_features}")
        if problems or arrays is None:
            raise InvalidTasks(problems)
        self._store(*arrays, Kind(self.kind), self.groups, self.encoding, self.weights)

    def _store(self, *values: Any) -> None:
        """Set the fields, in their order."""
        for (name, dtype), value in zip(_TYPES.items(), values, strict=True):
            stored = value if dtype is None or value is None else _read_only(value, dtype)
            object.__setattr__(self, name, stored)

    @classmethod
    def trusted(
        cls,
        table: ArrayLike,
        items: ArrayLike,
        offsets: ArrayLike,
        chosen: ArrayLike,
        kind: Kind,
        groups: ArrayLike | None = None,
        encoding: frames.Encoding | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Make tasks without the checks, from arrays that are valid by construction."""
        tasks = object.__new__(cls)
        tasks._store(table, items, offsets, chosen, kind, groups, encoding, weights)
        return tasks

    def with_arrays(self, **arrays: Any) -> Self:
        """Return these tasks with some fields replaced, without the checks."""
        return self.trusted(**{name: getattr(self, name) for name in _TYPES} | arrays)

    @classmethod
    def from_dense(cls, x: ArrayLike, chosen: ArrayLike, kind: Kind) -> Self:
        """Make tasks of one size from ``x`` (tasks, objects, features).

        ``chosen`` is a boolean array (tasks, objects) or, for singleton choice, the position of
        the chosen object in each task.
        """
        return cls(*dense(x, chosen), kind=kind)

    @classmethod
    def from_frame(
        cls, frame: Any, *, impute: Any = (), drop_invalid: bool = False, **columns: Any
    ) -> Self:
        """Make tasks from a table: a pandas data frame, or the path of a CSV or Parquet file.

        ``columns`` name the columns, as the options of ``cschoice import`` do: task, chosen,
        features, object, alternatives, …; see ``frames.Description``.
        """
        _, table = frames.learn(frame, frames.describe(**columns), impute, drop_invalid)
        kind = Kind(columns.get("kind", Kind.SINGLETON))
        return cls.from_table(table, kind)

    @classmethod
    def from_table(cls, table: frames.EncodedTable, kind: Kind) -> Self:
        """Make tasks from an encoded table; in one to be predicted nothing is chosen."""
        items = np.arange(len(table.features))
        return cls.trusted(
            table.features,
            items,
            table.offsets,
            table.chosen,
            kind,
            table.groups,
            table.encoding,
            table.weights,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[ChoiceTasks]) -> ChoiceTasks:
        """Put tasks of one kind behind each other; a table they all share stays shared."""
        if not parts:
            raise InvalidTasks(["there is nothing to concatenate"])
        first = parts[0]
        compared = [
            {
                "kind": part.kind,
                "number of features": part.n_features,
                "groups": part.groups is not None,
                "weights": part.weights is not None,
            }
            for part in parts
        ]
        if problems := differences(compared):
            raise InvalidTasks(problems)
        shared = all(part.table is first.table for part in parts)
        same_encoding = all(part.encoding == first.encoding for part in parts)
        groups = [part.groups for part in parts if part.groups is not None]
        weights = [part.weights for part in parts if part.weights is not None]
        shift = np.cumsum([0] + [0 if shared else len(part.table) for part in parts])
        sizes = np.concatenate([part.sizes for part in parts])
        return cls.trusted(
            first.table if shared else np.concatenate([part.table for part in parts]),
            np.concatenate([part.items + by for part, by in zip(parts, shift, strict=False)]),
            starts_of(sizes),
            np.concatenate([part.chosen for part in parts]),
            first.kind,
            np.concatenate(groups) if groups else None,
            first.encoding if same_encoding else None,
            np.concatenate(weights) if weights else None,
        )

    @classmethod
    def from_parquet(cls, path: str | Path) -> Self:
        """Read tasks that ``to_parquet`` wrote."""
        path = Path(path)
        arrays = parquet.read(path).arrays()
        if arrays["encoding"] is not None:
            text = to_json(arrays["encoding"])
            arrays["encoding"] = from_json(frames.Encoding, text, path)
        try:
            return cls(**arrays)
        except InvalidTasks as error:
            raise InvalidFile(f"{path}: {error}") from error

    def to_parquet(
        self,
        path: str | Path,
        origin: Mapping[str, Any] | None = None,
        progress: parquet.Progress | None = None,
    ) -> None:
        """Write the tasks and a note of their ``origin``; see ``parquet`` for the format.

        Each file appears whole or not at all. ``progress`` is told numbers of entries written.
        """
        used = np.flatnonzero(np.bincount(self.items))
        shared = len(used) < self.n_entries
        as_it_is = len(used) == len(self.table) and np.array_equal(used, self.items)
        columns = parquet.TaskColumns(
            kind=str(self.kind),
            task=np.repeat(np.arange(len(self)), self.sizes),
            chosen=self.chosen,
            table=self.table if as_it_is else self.table[used] if shared else self.features,
            items=np.searchsorted(used, self.items) if shared else None,
            groups=None if self.groups is None else self.spread(self.groups),
            origin=origin or {},
            encoding=None if self.encoding is None else asdict(self.encoding),
            weights=None if self.weights is None else self.spread(self.weights),
        )
        parquet.write(Path(path), columns, progress)

    @property
    def n_entries(self) -> int:
        """The number of objects over all tasks."""
        return len(self.items)

    @property
    def n_features(self) -> int:
        """The number of features of an object."""
        return int(self.table.shape[1])

    @property
    def feature_names(self) -> list[str]:
        """The names of the features: those of the table the tasks come from, else x0, x1, …."""
        if self.encoding is not None:
            return list(self.encoding.names)
        return [f"x{number}" for number in range(self.n_features)]

    @property
    def shape(self) -> tuple[int]:
        """The number of tasks, as scikit-learn asks for it before it selects tasks."""
        return (len(self),)

    @property
    def features(self) -> NDArray[np.float32]:
        """The features of every entry, (n_entries, n_features)."""
        return self.table[self.items]

    def __eq__(self, other: object) -> bool:
        """Compare by value: the same sets, features and choices, however items are shared."""
        if not isinstance(other, ChoiceTasks):
            return NotImplemented
        if (self.kind, self.n_features) != (other.kind, other.n_features):
            return False
        for name in ("offsets", "chosen", "groups", "weights"):
            if not np.array_equal(getattr(self, name), getattr(other, name)):
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
        objects += " objects" if sizes.max() > 1 else " object"
        parts = [
            str(self.kind),
            f"{len(self):,} task{'s' * (len(self) != 1)} of {objects}",
            f"{self.n_features:,} feature{'s' * (self.n_features != 1)}",
            f"{self.chosen.mean():.1%} chosen".replace("%", " %"),
        ]
        if len(self.table) < self.n_entries:
            parts.append(f"{len(self.table):,} shared items")
        return f"ChoiceTasks({', '.join(parts)})"

    def __getitem__(self, index: Index | tuple[Index, EllipsisType]) -> ChoiceTasks:
        """Select tasks by number, slice, numbers or mask; the item table stays shared.

        ``tasks[numbers, ...]`` is how scikit-learn selects from what has a shape.
        """
        if isinstance(index, tuple) and len(index) == 2 and index[1] is ...:
            index = index[0]
        numbers = self.numbers(index)
        entries = self.entries(numbers)
        return self.with_arrays(
            items=self.items[entries],
            offsets=starts_of(self.sizes[numbers]),
            chosen=self.chosen[entries],
            groups=None if self.groups is None else self.groups[numbers],
            weights=None if self.weights is None else self.weights[numbers],
        )

    def pieces(self, n_entries: int) -> Iterator[ChoiceTasks]:
        """Yield consecutive tasks, about so many objects at once, with tables of their own."""
        for start, stop in pairwise(cuts(self.offsets, n_entries)):
            part = self[start:stop]
            yield part.with_arrays(table=part.features, items=np.arange(part.n_entries))

    def scaled(self, scaling: Scaling) -> ChoiceTasks:
        """Bring the features to a scale."""
        return self.with_arrays(table=scaling.apply(self.table))


def _read_only(values: ArrayLike, dtype: Any) -> NDArray[Any]:
    array = np.asarray(values, dtype=dtype)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array
