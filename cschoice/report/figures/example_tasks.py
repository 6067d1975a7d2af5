"""One task of each generated problem, with its chosen objects."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from cschoice.datasets import make_dataset
from cschoice.report.figures.style import CHOSEN, INK, WIDTH

_FAINT = "#9A9A9A"

Task = tuple[NDArray[Any], NDArray[np.bool_]]  # points (objects, features), chosen


def draw(_: None) -> Figure:
    """Draw the problems side by side."""
    figure = Figure(figsize=(WIDTH, 2.05), layout="constrained")
    axes = figure.subplots(1, 4)
    # Seeds of tasks whose points are well apart.
    _medoid(axes[0], _task("medoid", 54, n_features=2, n_objects=7))
    _pareto(axes[1], _task("pareto2d", 137, n_objects=14))
    _hypervolume(axes[2], _task("hypervolume", 30, n_objects=5, offset=False))
    _unique(axes[3], _task("unique-onehot", 7))
    for panel, title in zip(axes, ("Medoid", "Pareto", "Hypervolume", "Unique, mode"), strict=True):
        panel.set_title(title)
        panel.set_aspect("equal", adjustable="box")
        panel.set_xticks([])
        panel.set_yticks([])
        for side in panel.spines.values():
            side.set_visible(True)
    return figure


def _task(name: str, seed: int, **parameters: Any) -> Task:
    train, _ = make_dataset(name, n_train=1, n_test=1, **parameters).fold(0, seed)
    return train.features, train.chosen


def _points(axes: Axes, task: Task) -> None:
    points, chosen = task
    axes.plot(*points[~chosen].T, "o", color=INK, markersize=4)
    axes.plot(*points[chosen].T, "o", color=CHOSEN, markersize=6)


def _limits(axes: Axes, points: NDArray[Any]) -> None:
    """Show a square around the points."""
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    half = 0.6 * np.ptp(points, axis=0).max()
    axes.set_xlim(centre[0] - half, centre[0] + half)
    axes.set_ylim(centre[1] - half, centre[1] + half)


def _medoid(axes: Axes, task: Task) -> None:
    points, chosen = task
    (medoid,) = points[chosen]
    for point in points[~chosen]:
        axes.plot(*zip(medoid, point, strict=True), color=_FAINT, linewidth=0.8)
    _points(axes, task)
    _limits(axes, points)


def _pareto(axes: Axes, task: Task) -> None:
    """Draw the front as stairs: points below it are dominated (larger is better)."""
    points, chosen = task
    _limits(axes, points)
    (left, _), (bottom, _) = axes.get_xlim(), axes.get_ylim()
    front = points[chosen][np.argsort(points[chosen][:, 0])]
    x = np.concatenate([[left], front[:, 0]])
    y = np.concatenate([front[:, 1], [bottom]])
    axes.fill_between(x, np.append(y[:-1], y[-2]), bottom, step="post", color=CHOSEN, alpha=0.12,
                      linewidth=0)  # fmt: skip
    axes.step(np.append(x, x[-1]), np.append(y[:-1], [y[-2], y[-1]]), where="post",
              color=CHOSEN, linewidth=0.8)  # fmt: skip
    _points(axes, task)


def _hypervolume(axes: Axes, task: Task) -> None:
    """Draw the area that each point alone covers, up to the reference point at the upper right."""
    points, chosen = task
    order = np.argsort(points[:, 0])
    x, y, is_chosen = points[order, 0], points[order, 1], chosen[order]
    right, upper = np.append(x[1:], 0.0), np.append(0.0, y[:-1])
    for k in range(len(x)):
        colour, alpha = (CHOSEN, 0.45) if is_chosen[k] else (_FAINT, 0.35)
        axes.fill([x[k], right[k], right[k], x[k]], [y[k], y[k], upper[k], upper[k]],
                  color=colour, alpha=alpha, linewidth=0)  # fmt: skip
    axes.plot(0, 0, "+", color=INK, markersize=7)
    _points(axes, task)
    axes.set_xlim(-1.12, 0.12)
    axes.set_ylim(-1.12, 0.12)


def _unique(axes: Axes, task: Task) -> None:
    """Write the digits; the unique one is orange, the most frequent ones are underlined."""
    points, chosen = task
    digits = points.argmax(axis=1)
    counts = np.bincount(digits)
    for k, digit in enumerate(digits):
        x, y = k % 4, -(k // 4)
        axes.text(x, y, str(digit), ha="center", va="center", fontsize=11,
                  color=CHOSEN if chosen[k] else INK,
                  fontweight="bold" if chosen[k] else "normal")  # fmt: skip
        if counts[digit] == counts.max():
            axes.plot([x - 0.22, x + 0.22], [y - 0.36, y - 0.36], color=INK, linewidth=1)
    axes.set_xlim(-0.7, 3.7)
    axes.set_ylim(-3.2, 1.2)
