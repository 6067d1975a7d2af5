"""How an effect is spread over the sets that show it, with its mean and the interval of it."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from cschoice.report.contents.drawings import Spread
from cschoice.report.figures.style import GAIN, INK, LOSS, WIDTH

_BINS = 41
_TAIL = 0.005  # share of the values at each end that may lie outside


def draw(spread: Spread) -> Figure:
    """Draw a histogram; effects against the expectation have another colour."""
    figure = Figure(figsize=(WIDTH, 1.7), layout="constrained")
    axes = figure.subplots()
    ends = np.quantile(spread.values, [_TAIL, 1 - _TAIL])
    reach = max(abs(float(ends[0])), abs(float(ends[1])), abs(spread.mean), 1e-6) * 1.02
    counts, edges = np.histogram(np.clip(spread.values, -reach, reach), _BINS, (-reach, reach))
    middles = (edges[:-1] + edges[1:]) / 2
    colours = [GAIN if middle > 0 else LOSS for middle in middles]
    axes.bar(middles, counts / counts.sum(), np.diff(edges), color=colours, alpha=0.6, lw=0)
    axes.axvline(0, color=INK, linewidth=0.8)
    top = 1.12 * float(counts.max() / counts.sum())
    margin = spread.margin if np.isfinite(spread.margin) else 0.0
    axes.errorbar(spread.mean, top, xerr=margin, fmt="D", color=INK, markersize=4, capsize=3)
    axes.annotate(
        "mean", (spread.mean + margin, top), xytext=(5, 0), textcoords="offset points",
        va="center_baseline", fontsize=7,
    )  # fmt: skip
    axes.set_ylim(0, 1.12 * top)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(spread.axis)
    return figure
