"""The cost of jobs: as alike jobs had, else a small fit scaled up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from cschoice.datasets import make_dataset
from cschoice.errors import DataUnavailable, MissingDependency
from cschoice.learners import make_learner
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Job, JobName, State
from cschoice.runs.store import ResultStore
from cschoice.tasks import ChoiceTasks

if TYPE_CHECKING:  # it loads scikit-learn
    from cschoice.learners.learner import Learner

_PROBE_TASKS, _PROBE_EPOCHS = 512, 3
_ENOUGH = 20  # finished jobs, to know what one takes

Cell = tuple[str, str]


def cpu_seconds(jobs: Iterable[Job], store: ResultStore) -> dict[Cell, float]:
    """Return the expected CPU seconds per job for each dataset and learner."""
    names: dict[Cell, list[JobName]] = {}
    for name in store.names():
        names.setdefault((name.dataset, name.learner), []).append(name)
    seconds: dict[Cell, float] = {}
    folds = _Folds()
    for job in jobs:
        cell = (job.dataset, job.learner)
        if cell not in seconds:
            taken = list(islice(_taken(job, names.get(cell, ()), store), _ENOUGH))
            seconds[cell] = statistics.median(taken) if taken else _probe(job, folds)
    return seconds


def _taken(job: Job, names: Iterable[JobName], store: ResultStore) -> Iterator[float]:
    """Yield the CPU seconds of finished jobs of these names that are like this one."""
    for name in names:
        other = store.job(name)
        record = store.record(other) if other and _alike(job, other) else None
        if record is not None and record.state is State.DONE:
            yield record.seconds


def _alike(job: Job, other: Job) -> bool:
    """Return whether one job's time tells the other's, roughly."""
    names = (
        "protocol", "dataset", "learner", "budget", "dataset_parameters", "settings",
        "learner_parameters", "space", "threshold_refit",
    )  # fmt: skip
    return all(getattr(job, name) == getattr(other, name) for name in names)


class _Folds:
    """Beginnings of folds, made once for all learners that are asked for behind each other."""

    def __init__(self) -> None:
        self._last: tuple[object, ChoiceTasks, int] | None = None

    def few(self, job: Job) -> tuple[ChoiceTasks, int]:
        """Return a few training tasks of a job's fold, and how many there are in all."""
        fold = job.dataset, job.dataset_parameters, job.fold, job.seed
        if self._last is None or self._last[0] != fold:
            train, _ = make_dataset(job.dataset, **job.dataset_parameters).fold(job.fold, job.seed)
            self._last = fold, train[: min(_PROBE_TASKS, len(train))], len(train)
        return self._last[1:]


def _probe(job: Job, folds: _Folds) -> float:
    """Fit the defaults to a few tasks, and scale that to the whole job."""
    try:
        few, n_train = folds.few(job)
        learner = make_learner(job.registered, **job.learner_parameters)
        protocol = protocol_of(job)
        work = protocol.work(job, learner, n_train)
        return min(_per_task(learner, few) * work, protocol.most_seconds)
    except (DataUnavailable, MissingDependency):  # it will be skipped
        return 0.0


def _per_task(learner: Learner, few: ChoiceTasks) -> float:
    """Return the CPU seconds per task, and epoch if there are any; without a fit's beginning.

    A whole fit has so many epochs that its beginning hardly counts.
    """
    if not hasattr(learner, "epochs"):
        _seconds(learner, few)  # the first time also loads what is needed
        return _seconds(learner, few) / len(few)
    first, more = 1, 1 + _PROBE_EPOCHS
    _seconds(learner.set_params(epochs=first), few)
    short, long = (_seconds(learner.set_params(epochs=n), few) for n in (first, more))
    return max(0.0, long - short) / _PROBE_EPOCHS / len(few)


def _seconds(learner: Learner, tasks: ChoiceTasks) -> float:
    started = time.process_time()
    learner.learn(tasks)
    return time.process_time() - started
