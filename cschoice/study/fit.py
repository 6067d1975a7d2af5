"""One model of all tasks of a dataset: with the parameters of a study, or tuned as in its folds."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from cschoice.errors import CschoiceError, DataUnavailable, FileAlreadyExists, InvalidParameter
from cschoice.io.documents import to_json
from cschoice.io.files import filling
from cschoice.registry import load
from cschoice.runs.executors import OnEvent
from cschoice.runs.executors.inline import InlineExecutor
from cschoice.runs.job_files import MODEL
from cschoice.runs.protocols import PROTOCOLS
from cschoice.runs.protocols.protocol import Protocol
from cschoice.runs.records import Budget, Job, Record, State, Trial
from cschoice.runs.run import run_jobs
from cschoice.runs.store import ResultStore
from cschoice.runs.tuning import chosen_trial
from cschoice.study.plan import Selection, plan
from cschoice.study.settings import Study


def plan_fit(
    study: Study, selection: Selection, store: ResultStore, *, from_study: bool = False
) -> Job:
    """Return the job that fits one learner on all tasks of one dataset.

    It tunes as a fold of the study does, or takes the parameters that finished folds found.
    """
    folds = plan(study, selection, store)
    names = f"{', '.join(selection.learners)} and {', '.join(selection.datasets)}"
    if not folds:
        raise InvalidParameter(f"nothing to fit: the learner learns another choice, got {names}")
    if len({(job.dataset, job.learner) for job in folds}) > 1:
        raise InvalidParameter(f"name one learner and one dataset, got {names}")
    job = replace(folds[0], experiment="fit", protocol="whole", fold=0)
    if from_study:
        found = parameters_of_folds(folds, store)
        own = {**job.learner_parameters, **found}
        job = replace(job, budget=replace(job.budget, n_trials=0), learner_parameters=own)
    protocol: type[Protocol] = load(PROTOCOLS[job.protocol])
    return protocol(**job.settings).plan(job, lambda _: None)


def parameters_of_folds(jobs: Sequence[Job], store: ResultStore) -> dict[str, Any]:
    """Return the tuned parameters that most finished folds found.

    Of several that equally many found, those whose trial had the smallest loss on inner splits:
    test tasks have no say.
    """
    found: list[tuple[str, float, dict[str, Any]]] = []
    for job in jobs:
        result = store.result(job)
        if result is not None and result[0].state is State.DONE:
            record, trials = result
            loss = _loss(trials, job.budget)
            found.append((to_json(record.params), loss, dict(record.params)))
    if not found:
        name = jobs[0].name
        raise DataUnavailable(
            f"no finished folds of {name.dataset}/{name.learner} to take parameters from: run "
            f"'cschoice run --profile {name.profile} --dataset {name.dataset} --learner "
            f"{name.learner}' first, or leave out --from-study"
        )
    counts = Counter(text for text, _, _ in found)
    return min(found, key=lambda one: (-counts[one[0]], one[1]))[2]


def _loss(trials: Sequence[Trial], budget: Budget) -> float:
    trial = chosen_trial(trials, budget)
    return float("inf") if trial is None or trial.loss is None else trial.loss


@contextmanager
def fitted(
    job: Job, folder: Path, device: str, on_event: OnEvent, *, force: bool = False
) -> Iterator[tuple[Record, Path]]:
    """Yield the record of the fit and a temporary folder with its model.

    The folder appears when the block succeeds. What is done so far lies beside it, so that after
    an interruption the same fit goes on.
    """
    if folder.exists() and not force:
        raise FileAlreadyExists(f"{folder} is there already: give --force to replace it")
    store = ResultStore(folder.parent / f".{folder.name}")
    for _ in run_jobs([job], store, InlineExecutor(store, device), on_event):
        pass
    record = store.record(job)
    if record is None or record.state is not State.DONE:
        reason = record.reason if record else None
        raise CschoiceError(f"{job.dataset}/{job.learner} could not be fitted: {reason}")
    with filling(folder) as temporary:
        shutil.copytree(store.folder(job) / MODEL, temporary, dirs_exist_ok=True)
        yield record, temporary
    shutil.rmtree(store.root)
