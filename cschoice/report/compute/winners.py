"""The winner on each dataset, and whether the win is more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from cschoice.datasets import DATASETS
from cschoice.evaluation.metrics import METRICS
from cschoice.report.compute.labels import learner_label
from cschoice.report.compute.scores import Result
from cschoice.report.compute.statistics import LEVEL, Difference, corrected_t_test, holm
from cschoice.tasks import Kind

NO_DIFFERENCE = "no difference detectable"
MORE_THAN_NOISE = "more than noise"


@dataclass(frozen=True)
class Pair:
    """Two learners on one dataset; ``adjusted`` is the p-value for the number of comparisons."""

    better: str
    other: str
    difference: Difference | None  # None: they share fewer than two folds
    adjusted: float = 1.0

    @property
    def differs(self) -> bool:
        """Tell whether the difference is more than noise on the folds that both have."""
        found = self.difference
        return found is not None and found.mean > 0 and self.adjusted < LEVEL

    @property
    def verdict(self) -> str:
        """Return the verdict in words: more than noise, no difference, or too few folds."""
        if self.difference is None:
            return "too few folds"
        return MORE_THAN_NOISE if self.differs else NO_DIFFERENCE


@dataclass(frozen=True)
class Contest:
    """All learners on one dataset under its target measure."""

    dataset: str
    kind: Kind
    metric: str
    pairs: tuple[Pair, ...]  # the winner against each other learner, the nearest first
    winner: str

    @property
    def equals(self) -> list[str]:
        """Return the learners that cannot be told from the winner."""
        return [pair.other for pair in self.pairs if pair.difference and not pair.differs]

    @property
    def verdict(self) -> str:
        """Return the verdict on the win in words, with the learners that may be as good."""
        if not self.pairs:
            return "the only learner with results"
        unjudged = [pair.other for pair in self.pairs if not pair.difference]
        if len(unjudged) == len(self.pairs):
            return "too few folds to tell a difference from noise"
        parts = [f"{NO_DIFFERENCE} to {self._names(self.equals)}"] if self.equals else []
        if unjudged:
            parts.append(f"too few folds of {self._names(unjudged)} to judge")
        return "; ".join(parts) or MORE_THAN_NOISE

    def _names(self, learners: Sequence[str]) -> str:
        return ", ".join(learner_label(name, self.kind) for name in learners)


def contests(results: Sequence[Result]) -> list[Contest]:
    """Return the contest of every dataset that has results."""
    by_dataset: dict[str, list[Result]] = {}
    for result in results:
        if result.on_target.ours:
            by_dataset.setdefault(result.dataset, []).append(result)
    return [_contest(found) for found in by_dataset.values()]


def pairs(results: Sequence[Result]) -> list[tuple[str, Pair]]:
    """Compare all learners with each other on every dataset; adjusted within the dataset."""
    found = []
    for contest in contests(results):
        own = [
            result
            for result in results
            if result.dataset == contest.dataset and _mean(result) is not None
        ]
        compared = [_pair(*sorted(two, key=_goodness)) for two in combinations(own, 2)]
        found += [(contest.dataset, pair) for pair in _adjusted(compared)]
    return found


def _contest(results: Sequence[Result]) -> Contest:
    winner, *others = sorted(results, key=_goodness)
    compared = _adjusted([_pair(winner, other) for other in others])
    return Contest(
        winner.dataset, winner.kind, winner.target, tuple(compared), winner=winner.learner
    )


def _adjusted(compared: Sequence[Pair]) -> list[Pair]:
    tested = [pair for pair in compared if pair.difference]
    ps = iter(holm([pair.difference.p for pair in tested if pair.difference]))
    return [
        Pair(pair.better, pair.other, pair.difference, next(ps)) if pair.difference else pair
        for pair in compared
    ]


def _pair(better: Result, other: Result) -> Pair:
    """Compare two learners on the folds that both have; above 0 the first is better."""
    name = better.target
    sign = 1 if METRICS[name].higher_is_better else -1
    shared = [
        fold
        for fold in sorted(set(better.folds) & set(other.folds))
        if name in better.folds[fold] and name in other.folds[fold]
    ]
    differences = [sign * (better.folds[k][name] - other.folds[k][name]) for k in shared]
    n_folds = max([*better.folds, *other.folds]) + 1
    ratio = ratio_tested(better.dataset, n_folds)
    return Pair(better.learner, other.learner, corrected_t_test(differences, ratio))


def ratio_tested(dataset: str, n_folds: int) -> float:
    """Return the number of test tasks of a fold per training task, 0 if folds share no tasks.

    >>> ratio_tested("medoid", 5), ratio_tested("letor-mq2008", 5)
    (0.0, 0.25)
    """
    info = DATASETS.written.get(dataset)
    known = info.test_to_train if info else None
    return 1 / max(1, n_folds - 1) if known is None else known


def _mean(result: Result) -> float | None:
    comparison = result.on_target
    return comparison.ours.mean if comparison.ours else None


def _goodness(result: Result) -> float:
    """Return a sort key that puts better learners first; equals keep the paper's order."""
    mean = _mean(result)
    assert mean is not None
    return -mean if METRICS[result.target].higher_is_better else mean
