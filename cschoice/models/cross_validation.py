"""Cross-validation of a learner on one's own tasks."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cschoice.errors import InvalidParameter
from cschoice.evaluation.decisions import Decision
from cschoice.evaluation.metrics import METRICS
from cschoice.evaluation.scores import evaluate
from cschoice.learners.learner import Learner
from cschoice.seeding import seed_for
from cschoice.space import Whole
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.given import check_tasks
from cschoice.tasks.splits import fold_numbers

if TYPE_CHECKING:
    import pandas as pd

OnFold = Callable[[int, Mapping[str, float | None]], object]  # fold and scores


@dataclass(frozen=True, repr=False)
class CrossValidation:
    """The scores of a learner on each fold; printed, their mean and standard deviation."""

    learner: str
    tasks: str
    scores: Mapping[str, Sequence[float | None]]  # by metric; None where it is not defined

    @property
    def n_folds(self) -> int:
        """Return the number of folds."""
        return len(next(iter(self.scores.values())))

    def mean(self, metric: str) -> float:
        """Return the mean of a metric over the folds where it is defined; NaN if there is none."""
        known = self._known(metric)
        return statistics.fmean(known) if known else float("nan")

    def std(self, metric: str) -> float:
        """Return the standard deviation of a metric over folds; NaN for fewer than two."""
        known = self._known(metric)
        return statistics.stdev(known) if len(known) > 1 else float("nan")

    def frame(self) -> pd.DataFrame:
        """Return the scores as a data frame: a row per fold, a column per metric."""
        import pandas as pd

        return pd.DataFrame(dict(self.scores), dtype=float).rename_axis("fold")

    def __repr__(self) -> str:
        width = max(len(name) for name in self.scores)
        lines = [f"{self.learner}, {self.n_folds} folds of {self.tasks}"]
        lines += [
            f"{name:<{width}}  {_written(self.mean(name), self.std(name))}" for name in self.scores
        ]
        return "\n".join(lines)

    def _known(self, metric: str) -> list[float]:
        return [value for value in self.scores[metric] if value is not None]


@dataclass(frozen=True)
class FoldFit:
    """A copy of a learner that was fitted without one fold, and the tasks of that fold."""

    learner: Learner
    test: ChoiceTasks

    def scores(self) -> dict[str, float | None]:
        """Return every metric of the tasks held out."""
        rule = self.learner.preparation_.rule
        utilities = self.learner.utilities(self.test)
        return evaluate(self.test, utilities, rule, self.learner.probabilistic)


def fits(
    learner: Learner,
    tasks: ChoiceTasks,
    folds: int,
    *,
    seed: int = 0,
    device: str = "cpu",
    decision: Decision = "threshold",
    start: int = 0,
) -> Iterator[FoldFit]:
    """Fit a copy of the learner without each fold in turn; a seed deals the same folds to all.

    Another ``start`` fits on the same folds with other random numbers.
    """
    from sklearn.base import clone

    if problem := Whole(2).problem("folds", folds):
        raise InvalidParameter(problem)
    tested = fold_numbers(check_tasks(tasks), folds, seed_for(seed, "folds"))
    for fold in range(folds):
        fresh: Learner = clone(learner)
        again = {"start": start} if start else {}
        fit_seed = seed_for(seed, "fit", fold=fold, **again)
        fresh.fit(tasks[tested != fold], seed=fit_seed, device=device, decision=decision)
        yield FoldFit(fresh, tasks[tested == fold])


def cross_validate(
    learner: Learner,
    tasks: ChoiceTasks,
    folds: int = 5,
    *,
    seed: int = 0,
    device: str = "cpu",
    decision: Decision = "threshold",
    on_fold: OnFold | None = None,
) -> CrossValidation:
    """Fit and test a learner on every fold, by every metric of the kind of choice.

    Where it is known who chose, nobody's choices are both learned from and tested on. For subset
    choice, each fit tunes its threshold, or what the other ``decision`` needs, on tasks held out
    from its own. The learner is not changed; ``on_fold`` is told the scores of each fold when it
    is done.
    """
    if not isinstance(learner, Learner):
        raise InvalidParameter(f"cross-validate a learner such as Feta(), got {learner!r}")
    rows = []
    copies = fits(learner, tasks, folds, seed=seed, device=device, decision=decision)
    for fold, one in enumerate(copies):
        rows.append(one.scores())
        if on_fold is not None:
            on_fold(fold, rows[-1])
    shown = sorted(rows[0], key=lambda name: not METRICS[name].shown)
    return CrossValidation(
        repr(learner), repr(tasks), {name: [row[name] for row in rows] for name in shown}
    )


def _written(mean: float, std: float) -> str:
    """Write a mean with its deviation.

    >>> _written(0.75, 0.025), _written(float("nan"), float("nan"))
    ('0.750 ± 0.025', '–')
    """
    if mean != mean:
        return "–"
    return f"{mean:.3f}" if std != std else f"{mean:.3f} ± {std:.3f}"
