"""The scores of a report: means and deviations over folds, beside the paper's."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cschoice.evaluation.metrics import METRICS, TARGETS, shown_metrics
from cschoice.report.compute import paper
from cschoice.report.compute.agreement import Agreement, agreement
from cschoice.report.compute.inputs import Inputs, kinds_of
from cschoice.report.compute.labels import (
    dataset_label,
    datasets_in_order,
    learners_in_order,
    metrics_in_order,
)
from cschoice.report.compute.paper import Key, Score
from cschoice.tasks import Kind

if TYPE_CHECKING:
    import pandas as pd

ALL_POSITIVE = "all-positive"  # the learner that predicts every object


@dataclass(frozen=True)
class Comparison:
    """One learner on one dataset under one metric, ours and the paper's."""

    ours: Score | None
    paper: Score | None = None
    best: bool = False  # the best of ours on this dataset under this metric
    trivial: bool = False  # both repeat what predicting every object scores

    @property
    def difference(self) -> float | None:
        """Return ours minus the paper's."""
        return self.ours.mean - self.paper.mean if self.ours and self.paper else None

    @property
    def verdict(self) -> str:
        """Return how ours agrees with the paper's, in words; nothing if one of them is missing.

        >>> Comparison(Score(0.90, 0.01, 5), Score(0.93, 0.01, 5)).verdict
        'below'
        """
        if self.ours is None or self.paper is None:
            return ""
        return str(Agreement.TRIVIAL if self.trivial else agreement(self.ours, self.paper))


@dataclass(frozen=True)
class Result:
    """One learner on one dataset."""

    dataset: str
    learner: str
    kind: Kind
    comparisons: Mapping[str, Comparison]
    folds: Mapping[int, Mapping[str, float]]  # measures of each finished fold
    states: Mapping[str, int]  # number of folds in each state
    reason: str  # the reason why folds have no result
    seconds: float  # CPU time of all folds
    n_trials: int  # on all folds
    n_stale: int = 0  # folds that are of another configuration than the present one
    sample: str | None = None  # which part of the paper's data they are made on, if not all

    @property
    def dataset_label(self) -> str:
        """Return the label of the dataset, with the part of it that there was."""
        label = dataset_label(self.dataset)
        return f"{label} (a sample: {self.sample})" if self.sample else label

    @property
    def target(self) -> str:
        """Return the target measure: the one that was tuned for."""
        return TARGETS[self.kind]

    @property
    def on_target(self) -> Comparison:
        """Return the target measure's comparison."""
        return self.comparisons[self.target]

    @property
    def state(self) -> str:
        """Return the number of folds in each state, in words.

        >>> Result("d", "l", Kind.SUBSET, {}, {}, {"done": 3, "failed": 2}, "", 0, 0).state
        '3 done, 2 failed'
        """
        if not self.states:
            return "not run"
        if set(self.states) == {"done"}:
            n = self.states["done"]
            text = f"{n} fold{'s' if n > 1 else ''}"
        else:
            text = ", ".join(f"{n} {state}" for state, n in sorted(self.states.items()))
        if not self.n_stale:
            return text
        every = self.n_stale == sum(self.states.values())
        return f"{text}, {'' if every else f'{self.n_stale} '}stale"


def all_results(inputs: Inputs, against_paper: bool) -> list[Result]:
    """Return all results in the paper's order; missing ones of the paper have no score."""
    if _only_curves(inputs):
        return []
    measured = _measured(inputs.metrics)
    folds: dict[tuple[str, str], pd.DataFrame] = {
        (str(dataset), str(learner)): table
        for (dataset, learner), table in inputs.folds.groupby(["dataset", "learner"])
    }
    kinds = kinds_of(inputs.folds)
    printed = paper.results() if against_paper else {}
    expected = {(dataset, learner) for dataset, learner, _ in paper.results()}
    datasets = sorted(datasets_in_order(kinds), key=lambda name: list(Kind).index(kinds[name]))
    learners = learners_in_order(learner for _, learner in folds)
    found = [
        _result(dataset, learner, kinds[dataset], folds, measured, printed)
        for dataset in datasets
        for learner in learners
        if (dataset, learner) in folds or (dataset, learner) in expected
    ]
    return _with_best(_with_trivial(found))


def _only_curves(inputs: Inputs) -> bool:
    """Tell whether this experiment has curves and no measure of a result table."""
    shown = {name for kind in Kind for name in shown_metrics(kind)}
    has_curves = inputs.experiment in set(inputs.curves["experiment"])
    return has_curves and not shown & set(inputs.metrics["metric"])


