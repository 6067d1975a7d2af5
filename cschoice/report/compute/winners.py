"""The winner on each dataset, and whether the win is more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from cschoice.datasets import DATASETS
from cschoice.evaluation.metrics import METRICS
from cschoice.report.compute.agreement import MARGIN
from cschoice.report.compute.labels import is_the_papers, learner_label
from cschoice.report.compute.scores import Result
from cschoice.report.compute.statistics import LEVEL, Difference, corrected_t_test
from cschoice.tasks import Kind

NO_DIFFERENCE = "no difference detectable"
MORE_THAN_NOISE = "more than noise"
LOG_LOSS = "log-loss"


@dataclass(frozen=True)
class Pair:
    """Two learners on one dataset; the first has the better mean."""

    better: str
    other: str
    difference: Difference | None  # None: they share fewer than two folds

    @property
    def differs(self) -> bool:
        """Tell whether the difference is more than noise on the folds that both have."""
        found = self.difference
        return found is not None and found.mean > 0 and found.adjusted < LEVEL

    @property
    def verdict(self) -> str:
        """Return the verdict in words: more than noise, no difference, or too few folds."""
        if self.difference is None:
            return "too few folds"
        return MORE_THAN_NOISE if self.differs else NO_DIFFERENCE


@dataclass(frozen=True)
class Contest:
    """All learners with a score on one dataset under one measure, each against each other.

    The winner was found on the same folds that it is compared on, so its comparisons are
    adjusted for all pairs of learners, as if each had been looked at.
    """

    dataset: str
    kind: Kind
    metric: str
    every_pair: tuple[Pair, ...]
    winner: str
    papers_best: str | None  # the best of the paper's own learners
    stale: bool = False  # whether any result is of another configuration

    @property
    def pairs(self) -> list[Pair]:
        """Return the winner's comparisons, with the nearest learner first."""
        return [pair for pair in self.every_pair if pair.better == self.winner]

    @property
    def n_comparisons(self) -> int:
        """Return the number of pairs that p-values and intervals are adjusted for."""
        return sum(pair.difference is not None for pair in self.every_pair)

    @property
    def equals(self) -> list[str]:
        """Return the learners that cannot be told from the winner."""
        return [pair.other for pair in self.pairs if pair.difference and not pair.differs]

    @property
    def ties(self) -> list[str]:
        """Return those of the equals whose means are within the margin of the winner's."""
        means = {pair.other: pair.difference.mean for pair in self.pairs if pair.difference}
        return [name for name in self.equals if means[name] <= MARGIN]

    @property
    def verdict(self) -> str:
        """Return the verdict on the win in words, with the learners that share the first place."""
        if not self.pairs:
            return "the only learner with results"
        unjudged = [pair.other for pair in self.pairs if not pair.difference]
        if len(unjudged) == len(self.pairs):
            return "too few folds to tell a difference from noise"
        ties = self.ties
        parts = [f"a tie with {self._names(ties)}"] if ties else []
        if others := [name for name in self.equals if name not in ties]:
            parts.append(f"{NO_DIFFERENCE} to {self._names(others)}")
        if unjudged:
            parts.append(f"too few folds of {self._names(unjudged)} to judge")
        return "; ".join(parts) or MORE_THAN_NOISE

    def _names(self, learners: Sequence[str]) -> str:
        return ", ".join(learner_label(name, self.kind) for name in learners)


def contests(results: Sequence[Result], metric: str | None = None) -> list[Contest]:
    """Return the contest of every dataset that has scores; without a metric, on the target."""
    by_dataset: dict[str, list[Result]] = {}
    for result in results:
        name = metric or result.target
        if name in result.comparisons and result.comparisons[name].ours:
            by_dataset.setdefault(result.dataset, []).append(result)
    return [_contest(found, metric or found[0].target) for found in by_dataset.values()]


def _contest(results: Sequence[Result], metric: str) -> Contest:
    sign = 1 if METRICS[metric].higher_is_better else -1

    def badness(result: Result) -> float:
        """Return a sort key that puts better learners first; equals keep the paper's order."""
        score = result.comparisons[metric].ours
        assert score is not None
        return -sign * score.mean

    ordered = sorted(results, key=badness)
    found = [(*two, _differences(*two, metric)) for two in combinations(ordered, 2)]
    n_comparisons = sum(len(differences) > 1 for _, _, differences in found)
    n_folds = 1 + max((fold for result in results for fold in result.folds), default=0)
    ratio = ratio_tested(ordered[0].dataset, n_folds)
    return Contest(
        ordered[0].dataset,
        ordered[0].kind,
        metric,
        tuple(
            Pair(one.learner, other.learner, corrected_t_test(differences, ratio, n_comparisons))
            for one, other, differences in found
        ),
        winner=ordered[0].learner,
        papers_best=next((r.learner for r in ordered if is_the_papers(r.learner)), None),
        stale=any(result.n_stale for result in results),
    )


def _differences(better: Result, other: Result, metric: str) -> list[float]:
    """Return by how much the first is better on each fold that both have."""
    sign = 1 if METRICS[metric].higher_is_better else -1
    return [
        sign * (better.folds[fold][metric] - other.folds[fold][metric])
        for fold in sorted(set(better.folds) & set(other.folds))
        if metric in better.folds[fold] and metric in other.folds[fold]
    ]


def ratio_tested(dataset: str, n_folds: int) -> float:
    """Return the number of test tasks of a fold per training task, 0 if folds share no tasks.

    >>> ratio_tested("medoid", 5), ratio_tested("letor-mq2008", 5)
    (0.0, 0.25)
    """
    info = DATASETS.written.get(dataset)
    known = info.test_to_train if info else None
    return 1 / max(1, n_folds - 1) if known is None else known
