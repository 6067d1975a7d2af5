"""How long jobs may take: from what like jobs took, else from a small fit scaled up."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable

from cschoice.datasets import make_dataset
from cschoice.errors import CschoiceError
from cschoice.learners import make_learner
from cschoice.records import Job, State
from cschoice.store import ResultStore
from cschoice.tasks import Kind

_PROBE_TASKS = 64

Cell = tuple[str, str]


def estimate(jobs: Iterable[Job], store: ResultStore) -> dict[Cell, float]:
    """Return CPU seconds per job for each dataset and learner."""
    taken: dict[Cell, list[float]] = {}
    budgets = {}
    for job in store.jobs():
        record = store.record(job)
        if record is not None and record.state is State.DONE:
            taken.setdefault((job.dataset, job.learner), []).append(record.seconds)
            budgets[job.dataset, job.learner] = job.budget
    seconds: dict[Cell, float] = {}
    for job in jobs:
        cell = (job.dataset, job.learner)
        if cell not in seconds:
            known = cell in taken and budgets[cell] == job.budget
            seconds[cell] = statistics.median(taken[cell]) if known else _probe(job)
    return seconds


def _probe(job: Job) -> float:
    """Fit the defaults to a few tasks for one epoch, and scale that to the whole job."""
    try:
        source = make_dataset(job.dataset, **job.dataset_parameters)
        train, _ = source.fold(job.fold, job.seed)
        learner = make_learner(job.learner, **job.learner_parameters)
        few = train[: min(_PROBE_TASKS, len(train))]
        epochs = getattr(learner, "epochs", 1)
        if hasattr(learner, "epochs"):
            learner.set_params(epochs=1)
        learner.fit(few)  # the first time also loads what is needed
        started = time.process_time()
        learner.fit(few)
        one = time.process_time() - started
    except CschoiceError:  # it will be skipped or fail at once
        return 0.0
    return (
        one * epochs * len(train) / len(few) * n_fits(job, train.kind, bool(learner.search_space))
    )


def n_fits(job: Job, kind: Kind, tuned: bool) -> float:
    """Count the fits of a job, each as a share of a full one."""
    budget = job.budget
    final = 2 if kind is Kind.SUBSET and job.threshold_refit else 1
    if not tuned:
        return final
    if budget.frugal is None:
        return final + budget.n_trials * budget.n_splits
    share = budget.frugal.task_share * budget.frugal.epoch_share
    promoted = min(budget.frugal.n_promoted, budget.n_trials)
    return final + budget.n_splits * (budget.n_trials * share + promoted)
