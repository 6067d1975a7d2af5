"""Partial dependence: the chance of an object over its own feature, and over a rival's."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cschoice.report.contents.drawings import Curves, Panel
from cschoice.report.figures.placement import short
from cschoice.report.figures.style import INK, PALETTE, WIDTH

_DASHES = ("solid", "dashed", "dotted", (0, (5, 1, 1, 1)))


def draw(curves: Curves) -> Figure:
    """Draw both panels on one axis, with bands where intervals are known."""
    figure = Figure(figsize=(WIDTH, 2.3), layout="constrained")
    axes = figure.subplots(1, len(curves.panels), sharey=True, squeeze=False)[0]
    for place, panel in zip(axes, curves.panels, strict=True):
        _lines(place, panel, curves)
        place.set_xlabel(short(curves.feature, 40))
        place.set_title(panel.title)
    axes[0].set_ylabel(curves.axis)
    axes[0].set_ylim(bottom=0)
    if len(curves.names) > 1:
        handles = axes[0].get_lines()
        figure.legend(
            handles, [short(name) for name in curves.names], loc="outside lower center",
            ncols=min(5, len(handles)), frameon=False, fontsize=7,
        )  # fmt: skip
    return figure


def _lines(axes: Axes, panel: Panel, curves: Curves) -> None:
    axes.grid()
    for k in range(panel.values.shape[1]):
        colour = PALETTE[k % len(PALETTE)] if len(curves.names) > 1 else INK
        dashes = _DASHES[k % len(_DASHES)]
        axes.plot(curves.x, panel.values[:, k], color=colour, linestyle=dashes)
        low, high = (panel.values[:, k] + sign * panel.margins[:, k] for sign in (-1, 1))
        axes.fill_between(
            curves.x, np.maximum(low, 0), np.minimum(high, 1), color=colour, alpha=0.15, linewidth=0
        )
