"""The places where jobs run, and the interface of them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from cschoice.runs.records import Job


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
        lines = log.read_text(errors="replace").splitlines()
    except OSError as error:
        return str(error)
    return "\n".join(lines[-_LOG_LINES:])
