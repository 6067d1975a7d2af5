"""Chances against the shares that were chosen, with intervals and the diagonal."""

from __future__ import annotations

from matplotlib.figure import Figure

from cschoice.effects.calibration import Calibration, Group
from cschoice.report.figures.style import CHOSEN, INK, SMALL, WIDTH

_BLUE = "#0072B2"


def draw(found: Calibration) -> Figure:
    """Draw groups of similar chances, and beside them the alternatives where they have names."""
    panels = [("By chance", found.by_chance, _BLUE)]
    if found.by_name:
        panels.append(("By alternative", found.by_name, CHOSEN))
    width = WIDTH * len(panels) / 2
    figure = Figure(figsize=(width, WIDTH / 2), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for place, (title, groups, colour) in zip(axes, panels, strict=True):
        top = min(1.0, 1.08 * max(max(one.predicted, one.high) for one in groups))
        place.set_title(title)
        place.grid()
        place.plot([0, top], [0, top], color=INK, linewidth=0.7, linestyle="dashed")
        place.errorbar(
            [one.predicted for one in groups],
            [one.observed for one in groups],
            yerr=_reach(groups),
            fmt="o", markersize=3.5, color=colour, ecolor=colour, elinewidth=0.9, capsize=1.5,
        )  # fmt: skip
        if groups is found.by_name:
            for one in groups:
                place.annotate(
                    one.name, (one.predicted, one.observed), xytext=(4, -7),
                    textcoords="offset points", fontsize=SMALL - 1, color=INK,
                )  # fmt: skip
        place.set_xlim(0, top)
        place.set_ylim(0, top)
        place.set_aspect("equal")
        place.set_xlabel("Predicted")
    axes[0].set_ylabel("Observed")
    return figure


def _reach(groups: tuple[Group, ...]) -> list[list[float]]:
    """Return how far intervals go below and above the observed shares."""
    below = [max(0.0, one.observed - one.low) for one in groups]
    return [below, [max(0.0, one.high - one.observed) for one in groups]]
