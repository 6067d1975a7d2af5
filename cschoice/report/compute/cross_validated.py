"""The scores that a study has for one learner on one dataset, with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cschoice.errors import CschoiceError
from cschoice.report.compute.inputs import STUDY, load
from cschoice.report.compute.paper import Score
from cschoice.report.compute.scores import all_results
from cschoice.report.compute.statistics import corrected_t_test
from cschoice.report.compute.winners import ratio_tested
from cschoice.runs.records import Job
from cschoice.study.settings import Study

Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimated:
    """A score over the outer folds, with the interval of its mean."""

    metric: str
    score: Score
    interval: Interval | None  # with 95 % confidence; None for a single fold


def cross_validated(
    results: Path, job: Job, study: Study, experiment: str = STUDY
) -> list[Estimated]:
    """Return the scores of a job's learner on its dataset; none where the study has none.

    Stale results are none: they are of other settings or other data.
    """
    try:
        inputs = load(results, job.profile, experiment, study)
    except CschoiceError:  # there are no tables, or they cannot be read
        return []
    for result in all_results(inputs, against_paper=False):
        if (result.dataset, result.learner) == (job.dataset, job.learner) and not result.n_stale:
            ratio = ratio_tested(job.dataset, len(result.folds))
            return [
                Estimated(name, one.ours, _interval(result.folds.values(), name, ratio))
                for name, one in result.comparisons.items()
                if one.ours
            ]
    return []


def _interval(folds: Iterable[Mapping[str, float]], metric: str, ratio: float) -> Interval | None:
    found = corrected_t_test([values[metric] for values in folds if metric in values], ratio)
    return None if found is None else (found.low, found.high)
