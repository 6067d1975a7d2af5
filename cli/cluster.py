"""The part of ``cschoice run`` that concerns SLURM: its options, and the end on Ctrl-C."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated, Any

import typer

from cschoice.errors import ClusterError, InvalidParameter, UnknownName
from cschoice.registry import unknown_name
from cschoice.runs.executors import EXECUTORS
from cschoice.runs.executors.resources import Resources
from cschoice.runs.executors.slurm import SlurmExecutor
from cschoice.study.config import with_options
from cschoice.study.settings import Study

from .console import say, talk

_PANEL = "SLURM (or the same under 'executor:' in the study, with more in 'sbatch:')"

Partition = Annotated[str | None, typer.Option(help="Partition.", rich_help_panel=_PANEL)]
Account = Annotated[str | None, typer.Option(help="Account to charge.", rich_help_panel=_PANEL)]
Gpus = Annotated[int | None, typer.Option(min=0, help="GPUs per job.", rich_help_panel=_PANEL)]
Cpus = Annotated[int | None, typer.Option(min=1, help="CPUs per job.", rich_help_panel=_PANEL)]
Mem = Annotated[
    str | None, typer.Option(metavar="8G", help="Memory per job.", rich_help_panel=_PANEL)
]
Time = Annotated[
    str | None,
    typer.Option(
        metavar="12:00:00",
        help="Time limit per job, by default 12:00:00; one that needs more goes on after it.",
        rich_help_panel=_PANEL,
    ),
]
MaxJobs = Annotated[
    int | None, typer.Option(min=1, help="Jobs at once, at most.", rich_help_panel=_PANEL)
]
Detach = Annotated[
    bool,
    typer.Option(
        "--detach", help="Return when all is submitted; 'status' tells.", rich_help_panel=_PANEL
    ),
]


class OnExit(StrEnum):
    """The fate of jobs in the queue when the run that watches them is stopped."""

    LEAVE = "leave"
    CANCEL = "cancel"


OnExitOption = Annotated[
    OnExit | None,
    typer.Option(
        help="On Ctrl-C, let jobs go on or end them. By default it asks, or leaves them.",
        rich_help_panel=_PANEL,
    ),
]


def chosen_resources(
    study: Study, executor: str | None, workers: int | None, watches: bool, **asked: Any
) -> Resources:
    """Return the executor and its resources: options of the command line stand above the study."""
    name = executor or study.executor.name
    if name not in EXECUTORS:
        raise UnknownName(unknown_name("executor", name, EXECUTORS))
    given = [f"--{option.replace('_', '-')}" for option in asked if asked[option] is not None]
    if name != "slurm" and (given or watches):
        options = ", ".join(given) or "--detach and --on-exit"
        raise InvalidParameter(f"for --executor slurm only: {options}; the executor is {name}")
    if name == "slurm" and workers is not None:
        raise InvalidParameter("--workers is for one machine: on SLURM, say --max-jobs")
    return with_options(study.executor, name=name, **asked)


def leave_or_cancel(executor: SlurmExecutor, chosen: OnExit | None) -> None:
    """Leave or cancel the jobs of a stopped run, as the user wants."""
    n_jobs = len(executor.watched)
    if not n_jobs:
        return
    if (chosen or _asked(n_jobs)) is OnExit.LEAVE:
        say(f"{n_jobs} jobs stay in SLURM's queue: the same command watches them again")
        return
    try:
        executor.cancel()
    except ClusterError as error:
        say(f"{n_jobs} jobs could not be cancelled: {error}")
    else:
        say(f"{n_jobs} jobs were cancelled")


def _asked(n_jobs: int) -> OnExit:
    """Ask; no answer means that the jobs stay, which can still be undone."""
    if not (sys.stdin.isatty() and talk.is_terminal):
        return OnExit.LEAVE
    question = f"{n_jobs} jobs are in SLURM's queue. Leave them there, or cancel them?"
    try:
        answer = typer.prompt(f"{question} [leave/cancel]", default="leave", err=True)
    except (typer.Abort, KeyboardInterrupt, EOFError):
        return OnExit.LEAVE
    return OnExit.CANCEL if answer.strip().lower().startswith("c") else OnExit.LEAVE
