"""``cschoice run``: do what is not done yet."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from cschoice.datasets import DATASETS
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.errors import InvalidParameter
from cschoice.io.locks import claimed_by_living
from cschoice.runs.executors import Executor
from cschoice.runs.executors.inline import InlineExecutor
from cschoice.runs.executors.local import LocalExecutor, local_slots
from cschoice.runs.executors.resources import Resources
from cschoice.runs.executors.slurm import SlurmExecutor
from cschoice.runs.records import Job
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.tables import collect
from cschoice.study.config import load
from cschoice.study.plan import Selection, current_jobs, plan, remarks
from cschoice.study.plan import run as run_jobs

from .cluster import (
    Account,
    Cpus,
    Detach,
    Gpus,
    MaxJobs,
    Mem,
    OnExit,
    OnExitOption,
    Partition,
    Time,
    chosen_resources,
    leave_or_cancel,
)
from .console import answer_table, say, talk
from .display import Display, duration
from .estimate import estimate
from .keeping import keep_tables
from .options import (
    DEFAULT_EXPERIMENT,
    DEFAULT_RESULTS,
    PROFILE,
    Config,
    DataFolder,
    Dataset,
    ExperimentName,
    Folds,
    Learner,
    ProfileName,
    Results,
    Trials,
)


def run(
    learner: Learner = None,
    dataset: Dataset = None,
    profile: ProfileName = PROFILE,
    experiment: ExperimentName = DEFAULT_EXPERIMENT,
    folds: Folds = None,
    trials: Trials = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes at once. By default one per GPU or core.")
    ] = None,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, mps or auto.")] = "auto",
    executor: Annotated[
        str | None,
        typer.Option(
            help="local: one process per job; slurm: a cluster; inline: this process, for "
            "debugging. By default the study's, else local."
        ),
    ] = None,
    results: Results = DEFAULT_RESULTS,
    config: Config = None,
    data: DataFolder = None,  # noqa: ARG001 - its callback tells everyone
    keep_predictions: Annotated[
        bool, typer.Option("--keep-predictions", help="Keep the utilities of all test objects.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Do finished jobs again.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would run and how long it may take.")
    ] = False,
    partition: Partition = None,
    account: Account = None,
    gpus: Gpus = None,
    cpus: Cpus = None,
    mem: Mem = None,
    time: Time = None,
    max_jobs: MaxJobs = None,
    detach: Detach = False,
    on_exit: OnExitOption = None,
) -> None:
    """Run a study, or the part of it that you name.

    What is done stays done: run it again after an interruption, a crash or a change, and only
    the rest runs. In the experiment 'study' every job tunes its hyperparameters on inner splits,
    fits the best, and is tested on its outer fold. 'generalization' takes what was found there
    and tests on tasks of other sizes; 'unique-stream' trains on a stream without end; 'recipes'
    compares recipes of training over CPU time.
    """
    study = load(config)
    resources = chosen_resources(
        study, executor, workers, detach or on_exit is not None,
        partition=partition, account=account, gpus=gpus, cpus=cpus, mem=mem, time=time,
        max_jobs=max_jobs,
    )  # fmt: skip
    slurm = resources.name == "slurm"
    selection = Selection(experiment, profile, learner or (), dataset or (), folds, trials)
    store = ResultStore(results)
    store.check()
    jobs = plan(study, selection, store)
    if not jobs:
        raise InvalidParameter(
            "nothing to run: these learners do not learn the kind of choice of these datasets; "
            "see 'cschoice show learners' and 'cschoice show datasets'"
        )
    where = None if dry_run else _executor(resources, store, device, workers, keep_predictions)
    kept = set() if dry_run else set(keep_tables(study, store))
    if kept:
        jobs = plan(study, selection, store)  # some build on what came back
    anew = _with_data(job for job in jobs if force or job in kept)
    remaining = [job for job in jobs if job in anew or store.progress(job) is not Progress.DONE]
    _say_remarks(remaining)
    if where is None:
        n_slots = resources.max_jobs if slurm else len(local_slots(device, workers))
        _show_plan(remaining, store, len(jobs) - len(remaining), n_slots)
        return
    store.open()
    _redo(anew, store)
    next_options = _options(profile, experiment, results)
    if detach and isinstance(where, SlurmExecutor):
        n_new = where.submit(remaining)
        if where.unsent:
            say(
                f"{len(where.unsent)} jobs were not taken: run this again when the queue is shorter"
            )
        typer.echo(f"{n_new} jobs submitted. Next: cschoice status{next_options}")
        return
    if remaining:
        _run(remaining, store, where, on_exit)
    else:
        say("nothing is left to run: --force runs it again")
    collect(store, current_jobs(study, store, jobs, trials)[0])
    counts = Counter(store.progress(job) for job in jobs)  # the files are the truth
    typer.echo(
        f"{counts[Progress.DONE]} of {len(jobs)} jobs done, {counts[Progress.SKIPPED]} skipped, "
        f"{counts[Progress.FAILED]} failed: {results / 'tables'}. "
        f"Next: cschoice report{next_options}"
    )
    raise typer.Exit(1 if counts[Progress.FAILED] else 0)


def _say_remarks(jobs: list[Job]) -> None:
    """Say what to know before these jobs run; a cell without numbers of folds is all of it."""
    sizes = Counter((job.dataset, job.learner) for job in jobs)
    for remark, about in remarks(jobs).items():
        folds: dict[tuple[str, str], list[str]] = {}
        for job in about:
            folds.setdefault((job.dataset, job.learner), []).append(str(job.fold))
        cells = [
            "/".join(cell) + (f" (fold {', '.join(some)})" if len(some) < sizes[cell] else "")
            for cell, some in folds.items()
        ]
        talk.print(f"{remark}: {', '.join(cells)}", highlight=False, markup=False)


def _with_data(jobs: Iterable[Job]) -> set[Job]:
    """Leave out jobs whose raw data are not there: what came out of them would be lost."""
    found = set(jobs)
    raw = {name: DATASETS[name].raw for name in {job.dataset for job in found}}
    present = {name for name, source in raw.items() if not source or RAW_DATA[source].present()}
    if lacking := sorted(set(raw) - present):
        say(f"no raw data of {', '.join(lacking)}: what is done there stays, nothing runs anew")
    return {job for job in found if job.dataset in present}


def _redo(jobs: Iterable[Job], store: ResultStore) -> None:
    busy = [job.label for job in jobs if claimed_by_living(store.folder(job))]
    if busy:
        raise InvalidParameter(f"--force: another run works on {busy[0]}: stop it first")
    for job in jobs:
        store.redo(job)


def _options(profile: str, experiment: str, results: Path) -> str:
    """Return the options that make the next command find these results."""
    named = {
        "profile": (profile, PROFILE),
        "experiment": (experiment, DEFAULT_EXPERIMENT),
        "results": (str(results), str(DEFAULT_RESULTS)),
    }
    return "".join(
        f" --{name} {shlex.quote(value)}"
        for name, (value, default) in named.items()
        if value != default
    )


def _executor(
    resources: Resources,
    store: ResultStore,
    device: str,
    workers: int | None,
    keep_predictions: bool,
) -> Executor:
    if resources.name == "slurm":
        return SlurmExecutor(
            store, resources, device=device, keep_predictions=keep_predictions, notify=say
        )
    slots = local_slots(device, workers)
    if resources.name == "inline":
        return InlineExecutor(store, slots[0].device, keep_predictions)
    return LocalExecutor(store, slots, keep_predictions=keep_predictions)


def _run(jobs: list[Job], store: ResultStore, executor: Executor, on_exit: OnExit | None) -> None:
    """Run the jobs with a display."""
    try:
        with Display(len(jobs)) as display:
            for outcome, record in run_jobs(jobs, store, executor, display.on_event):
                display.finished(outcome, record)
    except KeyboardInterrupt:
        if isinstance(executor, SlurmExecutor):
            leave_or_cancel(executor, on_exit)
        else:
            say("stopped: the same command goes on from here")
        raise


def _show_plan(jobs: list[Job], store: ResultStore, n_done: int, n_slots: int | None) -> None:
    seconds = estimate(jobs, store)
    cells: dict[tuple[str, str], list[Job]] = {}
    for job in jobs:
        cells.setdefault((job.dataset, job.learner), []).append(job)
    total = sum(seconds[cell] * len(group) for cell, group in cells.items())
    at_once = f", {duration(total / n_slots)} on {n_slots} workers" if n_slots else ""
    answer_table(
        f"{len(jobs)} jobs to run, {n_done} done; about {duration(total)} of CPU time{at_once}",
        ["dataset", "learner", "#jobs", "#trials", "#per job", "#all"],
        [
            [
                *cell,
                str(len(group)),
                str(group[0].budget.n_trials),
                duration(seconds[cell]),
                duration(seconds[cell] * len(group)),
            ]
            for cell, group in cells.items()
        ],
        folding="dataset",
    )
