"""The places where jobs run, and the interface of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from cschoice.errors import InvalidPlugin
from cschoice.io.files import read_regular
from cschoice.registry import Plugins, Registry, load
from cschoice.runs.executors.resources import Resources
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore


@dataclass(frozen=True)
class Outcome:
    """The end of a job's process; its record, if there is one, is in the store.

    ``busy``: another run is at it, and is waited for; ``elsewhere``: that run has ended it.
    """

    job: Job
    ended: Literal["finished", "busy", "elsewhere", "died", "unusable"]
    device: str
    detail: str = ""


_LOG_LINES = 15

OnEvent = Callable[[Job, str, Mapping[str, Any]], None]  # job, device, event


class Executor(Protocol):
    """Runs jobs and yields their outcomes as they complete."""

    def run(self, jobs: Sequence[Job], on_event: OnEvent) -> Iterator[Outcome]:
        """Run every job once."""
        ...


@dataclass(frozen=True)
class ExecutorSettings:
    """The settings of a run that an executor gets: options of the command line and the study's."""

    resources: Resources = field(default_factory=Resources)
    device: str = "auto"  # cpu, cuda, cuda:1, mps, auto
    workers: int | None = None  # jobs at once; None: as many as fit
    keep_predictions: bool = False
    notify: Callable[[str], None] = print  # tells the user a line
    job_timeout: float | None = None  # seconds without an event until a job is ended; None: never


def _of_plugin(name: str, found: Any, target: str) -> str:  # noqa: ARG001
    """Return the row of a class or function of another package."""
    if not callable(found):
        raise TypeError(f"{target} is no class or function that makes an executor")
    return target


# Each makes an ``Executor`` of a ``ResultStore`` and ``ExecutorSettings``.
EXECUTORS: Registry[str] = Registry(
    "executor",
    {
        "local": "cschoice.runs.executors.local:local",
        "inline": "cschoice.runs.executors.inline:inline",
        "slurm": "cschoice.runs.executors.slurm:slurm",
    },
    more=[Plugins("executor", "cschoice.executors", _of_plugin, lambda: EXECUTORS.written)],
)


def make_executor(name: str, store: ResultStore, settings: ExecutorSettings) -> Executor:
    """Return the executor of that name for a results folder."""
    made: Executor = load(EXECUTORS[name])(store, settings)
    if not callable(getattr(made, "run", None)):
        raise InvalidPlugin(f"executor '{name}' made a {type(made).__name__}, which has no 'run'")
    return made


def pause(since: float) -> float:
    """Return how long to wait before looking again, in seconds, after having waited that long.

    The longer it takes, the more rarely we look: file servers and controllers serve many people.

    >>> pause(5), pause(60), pause(3_600)
    (1.0, 3.0, 30.0)
    """
    return min(30.0, max(1.0, since / 20))


def log_tail(log: Path) -> str:
    """Return the last lines of a log."""
    try:
        lines = read_regular(log).decode(errors="replace").splitlines()
    except OSError as error:
        return str(error)
    return "\n".join(lines[-_LOG_LINES:])
