"""The gain of context: predictions of held-out choices with and without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cschoice.evaluation.metrics import METRICS, headline
from cschoice.explanations.partners import pair_of
from cschoice.learners import LEARNERS, name_of
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.learner import Learner
from cschoice.models.cross_validation import FoldFit, fits
from cschoice.tasks import ChoiceTasks

Scores = Mapping[str, float | None]
Progress = Callable[[str], object]


@dataclass(frozen=True)
class Gain:
    """The scores of two learners on the same folds, by metric; one sees the other objects."""

    without: str  # the label of the learner
    with_: str
    scores_without: Mapping[str, Sequence[float | None]]
    scores_with: Mapping[str, Sequence[float | None]]
    test_to_train: float

    @property
    def metrics(self) -> list[str]:
        """The metrics of both."""
        return [name for name in self.scores_with if name in self.scores_without]

    def differences(self, metric: str) -> list[float]:
        """Return how much better the one with context is on each fold where both are defined."""
        sign = 1 if METRICS[metric].higher_is_better else -1
        both = zip(self.scores_with[metric], self.scores_without[metric], strict=True)
        return [sign * (a - b) for a, b in both if a is not None and b is not None]


@dataclass(frozen=True)
class Refits:
    """Copies of the model fitted without each fold, and the partner's scores on these folds."""

    folds: tuple[FoldFit, ...]
    gain: Gain | None
    others: tuple[FoldFit, ...] = ()  # fitted alike from another start, where that matters

    @property
    def copies(self) -> list[list[Learner]]:
        """The fitted copies by fold."""
        rows = (self.folds, self.others) if self.others else (self.folds,)
        return [[one.learner for one in row] for row in zip(*rows, strict=True)]


def refit(
    learner: Learner, tasks: ChoiceTasks, folds: int, seed: int, progress: Progress
) -> Refits:
    """Fit the learner and its partner without each fold."""
    own = _fitted(learner, tasks, folds, seed, progress)
    starts_matter = hasattr(learner, "network_")  # a second one shows how much
    others = _fitted(learner, tasks, folds, seed, progress, start=1) if starts_matter else []
    pair = pair_of(learner, tasks.kind)
    if pair is None:
        return Refits(tuple(own), None, tuple(others))
    other = pair.without if pair.with_ is learner else pair.with_
    beside = _fitted(other, tasks, folds, seed, progress)
    scores = {id(learner): _columns(own), id(other): _columns(beside)}
    gain = Gain(
        label_of(pair.without),
        label_of(pair.with_),
        scores[id(pair.without)],
        scores[id(pair.with_)],
        1 / (folds - 1),
    )
    return Refits(tuple(own), gain, tuple(others))


def _fitted(
    learner: Learner,
    tasks: ChoiceTasks,
    folds: int,
    seed: int,
    progress: Progress,
    start: int = 0,
) -> list[FoldFit]:
    """Fit a copy without each fold, and tell which one it is."""
    waiting = fits(learner, tasks, folds, seed=seed, start=start)
    again = ", from another start" if start else ""
    found = []
    for fold in range(folds):
        part = f"{fold + 1} of {folds}"
        progress(f"fitting {label_of(learner)} without a part of the data{again}: {part}")
        found.append(next(waiting))
    return found


def _columns(found: Sequence[FoldFit]) -> dict[str, list[float | None]]:
    rows = [one.scores() for one in found]
    return {name: [row[name] for row in rows] for name in headline(rows[0])}


def label_of(learner: Learner) -> str:
    """Return the label of a learner as reports write it."""
    name = learner.learner if isinstance(learner, MeanEnsemble) else name_of(learner)
    return LEARNERS[name].label if name in LEARNERS else name
