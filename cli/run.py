"""``cschoice run``: run the jobs of a study that are not done yet."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from cschoice.errors import InvalidParameter
from cschoice.runs.executors import Executor, ExecutorSettings, make_executor
from cschoice.runs.executors.local import local_slots
from cschoice.runs.executors.slurm import SlurmExecutor
from cschoice.runs.records import Job
from cschoice.runs.store import Progress, ResultStore
from cschoice.study.config import load
from cschoice.study.cost import cpu_seconds
from cschoice.study.plan import Selection, remarks
from cschoice.study.run import StudyRun

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
from .console import answer_table, say, tell, warn_of_damage
from .display import Display, duration
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
    job_timeout: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="End a job that has told of no trial and no epoch for so long; it goes on once "
            "more, as one that was killed. By default never. For --executor local.",
        ),
    ] = None,
    executor: Annotated[
        str | None,
        typer.Option(
            help="local: one process per job; slurm: a cluster; inline: this process, for "
            "debugging; others: see 'cschoice show executors'. By default the study's, else local."
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

    Finished jobs stay done: run it again after an interruption, a crash or a change, and only
    the rest runs. In the experiment 'study' every job tunes its hyperparameters on inner splits,
    fits the best, and is tested on its outer fold. 'generalization' takes the best parameters of
    that study and tests on tasks of other sizes; 'unique-stream' trains on a stream without end;
    'recipes' compares recipes of training over CPU time; 'expected-f1' chooses documents by the
    expected F1 of each query.
    """
    study = load(config)
    resources = chosen_resources(
        study, executor, workers, detach or on_exit is not None,
        partition=partition, account=account, gpus=gpus, cpus=cpus, mem=mem, time=time,
        max_jobs=max_jobs,
    )  # fmt: skip
    selection = Selection(experiment, profile, learner or (), dataset or (), folds, trials)
    store = ResultStore(results)
    asked = StudyRun(study, selection, store, redo=force)
    if asked.without_data:
        names = ", ".join(asked.without_data)
        say(f"no raw data of {names}: finished jobs there are not run again")
    warn_of_damage(store)
    _show_remarks(asked.left)
    if dry_run:
        on_cluster = resources.name == "slurm"
        _show_plan(asked, resources.max_jobs if on_cluster else len(local_slots(device, workers)))
        return
    if job_timeout is not None and resources.name != "local":
        raise InvalidParameter(
            f"--job-timeout is for --executor local, not {resources.name}; on SLURM, say --time"
        )
    settings = ExecutorSettings(resources, device, workers, keep_predictions, say, job_timeout)
    where = make_executor(resources.name, store, settings)
    asked.open()
    next_options = _options(profile, experiment, results)
    if detach and isinstance(where, SlurmExecutor):
        _submit(asked, where, next_options)
        return
    if asked.left:
        _run(asked, where, on_exit)
    else:
        say("nothing is left to run: --force runs it again")
    asked.collect()
    warn_of_damage(store)
    counts = asked.counts()
    tell(
        f"{counts[Progress.DONE]} of {len(asked.jobs)} jobs done, "
        f"{counts[Progress.SKIPPED]} skipped, {counts[Progress.FAILED]} failed: "
        f"{results / 'tables'}. Next: cschoice report{next_options}"
    )
    raise typer.Exit(1 if counts[Progress.FAILED] or asked.n_failed else 0)


def _submit(asked: StudyRun, executor: SlurmExecutor, next_options: str) -> None:
    """Hand the jobs that are left to SLURM, as many as it takes."""
    n_new = executor.submit(asked.left)
    if executor.unsent:
        n_left = len(executor.unsent)
        say(f"{n_left} jobs were not taken: run this again when the queue is shorter")
    tell(f"{n_new} jobs submitted. Next: cschoice status{next_options}")


def _show_remarks(jobs: Sequence[Job]) -> None:
    """Print remarks on these jobs; folds are named where a cell has others without the remark."""
    sizes = Counter((job.dataset, job.learner) for job in jobs)
    for remark, about in remarks(jobs).items():
        folds: dict[tuple[str, str], list[str]] = {}
        for job in about:
            folds.setdefault((job.dataset, job.learner), []).append(str(job.fold))
        cells = [
            "/".join(cell) + (f" (fold {', '.join(some)})" if len(some) < sizes[cell] else "")
            for cell, some in folds.items()
        ]
        say(f"{remark}: {', '.join(cells)}")


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


def _run(asked: StudyRun, executor: Executor, on_exit: OnExit | None) -> None:
    """Run the jobs that are left, with a display."""
    try:
        with Display(len(asked.left)) as display:
            for outcome, record in asked.outcomes(executor, display.on_event):
                display.finished(outcome, record)
    except KeyboardInterrupt:
        if isinstance(executor, SlurmExecutor):
            leave_or_cancel(executor, on_exit)
        else:
            say("stopped: the same command goes on from here")
        raise


def _show_plan(asked: StudyRun, n_slots: int | None) -> None:
    """Print the jobs that are left, with the time that they may take."""
    seconds = cpu_seconds(asked.left, asked.store)
    cells: dict[tuple[str, str], list[Job]] = {}
    for job in asked.left:
        cells.setdefault((job.dataset, job.learner), []).append(job)
    total = sum(seconds[cell] * len(group) for cell, group in cells.items())
    n_done = len(asked.jobs) - len(asked.left)
    at_once = f", {duration(total / n_slots)} on {n_slots} workers" if n_slots else ""
    times = f"about {duration(total)} of CPU time{at_once}"
    answer_table(
        f"{len(asked.left)} jobs to run, {n_done} done; {times}",
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
