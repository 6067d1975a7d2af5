"""Lines over an axis, one panel per dataset, each labelled at its end."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cschoice.report.compute.curves import Graph, Panel
from cschoice.report.figures.placement import grid, hide_unused, short, spread, wrapped
from cschoice.report.figures.style import INK, SMALL, WIDTH, look

_COLUMNS = 3
_PANEL = 1.9  # inches high, at least
_LABEL = 0.115  # inches between labels
_AROUND = 0.55  # inches that title and numbers take from a panel, about


def draw(graph: Graph) -> Figure:
    """Draw all panels on the same vertical axis where that is an accuracy."""
    n_rows, n_columns = grid(len(graph.panels), _COLUMNS)
    most = max(len(panel.curves) for panel in graph.panels)
    panel_height = max(_PANEL, _LABEL * most + _AROUND)
    figure = Figure(figsize=(WIDTH, n_rows * panel_height + 0.2), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False, sharey=graph.axis != "trial")
    for place, panel in enumerate(graph.panels):
        axes.flat[place].set_title(wrapped(panel.title, 78 // n_columns))
        _lines(axes.flat[place], panel, graph)
    hide_unused(axes, len(graph.panels))
    figure.supylabel(graph.y_label, fontsize=8, color=INK)
    figure.supxlabel(graph.x_label, fontsize=8, color=INK)
    for place, panel in enumerate(graph.panels):  # after all curves: they share an axis
        _label(axes.flat[place], panel, _LABEL / (panel_height - _AROUND))
    return figure


def _lines(axes: Axes, panel: Panel, graph: Graph) -> None:
    axes.grid()
    if graph.axis != "cpu-seconds":
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    if panel.mark is not None:
        axes.axvline(panel.mark, color=INK, linewidth=0.8, linestyle="dashed")
    for number, curve in enumerate(panel.curves):
        drawn = look(curve.learner, number)
        marker = "." if len(curve.x) == 1 else ""
        axes.plot(curve.x, curve.mean, color=drawn.colour, linestyle=drawn.dashes, marker=marker)
        if curve.n_folds > 1 and graph.axis != "trial":  # tuning curves lie too close
            low, high = curve.mean - curve.std, curve.mean + curve.std
            axes.fill_between(curve.x, low, high, color=drawn.colour, alpha=0.15, linewidth=0)
    axes.margins(x=0.02)


def _label(axes: Axes, panel: Panel, gap: float) -> None:
    """Write each learner's name right of its curve's end, apart from the other names."""
    low, high = axes.get_ylim()
    ends = [(float(curve.mean[-1]) - low) / (high - low) for curve in panel.curves]
    places = spread(ends, gap, 0.0, 1.0)
    right = axes.get_xlim()[1]
    for number, (curve, end, place) in enumerate(zip(panel.curves, ends, places, strict=True)):
        drawn = look(curve.learner, number)
        start = (float(curve.x[-1]) - axes.get_xlim()[0]) / (right - axes.get_xlim()[0])
        axes.plot(
            [start, 1.02, 1.05, 1.10], [end, end, place, place], transform=axes.transAxes,
            color=drawn.colour, linestyle=drawn.dashes, linewidth=0.8, clip_on=False,
        )  # fmt: skip
        axes.text(
            1.115, place, short(curve.label), transform=axes.transAxes, va="center",
            fontsize=SMALL - 1, color=INK,
        )  # fmt: skip
