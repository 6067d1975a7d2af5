"""The figures of a report, described but not yet drawn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from cschoice.evaluation.metrics import TARGETS
from cschoice.report.compute.curves import Graph
from cschoice.report.compute.labels import metric_label
from cschoice.report.compute.summary import Summary
from cschoice.report.contents.curve_tables import curve_table
from cschoice.report.contents.table import Table
from cschoice.tasks import Kind

# The paper's figures, and ours that need more words than their axes.
_CURVES = {
    ("generalization", "n_objects", "normalized-accuracy"): (
        "generalization",
        "Normalized accuracy of learners trained on tasks of one size (dashed) and tested on "
        "others; bands are standard deviations over folds.",
    ),
    **{
        ("recipes", "cpu-seconds", metric): (
            f"recipes-{metric}",
            f"What recipes of training reach in CPU time: {metric_label(metric)} of FETA on test "
            "tasks. feta-paper: SGD, momentum and step decay, with SELU; feta-paper-relu: the "
            "same with ReLU and batch normalization; feta-modern: AdamW and one cycle.",
        )
        for metric in ("accuracy", "f1")
    },
    ("unique-stream-paper", "epoch", "accuracy"): (
        "convergence-paper",
        "The same by the paper's recipe: SGD with momentum, the hinge loss, SELU. "
        "fate-2870-long: more epochs alone; fate-2870-sgd: cross-entropy instead of the hinge "
        "loss; fate-2870-hinge: today's recipe with the hinge loss.",
    ),
    ("unique-stream", "epoch", "accuracy"): (
        "convergence",
        "Accuracy on the unique problem while training on an endless stream of fresh tasks; "
        "learners that ran equally long share a panel.",
    ),
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure to be drawn: its name, its caption, the function that draws it and its data."""

    name: str
    caption: str
    source: str  # "module:function" below cschoice.report.figures
    content: Any
    table: Table | None = None  # the same numbers

    @property
    def file(self) -> str:
        """Return the name of its files, without suffix."""
        return f"figure-{self.name}"


def bars(summary: Summary, kind: Kind) -> Picture | None:
    """Return the target measure by dataset and learner (fig:singletonchoice, fig:choicemodels)."""
    results = [result for result in summary.of_kind(kind) if result.on_target.ours]
    if not results:
        return None
    beside = " Diamonds are the paper's means." if summary.against_paper else ""
    measure = metric_label(TARGETS[kind])
    caption = (
        f"{measure} of {kind} choice by dataset and learner, with standard deviations over "
        f"folds (thin lines).{beside}"
    )
    return Picture(f"bars-{kind}", caption, "bars:draw", (measure, results))


def curves(summary: Summary) -> list[Picture]:
    """Return the curves of every experiment (fig:generalizationdc, fig:plot_unique, others)."""
    return [_curve(graph) for graph in summary.curves]


def _curve(graph: Graph) -> Picture:
    names = graph.experiment, graph.axis, graph.metric
    generic = f"{graph.y_label} by {graph.x_label} in experiment {graph.experiment}."
    name, caption = _CURVES.get(names, ("-".join(names), generic))
    # The name of a file that LaTeX can read, whatever the experiment is called.
    name = re.sub(r"[^A-Za-z0-9-]", "-", name)
    return Picture(name, caption, "curves:draw", graph, curve_table(graph, f"curve-{name}"))


def tuning(summary: Summary) -> list[Picture]:
    """Return the best loss so far over trials."""
    caption = (
        "Tuning: the smallest loss on inner splits so far by number of trials, the mean over "
        "outer folds."
    )
    return [Picture(graph.experiment, caption, "curves:draw", graph) for graph in summary.tuning]


def ranks(summary: Summary) -> list[Picture]:
    """Return a critical-difference diagram for each ranking."""
    return [
        Picture(
            f"ranks-{ranking.name}",
            f"Critical-difference diagram over {len(ranking.datasets)} datasets "
            f"({'both kinds of choice' if ranking.name == 'all' else f'{ranking.name} choice'}): "
            "mean ranks, better to the right; learners under one bar cannot be told apart.",
            "ranks:draw",
            ranking,
        )
        for ranking in summary.rankings
    ]


def tasks() -> Picture:
    """Return examples of the generated problems (fig:syntheticdatasets)."""
    caption = (
        "Examples of the generated problems; what is chosen is orange. Medoid: the point with "
        "the smallest mean distance to the others. Pareto: the points that none beats in both "
        "features. Hypervolume: the point that alone covers the largest area. Unique: the digit "
        "that occurs once (and the most frequent one, which the mode problem asks for)."
    )
    return Picture("tasks", caption, "example_tasks:draw", None)
