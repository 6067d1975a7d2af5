"""Values with their intervals: a row each, one colour for each of several series."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from cschoice.report.contents.drawings import Intervals
from cschoice.report.figures.placement import short
from cschoice.report.figures.style import INK, PALETTE, WIDTH

_ROW = 0.3  # inches


def draw(intervals: Intervals) -> Figure:
    """Draw a point and a line for each value; zero is marked."""
    n_rows, n_series = intervals.values.shape
    figure = Figure(figsize=(WIDTH, n_rows * _ROW + 0.9), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0, color=INK, linewidth=0.8)
    for series in range(n_series):
        shift = 0.22 * (series - (n_series - 1) / 2)
        values = intervals.values[:, series]
        margins = np.nan_to_num(intervals.margins[:, series])
        axes.errorbar(
            values, np.arange(n_rows) + shift,
            xerr=[np.minimum(margins, values - intervals.least), margins], fmt="os"[series % 2],
            color=PALETTE[series], markersize=3.5, elinewidth=1.1, capsize=2,
            label=intervals.series[series],
        )  # fmt: skip
    axes.set_yticks(range(n_rows), [short(name, 40) for name in intervals.rows])
    axes.set_ylim(n_rows - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    axes.set_xlabel(intervals.axis)
    if n_series > 1:
        figure.legend(loc="outside upper right", ncols=n_series, frameon=False, fontsize=7)
    return figure
