"""The content of the figures of explanations, not yet drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Heat:
    """A matrix with names, and which of its cells are more than noise."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: Values  # NaN: nothing to show
    clear: NDArray[np.bool_]
    row_label: str
    column_label: str


@dataclass(frozen=True, eq=False)
class Steps:
    """The names and values of contributions, and the name of their sum."""

    names: Sequence[str]
    values: Sequence[float]
    total: str
    axis: str


@dataclass(frozen=True, eq=False)
class Intervals:
    """Values (rows, series) and half the widths of their intervals, NaN where unknown."""

    rows: Sequence[str]
    series: Sequence[str]
    values: Values
    margins: Values
    axis: str
    least: float = -np.inf  # no interval goes below


@dataclass(frozen=True, eq=False)
class Spread:
    """The effects in single sets, their mean and half the width of its interval."""

    values: Values
    mean: float
    margin: float  # NaN where unknown
    axis: str


@dataclass(frozen=True, eq=False)
class Panel:
    """The curves of one panel, (points, names), and half the widths of their intervals."""

    title: str
    values: Values
    margins: Values


@dataclass(frozen=True, eq=False)
class Curves:
    """Two panels over the values of one feature."""

    feature: str
    x: Values
    names: Sequence[str]
    panels: Sequence[Panel]
    axis: str
