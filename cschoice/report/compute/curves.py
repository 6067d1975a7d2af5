"""Curves: the mean over folds, with its deviation, for every learner of a panel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets import DATASETS
from cschoice.report.compute.inputs import Inputs, kinds_of
from cschoice.report.compute.labels import (
    dataset_label,
    datasets_in_order,
    learner_label,
    learners_in_order,
    metric_label,
)
from cschoice.report.compute.scores import Result
from cschoice.runs.records import JobName
from cschoice.tasks import Kind

if TYPE_CHECKING:
    import pandas as pd

_MOST_POINTS = 200  # more cannot be told apart on paper
_CPU_TIME = "cpu-seconds"
_AXES = {"n_objects": "objects in a task", "epoch": "epoch", _CPU_TIME: "CPU seconds"}

Points = tuple[NDArray[np.float64], NDArray[np.float64]]  # x, y


@dataclass(frozen=True, eq=False)
class MeanCurve:
    """One learner: y over x, the mean over folds."""

    learner: str
    label: str
    x: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    n_folds: int
    stale: bool = False  # whether any fold is of another configuration


@dataclass(frozen=True, eq=False)
class Panel:
    """The curves of one dataset."""

    title: str
    curves: tuple[MeanCurve, ...]
    mark: float | None = None  # a place on the x-axis to point at: the size trained on


@dataclass(frozen=True, eq=False)
class Graph:
    """Panels with the same axes: a figure."""

    experiment: str
    axis: str  # as in the table of curves, or "trial"
    metric: str
    x_label: str
    y_label: str
    panels: tuple[Panel, ...]

    @property
    def over_time(self) -> bool:
        """Tell whether the axis is CPU time, on which a training that is over keeps its value."""
        return self.axis == _CPU_TIME


def curves(inputs: Inputs) -> list[Graph]:
    """Return a graph for every experiment that has curves."""
    found = []
    kinds = kinds_of(inputs.every_fold)
    for names, table in _marked(inputs).groupby(["experiment", "axis", "metric"]):
        experiment, axis, metric = map(str, names)
        panels = [
            panel
            for dataset in datasets_in_order(table["dataset"])
            for panel in _panels(dataset, table[table["dataset"] == dataset], kinds.get(dataset))
        ]
        x_label = _AXES.get(axis, axis)
        y_label = metric_label(metric)
        found.append(Graph(experiment, axis, metric, x_label, y_label, tuple(panels)))
    return found


def _marked(inputs: Inputs) -> pd.DataFrame:
    """Return the table of curves, with a column that says which are stale."""
    job = list(JobName._fields)
    stale = inputs.every_fold.set_index(job)["stale"]
    return inputs.curves.join(stale, on=job)


def tuning(inputs: Inputs, results: Sequence[Result]) -> list[Graph]:
    """Return the best loss so far over the number of trials: one graph per kind of choice."""
    kinds = {result.dataset: result.kind for result in results}
    by_dataset: dict[str, dict[str, list[Points]]] = {}
    for (dataset, learner, _), table in inputs.trials.groupby(["dataset", "learner", "fold"]):
        points = best_so_far(
            table["rung"].tolist(), table["state"].tolist(), table["loss"].tolist()
        )
        if dataset in kinds and len(points[0]) > 1:
            by_dataset.setdefault(str(dataset), {}).setdefault(str(learner), []).append(points)
    graphs = []
    for kind, label in ((Kind.SINGLETON, "1 − accuracy"), (Kind.SUBSET, "1 − F₁")):
        panels = tuple(
            Panel(dataset_label(name), tuple(_mean_curves(by_dataset[name], kind)))
            for name in datasets_in_order(by_dataset)
            if kinds[name] is kind
        )
        if panels:
            y_label = f"{label}, best so far"
            graphs.append(Graph(f"tuning-{kind}", "trial", "loss", "trials", y_label, panels))
    return graphs


def best_so_far(rungs: Sequence[str], states: Sequence[str], losses: Sequence[Any]) -> Points:
    """Return the smallest loss after each trial, of the rung that the first ran on.

    Losses of a screening and of the full fits that confirm it cannot be compared, nor can that of
    a hopeless trial, which ended after one inner split.

    >>> states = ["complete", "failed", "hopeless", "complete"]
    >>> best_so_far(["screen"] * 4, states, [0.5, None, 0.1, 0.2])[1]
    array([0.5, 0.5, 0.5, 0.2])
    >>> best_so_far(["screen", "screen", "full", "full"], ["complete"] * 4, [0.5, 0.4, 0.3, 0.2])[1]
    array([0.5, 0.4])
    """
    values = np.array(
        [
            float(loss) if state == "complete" else np.inf
            for one, state, loss in zip(rungs, states, losses, strict=True)
            if one == rungs[0]
        ]
    )
    best = np.fmin.accumulate(values)
    known = np.isfinite(best)
    return np.arange(1, len(best) + 1)[known].astype(float), best[known]


def _panels(dataset: str, table: pd.DataFrame, kind: Kind | None) -> Iterator[Panel]:
    """Put learners together that ran equally long, as the paper's figure of convergence does."""
    by_learner: dict[str, list[Points]] = {}
    stale = set(table.loc[table["stale"].eq(True), "learner"])
    for (learner, _), one in table.groupby(["learner", "fold"]):
        ordered = one.sort_values("x", kind="stable")
        points = ordered["x"].to_numpy(float), ordered["value"].to_numpy(float)
        by_learner.setdefault(str(learner), []).append(points)
    lengths = {name: max(x[-1] for x, _ in folds) for name, folds in by_learner.items()}
    on_epochs, over_time = (set(table["axis"]) == {axis} for axis in ("epoch", _CPU_TIME))
    budgets = sorted(set(lengths.values())) if on_epochs else [None]
    for length in budgets:
        chosen = {
            name: folds
            for name, folds in by_learner.items()
            if length is None or lengths[name] == length
        }
        title = dataset_label(dataset) + (f", {length:.0f} epochs" if len(budgets) > 1 else "")
        found = _mean_curves(chosen, kind, over_time)
        curves = tuple(replace(one, stale=one.learner in stale) for one in found)
        yield Panel(title, curves, _trained_on(dataset, table))


