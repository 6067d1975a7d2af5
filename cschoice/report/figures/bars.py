"""Bars with deviations: one panel per dataset, one bar per learner."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cschoice.report.compute.labels import dataset_label, learner_label, learners_in_order
from cschoice.report.compute.scores import Result
from cschoice.report.figures.placement import grid, hide_unused, short, wrapped
from cschoice.report.figures.style import INK, SMALL, WIDTH, look

_COLUMNS = 4
_BAR = 0.145  # inches
_FEWEST = 4  # bars that a panel has room for, at least


def draw(content: tuple[str, Sequence[Result]]) -> Figure:
    """Draw the target measure of all results; they are of one kind of choice."""
    measure, results = content
    learners = learners_in_order(result.learner for result in results)
    datasets = list(dict.fromkeys(result.dataset for result in results))
    n_rows, n_columns = grid(len(datasets), _COLUMNS)
    height = n_rows * (_BAR * max(len(learners), _FEWEST) + 0.55) + 0.3
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, sharex=True, sharey=True, squeeze=False)
    for place, dataset in enumerate(datasets):
        own = {result.learner: result for result in results if result.dataset == dataset}
        _panel(axes.flat[place], dataset, learners, own)
    hide_unused(axes, len(datasets))
    labels = [short(learner_label(name, results[0].kind)) for name in learners]
    axes[0, 0].set_yticks(range(len(learners)), labels)
    axes[0, 0].invert_yaxis()
    figure.supxlabel(measure, fontsize=8, color=INK)
    return figure


def _panel(axes: Axes, dataset: str, learners: Sequence[str], results: dict[str, Result]) -> None:
    axes.set_title(wrapped(dataset_label(dataset)))
    axes.grid(axis="x")
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    axes.tick_params(axis="y", length=0)
    shown = [results[name].on_target if name in results else None for name in learners]
    ours = [(k, one.ours) for k, one in enumerate(shown) if one and one.ours]
    printed = [(k, one.paper) for k, one in enumerate(shown) if one and one.paper]
    places, means = [k for k, _ in ours], [value.mean for _, value in ours]
    axes.barh(places, means, height=0.72, color=[look(learners[k]).colour for k in places])
    axes.errorbar(
        means, places, xerr=[value.std for _, value in ours], fmt="none", ecolor=INK,
        elinewidth=0.9, capsize=1.5, capthick=0.9,
    )  # fmt: skip
    if printed:  # an empty line would confuse the layout
        axes.plot(
            [value.mean for _, value in printed], [k for k, _ in printed], "D", markersize=3,
            markerfacecolor="white", markeredgecolor=INK, markeredgewidth=0.7, clip_on=False,
            zorder=5,
        )  # fmt: skip
    for k, one in enumerate(shown):
        text = f"{one.ours.mean:.2f}" if one and one.ours else "–"
        axes.text(
            1.04, k, text, transform=axes.get_yaxis_transform(), va="center_baseline",
            fontsize=SMALL - 1, fontweight="bold" if one and one.best else "normal",
        )  # fmt: skip
