"""Rankings of learners over many datasets: mean ranks, and whether they are more than chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from cschoice.evaluation.metrics import METRICS
from cschoice.report.compute.labels import learner_label, learners_in_order
from cschoice.report.compute.scores import Result
from cschoice.report.compute.statistics import Friedman, friedman, groups
from cschoice.tasks import Kind

_FEWEST_DATASETS = _FEWEST_LEARNERS = 3

Scores = Mapping[str, Mapping[str, float]]  # learner, dataset; larger is better


@dataclass(frozen=True)
class Ranking:
    """Learners that all have results on the same datasets, the best first."""

    name: str  # singleton, subset, all
    learners: tuple[str, ...]
    labels: tuple[str, ...]
    datasets: tuple[str, ...]
    test: Friedman  # its ranks are in the order of the learners
    n_best: tuple[int, ...]  # number of datasets on which each is best, ties included
    median_gap: tuple[float, ...]  # to the best learner of a dataset, in units of the measure
    left_out: tuple[str, ...]  # labels of learners without results on all these datasets

    @property
    def groups(self) -> list[tuple[int, int]]:
        """Return the runs of learners that cannot be told apart, as (first, last)."""
        if not self.test.differs:
            return [(0, len(self.learners) - 1)]
        return groups(self.test.ranks, self.test.critical_difference)


def rankings(results: Sequence[Result]) -> list[Ranking]:
    """Rank the learners of each kind of choice, and of both together where both exist."""
    found = [
        _ranking(str(kind), [result for result in results if result.kind is kind], kind)
        for kind in Kind
    ]
    if all(found):
        found.append(_ranking("all", results, None))
    return [ranking for ranking in found if ranking]


def _ranking(name: str, results: Sequence[Result], kind: Kind | None) -> Ranking | None:
    scores = _scores(results)
    learners, datasets = _complete(scores)
    if len(learners) < _FEWEST_LEARNERS or len(datasets) < _FEWEST_DATASETS:
        return None
    table = np.array([[scores[one][dataset] for one in learners] for dataset in datasets])
    order = np.argsort(friedman(table).ranks, kind="stable")
    table, learners = table[:, order], [learners[k] for k in order]
    gap = table.max(axis=1, keepdims=True) - table
    left = [one for one in learners_in_order(scores) if one not in learners]
    return Ranking(
        name,
        tuple(learners),
        tuple(_label(one, kind) for one in learners),
        tuple(datasets),
        friedman(table),
        tuple(int(n) for n in (gap == 0).sum(axis=0)),
        tuple(float(one) for one in np.median(gap, axis=0)),
        tuple(_label(one, kind) for one in left),
    )


def _label(learner: str, kind: Kind | None) -> str:
    """Return the label of a learner; both labels if the kinds of choice have different ones."""
    return "/".join(
        dict.fromkeys(learner_label(learner, one) for one in ([kind] if kind else Kind))
    )


def _scores(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    scores: dict[str, dict[str, float]] = {}
    for result in results:
        comparison = result.on_target
        if comparison.ours:
            sign = 1 if METRICS[result.target].higher_is_better else -1
            scores.setdefault(result.learner, {})[result.dataset] = sign * comparison.ours.mean
    return scores


def _complete(scores: Scores) -> tuple[list[str], list[str]]:
    """Return the largest set of learners and datasets that has a result for each combination.

    Learners join in the order of how many datasets they have; each may cost some datasets.
    """
    by_coverage = sorted(learners_in_order(scores), key=lambda one: -len(scores[one]))
    best: tuple[list[str], list[str]] = ([], [])
    for n in range(_FEWEST_LEARNERS, len(by_coverage) + 1):
        learners = by_coverage[:n]
        datasets = [
            name for name in scores[learners[0]] if all(name in scores[one] for one in learners)
        ]
        enough = len(datasets) >= _FEWEST_DATASETS
        if enough and n * len(datasets) >= len(best[0]) * len(best[1]):
            best = learners, datasets
    return learners_in_order(best[0]), best[1]
