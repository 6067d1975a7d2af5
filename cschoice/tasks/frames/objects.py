"""Long and wide tables to one row per object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.choices import chosen_objects
from cschoice.tasks.frames.columns import Column, Table
from cschoice.tasks.frames.description import FILLED, HOLE, Description
from cschoice.tasks.frames.names import (
    Alternatives,
    TaskKeys,
    alternatives_of,
    folds_of,
    groups_of,
    task_keys,
    weights_of,
)

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)


@dataclass(frozen=True)
class Objects:
    """All objects of a table, one that could be chosen per row; their features are apart.

    Objects stand in the order of the table (a wide one: alternative by alternative), those that
    are not available among them.
    """

    rows: Codes  # of the table
    tasks: Codes  # number of the task, in the order in which they appear
    keys: TaskKeys
    alternatives: Alternatives | None  # if they have names
    available: Mask
    chosen: Mask | None  # None where it is not known yet
    groups: Codes | None
    weights: NDArray[np.float64] | None
    folds: Codes | None = None  # in which tasks are tested, by the place of its name
    fold_names: Sequence[str] = ()


def objects_of(table: Table, description: Description, learning: bool = True) -> Objects:
    """Return the objects of a table; refuse columns that do not fit their meaning."""
    n_copies = _n_copies(description)
    try:
        keys = task_keys(table, description)
        alternatives = alternatives_of(table, description)
        chosen = groups = weights = folds = None
        fold_names: list[str] = []
        if learning:
            marks = _stacked(table, description, description.chosen)
            chosen = chosen_objects(marks, description, alternatives, keys)
        if learning and description.group:
            groups = _repeated(groups_of(table, description.group), n_copies)
        if learning and description.weight:
            weights = _repeated(weights_of(table, description.weight), n_copies)
        if learning and description.fold:
            codes, fold_names = folds_of(table, description.fold)
            folds = _repeated(codes, n_copies)
        return Objects(
            rows=_repeated(table.numbers, n_copies),
            tasks=_repeated(keys.numbers, n_copies),
            keys=keys,
            alternatives=alternatives,
            available=_available(table, description),
            chosen=chosen,
            groups=groups,
            weights=weights,
            folds=folds,
            fold_names=fold_names,
        )
    except ValueError as error:
        raise InvalidTable(getattr(error, "problems", [str(error)])) from error


def own_features(table: Table, description: Description) -> Iterator[Column]:
    """Yield the features of all objects."""
    for name, pattern in description.features.items():
        yield _stacked(table, description, pattern, name)


def chooser_features(table: Table, description: Description) -> Iterator[Column]:
    """Yield the features of the chooser, repeated for all objects."""
    for name in description.of_chooser:
        column = table.column(name)
        yield Column(name, column.pieces * _n_copies(description), column.rows)


def _repeated(values: NDArray[Scalar], n_copies: int) -> NDArray[Scalar]:
    """Return the values once per alternative; of a long table as they are."""
    return values if n_copies == 1 else np.tile(values, n_copies)


def _n_copies(description: Description) -> int:
    return 1 if description.alternatives is None else len(description.alternatives)


def _stacked(
    table: Table, description: Description, pattern: str, name: str | None = None
) -> Column:
    """Return the values of all alternatives; those that lack the column have its default."""
    import pyarrow as pa

    columns = description.of_alternatives(pattern)
    absent = pa.chunked_array([pa.repeat(description.default(pattern), len(table))])
    known = table.data.column_names
    pieces = tuple((k, table.data[k] if k in known else absent) for k in columns)
    return Column(name or pattern, pieces, table.rows)


def _available(table: Table, description: Description) -> Mask:
    """Mark the objects that were on offer; one whose flag is missing was not."""
    pattern = description.available
    n_copies = _n_copies(description)
    if pattern is None:
        return np.ones(len(table) * n_copies, dtype=bool)
    if pattern == FILLED:
        there = [values.labels()[0] >= 0 for values in own_features(table, description)]
        filled: Mask = np.any(there, axis=0)
        return filled
    values = _stacked(table, description, pattern)
    flags = values.flags()
    if flags is None:
        allowed = "0 and 1 or true and false"
        raise ValueError(f"column '{pattern}' must hold {allowed}, got {values.some()}")
    if description.alternatives is not None and HOLE not in pattern:
        flags = _repeated(flags, n_copies)
    return np.equal(flags, 1)
