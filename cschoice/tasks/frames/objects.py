"""Long and wide tables to one row per object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.columns import Column, row
from cschoice.tasks.frames.description import FILLED, HOLE, Description

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Objects:
    """All objects of a table, one that could be chosen per row; features are still columns.

    Objects stand in the order of the table (a wide one: alternative by alternative), those that
    are not available among them.
    """

    rows: Codes  # of the table
    tasks: Codes  # number of the task, in the order in which they appear
    keys: Mapping[str, list[Any]]  # the columns that name the tasks, one value per task
    names: tuple[Codes, list[str]] | None  # of the alternatives, if they have any
    naming: str  # the column of the names
    available: NDArray[np.bool_]
    chosen: NDArray[np.bool_] | None  # None where it is not known yet
    groups: Codes | None
    features: list[Column]
    of_chooser: list[Column]

    def named(self, task: int) -> str:
        """Name a task as the table does."""
        return ", ".join(f"{name} {values[task]}" for name, values in self.keys.items())


def objects_of(table: Any, description: Description, learning: bool = True) -> Objects:
    """Return the objects of a table; refuse columns that do not fit their meaning."""
    wide = description.alternatives is not None
    n_copies = len(description.alternatives or ()) if wide else 1
    try:
        rows = np.tile(np.arange(table.num_rows), n_copies)
        tasks, keys = _tasks(table, description)
        names = _names(table, description)
        features = [
            _stacked(table, description, name, pattern)
            for name, pattern in description.features.items()
        ]
        return Objects(
            rows=rows,
            tasks=np.tile(tasks, n_copies),
            keys=keys,
            names=names,
            naming=description.object or "alternative",
            available=_available(table, description, features, len(rows)),
            chosen=_chosen(table, description, names) if learning else None,
            groups=_groups(table, description, n_copies) if learning else None,
            features=features,
            of_chooser=[
                Column(name, ((name, table[name]),) * n_copies) for name in description.of_chooser
            ],
        )
    except ValueError as error:
        raise InvalidTable(getattr(error, "problems", [str(error)])) from error


def _stacked(table: Any, description: Description, name: str, pattern: str) -> Column:
    """Return a feature of all alternatives; those that lack the column have its default."""
    import pyarrow as pa

    columns = description.of_alternatives(pattern)
    absent = pa.chunked_array([pa.repeat(description.default(pattern), table.num_rows)])
    known = table.column_names
    return Column(name, tuple((k, table[k] if k in known else absent) for k in columns))


def _tasks(table: Any, description: Description) -> tuple[Codes, dict[str, list[Any]]]:
    """Give tasks numbers in the order in which they appear."""
    if not description.task:  # a wide table without one: each row is a task
        numbers = np.arange(table.num_rows)
        return numbers, {"row": (numbers + 1).tolist()}
    combined = np.zeros(table.num_rows, dtype=np.int64)
    for name in description.task:
        codes, labels = Column(name, ((name, table[name]),)).labels()
        if (codes < 0).any():
            raise ValueError(f"column '{name}' names no task in {row(int((codes < 0).argmax()))}")
        combined = np.unique(combined * len(labels) + codes, return_inverse=True)[1]
    _, first, numbers = np.unique(combined, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    at = first[order]
    return rank[numbers], {name: table[name].take(at).to_pylist() for name in description.task}


def _names(table: Any, description: Description) -> tuple[Codes, list[str]] | None:
    if description.alternatives is not None:
        codes = np.repeat(np.arange(len(description.alternatives)), table.num_rows)
        return codes, list(description.alternatives)
    if description.object is None:
        return None
    codes, labels = Column(
        description.object, ((description.object, table[description.object]),)
    ).labels()
    if (codes < 0).any():
        first = row(int((codes < 0).argmax()))
        raise ValueError(f"column '{description.object}' names no alternative in {first}")
    return codes, labels


def _available(
    table: Any, description: Description, features: Sequence[Column], n_objects: int
) -> NDArray[np.bool_]:
    """Mark the objects that were on offer; one whose flag is missing was not."""
    pattern = description.available
    if pattern is None:
        return np.ones(n_objects, dtype=bool)
    if pattern == FILLED:
        filled: NDArray[np.bool_] = np.any([values.labels()[0] >= 0 for values in features], axis=0)
        return filled
    values = _stacked(table, description, pattern, pattern)
    flags = values.flags()
    if flags is None:
        allowed = "0 and 1 or true and false"
        raise ValueError(f"column '{pattern}' must hold {allowed}, got {_some(values)}")
    if description.alternatives is not None and HOLE not in pattern:
        flags = np.tile(flags, len(description.alternatives))
    return np.equal(flags, 1)


def _chosen(
    table: Any, description: Description, names: tuple[Codes, list[str]] | None
) -> NDArray[np.bool_]:
    """Mark the chosen objects: the column marks them, or gives the name of the chosen one.

    No mark means no: many tables only mark what was chosen.
    """
    column = description.chosen
    if description.alternatives is None or HOLE in column:
        values = _stacked(table, description, column, column)
        flags = values.flags()
        if flags is not None:
            return np.equal(flags, 1)
        if names is None or HOLE in column:
            hint = "" if names else ", or name the alternative (give object)"
            raise ValueError(
                f"column '{column}' must hold 0 and 1 or true and false{hint}, got {_some(values)}"
            )
    codes, labels = Column(column, ((column, table[column]),)).labels()
    assert names is not None  # a wide table has alternatives, a long one was refused above
    called = names[1]
    if description.alternatives is not None:
        codes = np.tile(codes, len(called))
        called = list(description.alternatives.values())
        if not set(called) & set(labels):
            shown, got = ", ".join(called), ", ".join(labels[:5])
            raise ValueError(
                f"column '{column}' names none of the alternatives ({shown}), got {got}: "
                "write alternatives as NAME=CODE"
            )
    number = {label: k for k, label in enumerate(called)}
    meant: Codes = np.array([number.get(label, -1) for label in labels] + [-1])
    is_it: NDArray[np.bool_] = meant[codes] == names[0]
    return is_it


def _groups(table: Any, description: Description, n_copies: int) -> Codes | None:
    if description.group is None:
        return None
    codes, _ = Column(description.group, ((description.group, table[description.group]),)).labels()
    if (codes < 0).any():
        first = row(int((codes < 0).argmax()))
        raise ValueError(f"column '{description.group}' names no group in {first}")
    return np.tile(codes, n_copies)


def _some(values: Column) -> str:
    labels = values.labels()[1]
    return ", ".join(f"'{label}'" for label in labels[:3]) + (", …" if len(labels) > 3 else "")