def _trained_on(dataset: str, table: pd.DataFrame) -> float | None:
    """Return the number of objects in training tasks, where the axis is the number of objects."""
    info = DATASETS.written.get(dataset)
    if info is None or set(table["axis"]) != {"n_objects"}:
        return None
    return info.n_objects if isinstance(info.n_objects, int) else None


def _mean_curves(
    by_learner: Mapping[str, Sequence[Points]], kind: Kind | None, keeps: bool = False
) -> Iterator[MeanCurve]:
    """Return the mean over folds for each learner; a fold that ``keeps`` its last value has it."""
    for learner in learners_in_order(by_learner):
        folds = by_learner[learner]
        grid = _common_grid([x for x, _ in folds], keeps)
        values = np.array([np.interp(grid, x, y) for x, y in folds])
        std = values.std(axis=0, ddof=1) if len(folds) > 1 else np.zeros(len(grid))
        label = learner_label(learner, kind)
        yield MeanCurve(learner, label, grid, values.mean(axis=0), std, len(folds))


def _common_grid(xs: Sequence[NDArray[np.float64]], keeps: bool) -> NDArray[np.float64]:
    """Return the points of the axis at which all folds have a value, a limited number of them."""
    every = np.unique(np.concatenate(xs))
    first, last = max(x[0] for x in xs), (max if keeps else min)(x[-1] for x in xs)
    grid = every[(every >= first) & (every <= last)]
    if not len(grid):
        grid = every[-1:]
    chosen = np.unique(np.linspace(0, len(grid) - 1, min(len(grid), _MOST_POINTS)).round())
    return np.asarray(grid[chosen.astype(int)])
