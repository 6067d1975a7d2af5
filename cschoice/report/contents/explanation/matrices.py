"""Matrices of effects as a picture, and as a table for those who do not see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cschoice.report.contents.drawings import Heat, Values
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.table import Column, Row, RowGroup, Table, number


def matrix_picture(
    name: str,
    title: str,
    caption: str,
    heat: Heat,
    margins: Values,
    counts: NDArray[np.int64] | None = None,
) -> Picture:
    """Return a matrix as a picture with its numbers behind it."""
    table = matrix_table(f"{name}-numbers", title, heat, margins, counts)
    return Picture(name, caption, "heat:draw", heat, table)


def matrix_table(
    name: str, title: str, heat: Heat, margins: Values, counts: NDArray[np.int64] | None
) -> Table:
    """Return a row per cell with its interval."""
    columns = [Column(heat.row_label), Column(heat.column_label)]
    columns += [Column(label, numeric=True) for label in ("Effect", "95 % from", "to")]
    if counts is not None:
        columns.append(Column("Sets with both", numeric=True))
    rows = []
    for row, column in np.argwhere(np.isfinite(heat.values)):
        value, margin = float(heat.values[row, column]), float(margins[row, column])
        known = np.isfinite(margin)
        ends = (value - margin, value + margin) if known else (None, None)
        cells = [heat.rows[row], heat.columns[column], number(value, "+.3f")]
        cells += [number(end, "+.3f") for end in ends]
        if counts is not None:
            cells.append(number(int(counts[row, column])))
        rows.append(Row(tuple(cells)))
    return Table(name, f"{title}: the numbers.", tuple(columns), (RowGroup("", tuple(rows)),))


def strongest(heat: Heat) -> Iterator[tuple[str, str, float]]:
    """Yield the cells that are more than noise, the largest first: row, column, value."""
    values = np.where(heat.clear & np.isfinite(heat.values), heat.values, 0.0)
    order = np.argsort(-np.abs(values), axis=None)
    for row, column in zip(*np.unravel_index(order, values.shape), strict=True):
        if values[row, column] != 0:
            yield heat.rows[row], heat.columns[column], float(values[row, column])


def listed(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)