def _result(
    dataset: str,
    learner: str,
    kind: Kind,
    folds: Mapping[tuple[str, str], pd.DataFrame],
    measured: Mapping[tuple[str, str], Mapping[int, Mapping[str, float]]],
    printed: Mapping[Key, Score],
) -> Result:
    own = folds.get((dataset, learner))
    by_fold = measured.get((dataset, learner), {})
    names = {name for values in by_fold.values() for name in values} | set(shown_metrics(kind))
    sample = _sample(own)
    if sample:
        printed = {}  # another problem than the paper's
    comparisons = {
        name: Comparison(
            _score([values[name] for values in by_fold.values() if name in values]),
            printed.get((dataset, learner, name)),
        )
        for name in metrics_in_order(names)
    }
    if own is None:
        return Result(dataset, learner, kind, comparisons, {}, {}, "not run", 0.0, 0)
    states = Counter(own["state"])
    return Result(
        dataset, learner, kind, comparisons, by_fold, dict(sorted(states.items())), _reason(own),
        float(own["seconds"].sum()), int(own["n_trials"].sum()), int(own["stale"].sum()), sample,
    )  # fmt: skip


def _sample(folds: pd.DataFrame | None) -> str | None:
    """Return which part of the paper's data the folds are made on; None if on all of them."""
    told = [] if folds is None else folds["sample"].dropna().tolist()
    return str(told[0]) if told else None


def _measured(metrics: pd.DataFrame) -> dict[tuple[str, str], dict[int, dict[str, float]]]:
    found: dict[tuple[str, str], dict[int, dict[str, float]]] = {}
    columns = ("dataset", "learner", "fold", "metric", "value")
    for dataset, learner, fold, metric, value in zip(*(metrics[c] for c in columns), strict=True):
        of_cell = found.setdefault((dataset, learner), {})
        of_cell.setdefault(int(fold), {})[metric] = float(value)
    return found


def _score(values: Sequence[float]) -> Score | None:
    if not values:
        return None
    std = statistics.stdev(values) if values[1:] else 0.0
    return Score(statistics.mean(values), std, len(values))


def _reason(folds: pd.DataFrame) -> str:
    """Return the states of folds without a result, each with its reasons."""
    parts = []
    for state in sorted(set(folds["state"]) - {"done"}):
        reasons = folds.loc[folds["state"] == state, "reason"].dropna()
        told = "; ".join(dict.fromkeys(map(_in_short, reasons)))
        parts.append(f"{state}: {told}" if told else state)
    return "; ".join(parts) or "not measured"


def _in_short(reason: Any) -> str:
    r"""Return a reason without the traceback before it, which is in the job's folder.

    >>> _in_short("Traceback (most recent call last):\n  File 'x'\nValueError: too\nlarge")
    'ValueError: too large'
    """
    lines = str(reason).splitlines()
    frames = [number for number, line in enumerate(lines) if line.startswith(" ")]
    return " ".join(" ".join(lines[frames[-1] + 1 if frames else 0 :]).split())


def _with_trivial(found: Sequence[Result]) -> list[Result]:
    """Mark the comparisons in which both, ours and the paper's, repeat AllPositive's score."""
    learns_nothing = {one.dataset: one for one in found if one.learner == ALL_POSITIVE}

    def repeats(result: Result, name: str, comparison: Comparison) -> bool:
        other = learns_nothing.get(result.dataset)
        same = other.comparisons.get(name) if other else None
        if not (same and same.ours and same.paper and comparison.ours and comparison.paper):
            return False
        scores = [(comparison.ours.mean, same.ours.mean), (comparison.paper.mean, same.paper.mean)]
        return all(abs(one - another) < 1.001 * paper.ROUNDING for one, another in scores)

    return [
        replace(
            result,
            comparisons={
                name: replace(one, trivial=repeats(result, name, one))
                for name, one in result.comparisons.items()
            },
        )
        for result in found
    ]


def _with_best(found: Sequence[Result]) -> list[Result]:
    """Mark the best mean of each dataset and metric, as far as three digits tell."""
    means: dict[tuple[str, str], list[float]] = {}
    for result in found:
        for name, comparison in result.comparisons.items():
            if comparison.ours and name in METRICS:
                means.setdefault((result.dataset, name), []).append(round(comparison.ours.mean, 3))
    best = {
        (dataset, name): max(values) if METRICS[name].higher_is_better else min(values)
        for (dataset, name), values in means.items()
    }

    def marked(result: Result, name: str, comparison: Comparison) -> Comparison:
        mean = round(comparison.ours.mean, 3) if comparison.ours else None
        return replace(
            comparison, best=mean is not None and mean == best.get((result.dataset, name))
        )

    return [
        replace(
            result,
            comparisons={
                name: marked(result, name, comparison)
                for name, comparison in result.comparisons.items()
            },
        )
        for result in found
    ]
