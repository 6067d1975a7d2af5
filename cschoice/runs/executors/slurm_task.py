"""The program that SLURM runs on a node: one worker, and its checkpoint when time is over.

submitit calls this, and its ``checkpoint`` shortly before the time limit or a preemption; then it
puts the job back into the queue. The job's files are the checkpoint, so there is nothing to save:
the next life goes on behind the last trial, or epoch, that is on disk.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from cschoice.io.documents import from_json
from cschoice.io.files import make_folder, open_own
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Job, State
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import EXIT_BUSY, PROGRAM, arguments, ended, give_up, thread_settings

if TYPE_CHECKING:
    from submitit.helpers import DelayedSubmission

_MAX_STALLS = 3  # lives in a row that ran out of time without getting further
_LONG_ENOUGH = 0.25  # of the time limit: less is a preemption, which proves nothing


class _NeverEnding(BaseException):
    """No time limit like this one is enough; not an error that anything may catch on its way."""


@dataclass
class SlurmTask:
    """One job as plain words: a task in the queue must outlive a change of our classes."""

    results: str
    job: str  # JSON
    device: str
    keep_predictions: bool
    owner: str
    minutes: int  # the time limit
    reached: str = ""  # when the life before this one ended
    n_stalls: int = 0
    started: float = field(default=0.0, init=False)

    def __call__(self) -> None:
        """Run the worker to its end; SLURM sees how it ended by the exit code."""
        self.started = time.monotonic()
        store, job = self._opened()
        folder = store.folder(job)
        make_folder(folder)
        told = arguments(store, job, self.device, self.keep_predictions)
        words = [*PROGRAM, *told, "--parent", str(os.getpid()), "--owner", self.owner]
        with open_own(folder / "log.txt", "a") as log:
            _note(log, f"started {_place()}")
            process = _start_shielded(words, log, thread_settings(job.threads))
            try:
                code = process.wait()
            except _NeverEnding as reason:
                process.kill()
                process.wait()
                record = ended(Context(job, store, self.device), State.FAILED, str(reason))
                give_up(store, job, record, self.owner)
                code = 0
            finally:
                _note(log, f"ended {_place()}")
        if code not in (0, EXIT_BUSY):
            sys.exit(code if code > 0 else 128 - code)

    def checkpoint(self) -> DelayedSubmission:
        """Return the task of the next life; SLURM calls this while the worker runs."""
        from submitit.helpers import DelayedSubmission

        store, job = self._opened()
        reached = store.progress_mark(job)
        long_enough = time.monotonic() - self.started > _LONG_ENOUGH * 60 * self.minutes
        n_stalls = self.n_stalls + long_enough if reached == self.reached else 0
        if n_stalls >= _MAX_STALLS:
            raise _NeverEnding(
                f"its {self.minutes} minutes were over {n_stalls} times in a row before it got any "
                "further: give it more with --time"
            )
        return DelayedSubmission(replace(self, reached=reached, n_stalls=n_stalls))

    def _opened(self) -> tuple[ResultStore, Job]:
        return ResultStore(Path(self.results)), from_json(Job, self.job, "the job")


def _start_shielded(
    words: Sequence[str], log: IO[str], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start a process that ignores the signals which SLURM sends to everyone here.

    They are meant for us; and what a process ignores when it starts a child, the child ignores.
    """
    signals = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2)
    handlers = [signal.signal(number, signal.SIG_IGN) for number in signals]
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # nobody listens; what is known is in the files
            stderr=log,
            env={**os.environ, **environment, "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
        )
    finally:
        for number, handler in zip(signals, handlers, strict=True):
            signal.signal(number, handler)


def _place() -> str:
    """Return the number and the place of this SLURM job."""
    read = os.environ.get
    array = read("SLURM_ARRAY_JOB_ID")
    job = f"{array}_{read('SLURM_ARRAY_TASK_ID')}" if array else read("SLURM_JOB_ID")
    return (
        f"SLURM job {job}, restart {read('SLURM_RESTART_COUNT', '0')}, "
        f"node {read('SLURMD_NODENAME')}, CUDA_VISIBLE_DEVICES={read('CUDA_VISIBLE_DEVICES', '')}"
    )


def _note(log: IO[str], text: str) -> None:
    log.write(f"{datetime.now(UTC).isoformat()} {text}\n")
    log.flush()
