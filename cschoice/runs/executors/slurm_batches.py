"""The jobs behind the tasks of each array: one folder per array, written before it is submitted.

results/slurm/cschoice-<cluster>-<number>/   the folder's name is the array's name in the queue
  jobs.jsonl    the jobs; line 3 is task 3
  …             submitit's files, and what SLURM itself had to say

The queue is SLURM's and only SLURM's: nothing here says that a job waits, runs or is over.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

from cschoice.errors import ClusterError
from cschoice.io.documents import from_json, to_json
from cschoice.io.files import explained, read_shared, replacing
from cschoice.runs.executors.slurm_queue import Task
from cschoice.runs.records import Job
from cschoice.runs.store import Progress, ResultStore

_DAY = 86_400.0  # seconds


class Batches:
    """The arrays of one results folder."""

    def __init__(self, store: ResultStore) -> None:
        self.store, self.root = store, store.root / "slurm"
        self._known: dict[str, list[Job]] = {}

    def new(self, cluster: str, jobs: Sequence[Job]) -> Path:
        """Write down the jobs of an array that is going to be submitted."""
        folder = self.root.absolute() / f"cschoice-{cluster}-{secrets.token_hex(4)}"
        with explained(folder):
            self.root.mkdir(parents=True, exist_ok=True)
            folder.mkdir(mode=0o700)  # SLURM will run what is in it
        _check_owner(self.root)
        with replacing(folder / "jobs.jsonl") as (temporary,):
            temporary.write_text("".join(f"{to_json(asdict(job))}\n" for job in jobs))
        self._known[folder.name] = list(jobs)
        return folder

    def job(self, task: Task) -> Job | None:
        """Return the job of a task; None if the task is not of this results folder."""
        jobs = self.jobs(task.batch)
        return jobs[task.index] if task.index < len(jobs) else None

    def jobs(self, batch: str) -> list[Job]:
        """Return the jobs of an array; none if it is not of this results folder."""
        if batch not in self._known and batch.startswith("cschoice-"):
            path = self.root / batch / "jobs.jsonl"
            lines = (read_shared(path) or b"").splitlines()
            self._known[batch] = [from_json(Job, line, path) for line in lines]
        return self._known.get(batch, [])

    def sweep(self, tasks: Iterable[Task], cluster: str) -> None:
        """Remove the folders of a cluster's arrays that left the queue with all their jobs done.

        Those of another configuration stay for a day: someone may be about to submit them.
        """
        queued = {task.batch for task in tasks if task.active}
        for folder in self.root.glob(f"cschoice-{cluster}-{'[0-9a-f]' * 8}"):
            jobs = self.jobs(folder.name)
            over = {Progress.DONE}
            if time.time() - folder.stat().st_mtime > _DAY:
                over.add(Progress.STALE)
            if (
                folder.name not in queued
                and jobs  # else someone is just writing them down
                and all(self.store.progress(job) in over for job in jobs)
            ):
                shutil.rmtree(folder, ignore_errors=True)


def _check_owner(folder: Path) -> None:
    """Refuse a folder in which others could put jobs of their own in place of ours."""
    status = folder.stat()
    foreign = status.st_uid not in (os.getuid(), 0)
    if foreign or (status.st_mode & 0o002 and not status.st_mode & stat.S_ISVTX):
        raise ClusterError(
            f"others may change what is in {folder}, from where SLURM runs jobs: take their right "
            "to write away, or choose another --results"
        )


def owner(batch: str, index: int) -> str:
    """Return the name under which a task claims its job, in this life and the next.

    >>> owner("cschoice-lab-1f", 3)
    'slurm cschoice-lab-1f 3'
    """
    return f"slurm {batch} {index}"


def owns(cluster: str, holder: str) -> bool:
    """Return whether a claim is of this cluster's task: no cluster knows another's.

    >>> owns("lab", "slurm cschoice-lab-0123abcd 7"), owns("lab", "slurm cschoice-lab-2-0123abcd 7")
    (True, False)
    """
    pattern = rf"slurm cschoice-{re.escape(cluster)}-[0-9a-f]{{8}} \d+"
    return re.fullmatch(pattern, holder) is not None
