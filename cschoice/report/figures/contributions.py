"""A sum as steps: each contribution starts where the one before it ends."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cschoice.report.contents.drawings import Steps
from cschoice.report.contents.table import signed
from cschoice.report.figures.placement import short
from cschoice.report.figures.style import GAIN, INK, LOSS, SMALL, WIDTH

_BAR = 0.22  # inches


def draw(steps: Steps) -> Figure:
    """Draw the contributions from above, and their sum as the last bar."""
    n = len(steps.names)
    figure = Figure(figsize=(WIDTH, (n + 1) * _BAR + 0.55), layout="constrained")
    axes = figure.subplots()
    place, ends = 0.0, [0.0]
    for row, value in enumerate(steps.values):
        axes.barh(row, value, left=place, height=0.7, color=GAIN if value > 0 else LOSS)
        axes.plot([place + value] * 2, [row - 0.35, row + 1.35], color=INK, linewidth=0.6)
        _number(axes, row, max(place, place + value), value)
        place += value
        ends.append(place)
    axes.barh(n, place, height=0.7, color=INK, alpha=0.5)
    _number(axes, n, max(0.0, place), place)
    axes.axvline(0, color=INK, linewidth=0.8)
    width = max(ends) - min(ends) or 1.0
    axes.set_xlim(min(ends) - 0.03 * width, max(ends) + 0.12 * width)
    axes.set_yticks(range(n + 1), [short(name, 44) for name in (*steps.names, steps.total)])
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.grid(axis="x")
    axes.set_xlabel(steps.axis)
    return figure


def _number(axes: Axes, row: int, place: float, value: float) -> None:
    axes.annotate(
        signed(f"{value:+.2f}"), (place, row), xytext=(3, 0), textcoords="offset points",
        va="center_baseline", fontsize=SMALL,
    )  # fmt: skip
