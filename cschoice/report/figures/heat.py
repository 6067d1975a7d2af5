"""A matrix of effects: colour and number in each cell, pale where it could be nothing."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cschoice.report.contents.drawings import Heat
from cschoice.report.contents.table import signed
from cschoice.report.figures.placement import wrapped
from cschoice.report.figures.style import GAIN, INK, LOSS, SMALL, WIDTH

_CELL = 0.34  # inches high
_STRONGEST, _PALE = 0.55, 0.25  # opacity of the largest effect, and share of it if unclear
_MOST_DIGITS = 12  # columns that have room for numbers


def draw(heat: Heat) -> Figure:
    """Draw the cells, good values in blue and bad ones in orange."""
    n_rows, n_columns = heat.values.shape
    lines = max(wrapped(name, 14).count("\n") + 1 for name in heat.columns)
    figure = Figure(figsize=(WIDTH, n_rows * _CELL + 0.6 + 0.13 * lines), layout="constrained")
    axes = figure.subplots()
    largest = np.nanmax(np.abs(heat.values), initial=1e-12)
    for row in range(n_rows):
        for column in range(n_columns):
            value = float(heat.values[row, column])
            if not np.isfinite(value):
                axes.text(column, row, "–", ha="center", va="center", fontsize=SMALL)
                continue
            clear = bool(heat.clear[row, column])
            strength = _STRONGEST * min(1.0, abs(value) / largest) * (1 if clear else _PALE)
            colour = GAIN if value > 0 else LOSS
            axes.add_patch(
                Rectangle((column - 0.5, row - 0.5), 1, 1, color=colour, alpha=strength, lw=0)
            )
            if n_columns <= _MOST_DIGITS:
                axes.text(
                    column, row, signed(f"{value:+.2f}"), ha="center", va="center",
                    fontsize=SMALL, fontweight="bold" if clear else "normal",
                    color=INK, alpha=1 if clear else 0.75,
                )  # fmt: skip
    axes.set_xlim(-0.5, n_columns - 0.5)
    axes.set_ylim(n_rows - 0.5, -0.5)
    axes.set_xticks(range(n_columns), [wrapped(name, 14) for name in heat.columns])
    axes.set_yticks(range(n_rows), [wrapped(name, 26) for name in heat.rows])
    axes.tick_params(length=0)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set_xlabel(heat.column_label)
    axes.set_ylabel(heat.row_label)
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure
