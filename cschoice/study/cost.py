"""The cost of jobs: as alike jobs had, else a small fit scaled up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from cschoice.datasets import make_dataset
from cschoice.errors import DataUnavailable
from cschoice.learners import make_learner
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Job, JobName, State
from cschoice.runs.store import ResultStore

_PROBE_TASKS = 64
_ENOUGH = 20  # finished jobs, to know what one takes

Cell = tuple[str, str]


def cpu_seconds(jobs: Iterable[Job], store: ResultStore) -> dict[Cell, float]:
    """Return the expected CPU seconds per job for each dataset and learner."""
    names: dict[Cell, list[JobName]] = {}
    for name in store.names():
        names.setdefault((name.dataset, name.learner), []).append(name)
    seconds: dict[Cell, float] = {}
    for job in jobs:
        cell = (job.dataset, job.learner)
        if cell not in seconds:
            taken = list(islice(_taken(job, names.get(cell, ()), store), _ENOUGH))
            seconds[cell] = statistics.median(taken) if taken else _probe(job)
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


def _probe(job: Job) -> float:
    """Fit the defaults to a few tasks for one epoch, and scale that to the whole job."""
    try:
        source = make_dataset(job.dataset, **job.dataset_parameters)
        train, _ = source.fold(job.fold, job.seed)
        learner = make_learner(job.registered, **job.learner_parameters)
        few = train[: min(_PROBE_TASKS, len(train))]
        work = protocol_of(job).work(job, learner, len(train))
        if hasattr(learner, "epochs"):
            learner.set_params(epochs=1)
        learner.learn(few)  # the first time also loads what is needed
        started = time.process_time()
        learner.learn(few)
        one = time.process_time() - started
    except DataUnavailable:  # it will be skipped
        return 0.0
    return one / len(few) * work
