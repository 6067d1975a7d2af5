"""The jobs behind the results as the study's file describes them now: which results are stale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cschoice.runs.records import Job, JobName
from cschoice.runs.store import ResultStore

if TYPE_CHECKING:
    import pandas as pd

    from cschoice.study.settings import Study


@dataclass(frozen=True)
class Planned:
    """The present job of every name that the study knows."""

    jobs: Mapping[JobName, Job]

    def stale(self, folds: pd.DataFrame) -> list[bool]:
        """Tell of every row whether its job is planned otherwise now, or not at all any more."""
        keys = {name: job.key for name, job in self.jobs.items()}
        pairs = zip(_names(folds), folds["key"], strict=True)
        return [keys.get(name) != key for name, key in pairs]


def planned(study: Study, results: Path, folds: pd.DataFrame, trials: pd.DataFrame) -> Planned:
    """Plan the jobs of these rows again; numbers of trials chosen for a run are no change."""
    from cschoice.study.plan import plan_of

    names, store = _names(folds), ResultStore(results)
    keys = dict(zip(names, folds["key"], strict=True))
    jobs: dict[JobName, Job] = {}
    for number in (None, *_numbers_of_trials(trials)):
        left = [name for name in names if name not in jobs or jobs[name].key != keys[name]]
        for job in plan_of(study, store, left, number):
            if number is None or job.key == keys.get(job.name):
                jobs[job.name] = job
    return Planned({name: job for name, job in jobs.items() if name in keys})


def _names(folds: pd.DataFrame) -> list[JobName]:
    columns = (folds[name] for name in JobName._fields)
    return [
        JobName(profile, experiment, dataset, learner, int(fold))
        for profile, experiment, dataset, learner, fold in zip(*columns, strict=True)
    ]


def _numbers_of_trials(trials: pd.DataFrame) -> list[int]:
    """Return the numbers of trials that jobs had; full fits that confirm a screen are none."""
    job = ["experiment", "dataset", "learner", "fold"]
    first = trials.groupby(job)["rung"].transform("first")
    return sorted(set(trials[trials["rung"] == first].groupby(job).size().tolist()))
