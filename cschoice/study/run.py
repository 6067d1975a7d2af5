"""A run of a study: the jobs asked for, those that are left, and the tables in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cschoice.datasets import DATASETS
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.errors import CschoiceError, InvalidParameter
from cschoice.io.locks import claimed_by_living
from cschoice.runs.collect import check_tables, collect
from cschoice.runs.executors import Executor, ExecutorSettings, OnEvent, Outcome, make_executor
from cschoice.runs.records import Job, Record, State
from cschoice.runs.run import run_jobs
from cschoice.runs.store import Progress, ResultStore
from cschoice.study.config import DEFAULT_PROFILE, load, with_options
from cschoice.study.plan import Selection, plan, planned_on_disk
from cschoice.study.settings import Study

OnOutcome = Callable[[Outcome, Record | None], Any]


def _ignore(*_: object) -> None:
    """Tell nobody."""


class StudyRun:
    """A selection of a study with its jobs: those that are left, and how to run them.

    Finished jobs stay done; with ``redo`` they are left to run again, except where raw data are
    missing, because their results could not be made again.
    """

    def __init__(
        self, study: Study, selection: Selection, store: ResultStore, *, redo: bool = False
    ) -> None:
        self.study, self.selection, self.store = study, selection, store
        store.check()
        self.jobs = plan(study, selection, store)
        if not self.jobs:
            raise InvalidParameter(
                "nothing to run: these learners do not learn the kind of choice of these "
                "datasets; see 'cschoice show learners' and 'cschoice show datasets'"
            )
        self.without_data = _without_data(self.jobs) if redo else []
        self._again = [job for job in self.jobs if redo and job.dataset not in self.without_data]
        again = set(self._again)
        self.left = [
            job for job in self.jobs if job in again or store.progress(job) is not Progress.DONE
        ]
        self.n_failed = 0  # jobs of this run, also where an earlier result stays

    def open(self) -> None:
        """Prepare the results folder: from here on files are written."""
        check_tables(self.store)
        busy = [job for job in self._again if claimed_by_living(self.store.folder(job))]
        if busy:
            raise InvalidParameter(f"another run works on {busy[0].label}: stop it first")
        self.store.open()
        for job in self._again:
            self.store.redo(job)

    def outcomes(
        self, executor: Executor, on_event: OnEvent = _ignore
    ) -> Iterator[tuple[Outcome, Record | None]]:
        """Run the jobs that are left; yield each outcome with its record."""
        for outcome, record in run_jobs(self.left, self.store, executor, on_event):
            self.n_failed += record is None or record.state is State.FAILED
            yield outcome, record

    def collect(self) -> None:
        """Write the tables of everything that the study has now."""
        jobs, _ = planned_on_disk(self.study, self.store, self.jobs, self.selection.trials)
        collect(self.store, jobs)

    def counts(self) -> Counter[Progress]:
        """Return the numbers of jobs by progress, as the files tell."""
        return Counter(self.store.progress(job) for job in self.jobs)


def run_study(
    config: str | Path | None = None,
    *,
    experiment: str = "study",
    profile: str = DEFAULT_PROFILE,
    learners: Sequence[str] = (),
    datasets: Sequence[str] = (),
    folds: int | None = None,
    trials: int | None = None,
    results: str | Path = "results",
    executor: str | None = None,
    device: str = "auto",
    workers: int | None = None,
    keep_predictions: bool = False,
    redo: bool = False,
    on_event: OnEvent = _ignore,
    on_outcome: OnOutcome = _ignore,
) -> StudyRun:
    """Run the jobs that are left of a study and write the tables, as ``cschoice run`` does.

    The study is that of a file, else of experiments.yaml in this folder, else the built-in one;
    learners and datasets are names or globs, none means all. Jobs run where the study says, else on
    this machine, one per GPU or core; ``executor`` names another place. ``on_event`` follows the
    jobs while they run, ``on_outcome`` gets each one's end.
    """
    study = load(None if config is None else Path(config))
    selection = Selection(experiment, profile, learners, datasets, folds, trials)
    run = StudyRun(study, selection, ResultStore(Path(results)), redo=redo)
    resources = with_options(study.executor, name=executor)
    settings = ExecutorSettings(resources, device, workers, keep_predictions)
    where = make_executor(resources.name, run.store, settings)
    run.open()
    for outcome, record in run.outcomes(where, on_event):
        on_outcome(outcome, record)
    run.collect()
    return run


def collect_finished(study: Study, store: ResultStore) -> None:
    """Write the tables anew if a run that still works, or was stopped, finished jobs they lack.

    Tables that cannot be read stay as they are: whoever reads them is told why.
    """
    if next(store.names(), None) is None:
        return
    try:
        keys = store.tables.keys() if store.tables.exist else {}
    except CschoiceError:
        return
    jobs, _ = planned_on_disk(study, store)
    lacking = (job for job in jobs if keys.get(job.name, ("",))[0] != job.key)
    if any(store.can_give(job.name, job.key) for job in lacking):
        collect(store, jobs)


def _without_data(jobs: Iterable[Job]) -> list[str]:
    """Return the datasets of these jobs whose raw data are missing."""
    raw = {name: DATASETS[name].raw for name in {job.dataset for job in jobs}}
    return sorted(name for name, data in raw.items() if data and not RAW_DATA[data].present())
