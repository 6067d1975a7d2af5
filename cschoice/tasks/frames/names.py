"""The names of tasks and alternatives, as numbers and as the table has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.columns import Column, Table
from cschoice.tasks.frames.description import Description

Codes = NDArray[np.int64]


@dataclass(frozen=True)
class TaskKeys:
    """The task of each row, a number in the order in which tasks appear."""

    numbers: Codes
    columns: Mapping[str, Any]  # the columns that name the tasks, one value per task

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def named(self, task: int) -> str:
        """Name a task as the table does."""
        return ", ".join(f"{name} {values[int(task)]}" for name, values in self.columns.items())


@dataclass(frozen=True)
class Alternatives:
    """The alternative of each object, a number, with its name as text and as in the table."""

    column: str
    codes: Codes
    labels: list[str]
    values: Any


def task_keys(table: Table, description: Description) -> TaskKeys:
    """Give the tasks of a table numbers in the order in which they appear."""
    import pyarrow as pa

    if not description.task:  # a wide table without one: each row is a task
        return TaskKeys(np.arange(len(table)), {"row": pa.array(table.numbers + 1)})
    combined = _combined(table, description.task, "task")
    first = _first(combined)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    at = first[order]
    return TaskKeys(rank[combined], {name: table.data[name].take(at) for name in description.task})


def alternatives_of(table: Table, description: Description) -> Alternatives | None:
    """Return the alternatives of all objects, if the table names them."""
    import pyarrow as pa

    if description.alternatives is not None:
        names = list(description.alternatives)
        codes = np.repeat(np.arange(len(names)), len(table))
        return Alternatives("alternative", codes, names, pa.array(names))
    name = description.object
    if name is None:
        return None
    codes, labels = _complete(table.column(name), "alternative")
    return Alternatives(name, codes, labels, table.data[name].take(_first(codes)))


def groups_of(table: Table, name: str) -> Codes:
    """Return the number of the chooser in each row."""
    return _complete(table.column(name), "group")[0]


def folds_of(table: Table, name: str) -> tuple[Codes, list[str]]:
    """Return the number of the fold in which each row is tested, and the names of the folds."""
    return _complete(table.column(name), "fold")


def kept_rows(table: Table, description: Description) -> Table:
    """Keep the first or the last of the rows that are alike in some columns."""
    try:
        codes = _combined(table, description.by, "task")
    except ValueError as error:
        raise InvalidTable([str(error)]) from error
    kept = _first(codes) if description.keep == "first" else len(codes) - 1 - _first(codes[::-1])
    rows = np.sort(kept)
    return Table(table.data.take(rows), table.numbers[rows])


def _combined(table: Table, names: Sequence[str], noun: str) -> Codes:
    """Return for each row the number of its combination of values in some columns."""
    combined, _ = _complete(table.column(names[0]), noun)
    for name in names[1:]:
        codes, labels = _complete(table.column(name), noun)
        combined = np.unique(combined * len(labels) + codes, return_inverse=True)[1]
    return combined


def _first(codes: Codes) -> Codes:
    """Return the first row of each code; all numbers up to the largest occur."""
    first = np.empty(codes.max(initial=-1) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of equal codes the last one stays
    return first


def weights_of(table: Table, name: str) -> NDArray[np.float64]:
    """Return how much the task of each row counts."""
    column = table.column(name)
    weights = column.numbers().astype(np.float64)
    unusable = ~(weights > 0)  # a gap is unusable, too
    if unusable.any():
        first = int(unusable.argmax())
        raise ValueError(
            f"column '{name}' must hold positive weights, {column.row(first)} has "
            f"{'none' if np.isnan(weights[first]) else format(weights[first], 'g')}"
        )
    return weights


def _complete(column: Column, noun: str) -> tuple[Codes, list[str]]:
    """Return the labels of a column that must name something in every row."""
    codes, labels = column.labels()
    if (codes < 0).any():
        first = column.row(int((codes < 0).argmax()))
        raise ValueError(f"column '{column.name}' names no {noun} in {first}")
    return codes, labels
