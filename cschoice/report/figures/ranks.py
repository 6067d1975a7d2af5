"""The critical-difference diagram (Demšar, 2006): mean ranks on a line, bars over equals."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cschoice.report.compute.rankings import Ranking
from cschoice.report.figures.placement import short
from cschoice.report.figures.style import INK, SMALL, WIDTH

_STEP = 0.17  # inches between names
_BAR = 0.09  # inches between bars


def draw(ranking: Ranking) -> Figure:
    """Draw the axis with its best end to the right, names on both sides, bars between."""
    ranks = ranking.test.ranks
    n = len(ranks)
    bars = _levels(ranking)
    n_right = n // 2
    above = 0.42  # the critical difference and the ticks
    below = 0.16 + _BAR * (1 + max((level for *_, level in bars), default=0))
    height = above + below + _STEP * (max(n_right, n - n_right) - 0.4)
    figure = Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((0.24, 0.0, 0.52, 1.0))
    axes.set_axis_off()
    axes.set_xlim(n, 1)
    axes.set_ylim(above - height, above)  # inches, 0 is the axis
    _axis(axes, n)
    _critical_difference(axes, ranking)
    for first, last, level in bars:
        y = -0.1 - _BAR * level
        ends = [ranks[first] - 0.06, ranks[last] + 0.06]
        axes.plot(ends, [y, y], color=INK, linewidth=2.6, solid_capstyle="round", clip_on=False)
    for k, (rank, label) in enumerate(zip(ranks, ranking.labels, strict=True)):
        on_right = k < n_right
        place = k if on_right else n - 1 - k
        y = -below - _STEP * place
        edge = 1 - 0.03 * (n - 1) if on_right else n + 0.03 * (n - 1)
        axes.plot([rank, rank, edge], [0, y, y], color=INK, linewidth=0.7, clip_on=False)
        text = f" {short(label, 18)} ({rank:.2f}) "
        side = "left" if on_right else "right"
        axes.text(edge, y, text, ha=side, va="center", fontsize=SMALL)
    return figure


def _axis(axes: Axes, n: int) -> None:
    axes.plot([1, n], [0, 0], color=INK, linewidth=0.9, clip_on=False)
    for rank in range(1, n + 1):
        axes.plot([rank, rank], [0, 0.06], color=INK, linewidth=0.9, clip_on=False)
        axes.text(rank, 0.09, str(rank), ha="center", va="bottom", fontsize=SMALL)


def _critical_difference(axes: Axes, ranking: Ranking) -> None:
    """Draw the length of the critical difference, at the worse end of the axis."""
    n = len(ranking.learners)
    length = min(ranking.test.critical_difference, n - 1)
    start, y = n, 0.30
    axes.plot([start, start - length], [y, y], color=INK, linewidth=1.2, clip_on=False)
    for end in (start, start - length):
        axes.plot([end, end], [y - 0.03, y + 0.03], color=INK, linewidth=1.2, clip_on=False)
    text = f" critical difference {ranking.test.critical_difference:.2f}"
    axes.text(start - length, y, text, ha="left", va="center", fontsize=SMALL)


def _levels(ranking: Ranking) -> list[tuple[int, int, int]]:
    """Return first, last and level of each bar; bars on one level do not touch."""
    ends: list[float] = []
    placed = []
    for first, last in ranking.groups:
        start = ranking.test.ranks[first]
        level = next((k for k, end in enumerate(ends) if end + 0.2 < start), len(ends))
        ends[level : level + 1] = [ranking.test.ranks[last]]
        placed.append((first, last, level))
    return placed
