"""The results folder: one folder per job, written so that a kill at any moment loses nothing.

runs/<profile>/<experiment>/<dataset>/<learner>/fold-0/
  job.json      written first: the resolved job and its key
  trials.jsonl  append-only, flushed to disk; a torn last line is dropped
  checkpoint.safetensors  where a long training stands, while it is not finished
  record.json   written last, by rename: its presence means finished
  model/        the fitted learner, with how tables are prepared for it
  predictions.parquet  utilities of the test tasks, if they are to be kept
  claim-0.json  the process that works on it now; see ``io.locks``
  again         a request to do the job again; goes when that begins
  log.txt       output of the worker

Where a job has no folder, the tables may still have its result: what they hold under the job's
key is done.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path

from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.io.documents import Format, from_json, to_json
from cschoice.io.files import read_shared, replacing
from cschoice.io.locks import claimed_by_living
from cschoice.runs.records import Job, JobName, Record, State, Trial
from cschoice.runs.tables import StoredTables

_FORMAT = Format(1, "choose another --results")
CHECKPOINT = "checkpoint.safetensors"
_AGAIN = "again"


class Progress(StrEnum):
    """The progress of a job, as its files tell."""

    DONE = "done"
    RUNNING = "running"
    QUEUED = "queued"  # in the queue of a cluster: files do not tell, see executors
    SKIPPED = "skipped"
    FAILED = "failed"
    STALE = "stale"  # finished, but under another configuration, or to be done again
    TO_DO = "to do"


class ResultStore:
    """The results folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tables = StoredTables(root)

    def open(self) -> None:
        """Create the folder, or check that this version can read it."""
        self.check()
        path = self.root / "version.json"
        if not path.exists():
            _write(path, to_json({"version": _FORMAT.version}))

    def check(self) -> None:
        """Refuse a folder that this version cannot read; a missing folder is fine."""
        if self.root.is_file():
            raise FileNotUsable(f"{self.root} is a file: choose another --results")
        path = self.root / "version.json"
        text = _read(path)
        if text is not None:
            _FORMAT.parse(text, path)

    def folder(self, job: Job | JobName) -> Path:
        """Return the folder of the job's files."""
        label = job.label.replace(":", ".")  # a learner may be named by its place, module:name
        return self.root / "runs" / job.profile / job.experiment / label

    def begin(self, job: Job) -> None:
        """Prepare the job's folder; files of another configuration, or to be made again, go."""
        folder = self.folder(job)
        folder.mkdir(parents=True, exist_ok=True)
        before = self._read_job(folder)
        is_same = self.begun(job)
        # A run that waits for this job must not take an earlier failure for its end.
        (folder / "record.json").unlink(missing_ok=True)
        if not is_same or self.to_redo(job):
            for name in ("trials.jsonl", "predictions.parquet", CHECKPOINT):
                (folder / name).unlink(missing_ok=True)
            shutil.rmtree(folder / "model", ignore_errors=True)
        if before != job or not is_same:
            _write(folder / "job.json", to_json({**asdict(job), "key": job.key}))
        (folder / _AGAIN).unlink(missing_ok=True)
        _drop_torn_line(folder / "trials.jsonl")

    def begun(self, job: Job) -> bool:
        """Return whether the folder's files are of exactly this job, in this version."""
        return self._key(self.folder(job)) == job.key

    def has(self, job: Job | JobName) -> bool:
        """Return whether there are files of this job, in any configuration."""
        return (self.folder(job) / "job.json").exists()

    def redo(self, job: Job) -> None:
        """Request that a job is done again; its result stays until that begins."""
        if self.folder(job).exists():
            (self.folder(job) / _AGAIN).touch()

    def to_redo(self, job: Job) -> bool:
        """Return whether a job is to be done again and has not begun."""
        return (self.folder(job) / _AGAIN).exists()

    def record(self, job: Job) -> Record | None:
        """Return the record of exactly this job, from its folder or the tables; None if neither."""
        record = self._any_record(self.folder(job))
        if record is not None and record.key == job.key:
            return record
        return self.tables.record(job.name) if self._only_in_tables(job) else None

    def can_give(self, name: JobName, key: str | None) -> bool:
        """Return whether the folder of a job has the record of that key; None: of any key."""
        record = self._any_record(self.folder(name))
        return record is not None and key in (None, record.key)

    def finish(self, job: Job, record: Record) -> None:
        """Write the record: from now on the job is finished."""
        _write(self.folder(job) / "record.json", to_json(asdict(record)))
        if record.state is State.DONE:
            (self.folder(job) / CHECKPOINT).unlink(missing_ok=True)

    def trials(self, job: Job) -> list[Trial]:
        """Return the trials of exactly this job, in order; a torn last line does not count.

        Nor does a second line of the same number: two machines with the same job may both have
        written it, and a trial is a function of the lines before it.
        """
        path = self.folder(job) / "trials.jsonl"
        if not self.begun(job):
            return []
        *lines, _torn = (_read(path) or "").split("\n")
        trials: dict[int, Trial] = {}
        for number, line in enumerate(lines, start=1):
            trial: Trial = from_json(Trial, line, f"line {number} of {path}")
            trials.setdefault(trial.number, trial)
        return list(trials.values())

    def progress_mark(self, job: Job) -> str:
        """Return a text that changes whenever a job gets further, in any protocol."""
        kept = []
        for name in ("trials.jsonl", CHECKPOINT, "record.json"):  # the files that a restart reads
            with suppress(FileNotFoundError):
                found = (self.folder(job) / name).stat()
                kept.append((name, found.st_size, found.st_mtime_ns))
        return to_json(kept)

    def append(self, job: Job, trial: Trial) -> None:
        """Add a trial to the journal; when this returns it is on disk."""
        with (self.folder(job) / "trials.jsonl").open("a", encoding="utf-8") as file:
            file.write(to_json(asdict(trial)) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def progress(self, job: Job, claimed: Callable[[Path], bool] = claimed_by_living) -> Progress:
        """Return the progress of a job; ``claimed`` tells whether a process works in a folder."""
        if self.done(job):
            return Progress.DONE
        folder = self.folder(job)
        if claimed(folder):
            return Progress.RUNNING
        if self._only_in_tables(job):
            return Progress.DONE
        record = self._any_record(folder)
        if record is None:
            return Progress.TO_DO
        if record.key != job.key or self.to_redo(job):
            return Progress.STALE
        return Progress(record.state)

    def done(self, job: Job) -> bool:
        """Return whether the job's folder has its result, and nobody asked for another one."""
        record = self._any_record(self.folder(job))
        done = record is not None and record.key == job.key and record.state is State.DONE
        return done and not self.to_redo(job)

    def _only_in_tables(self, job: Job) -> bool:
        """Return whether the tables have this job done, and its folder has nothing of it."""
        return self.tables.done.get(job.name) == job.key and not self.begun(job)

    def jobs(self) -> Iterator[Job]:
        """Yield every job that has files here, in a fixed order."""
        for path in sorted((self.root / "runs").glob("*/*/*/*/*/job.json")):
            job = self._read_job(path.parent)
            if job is not None:
                yield job

    def _read_job(self, folder: Path) -> Job | None:
        """Return the job that the folder belongs to; None if there is none or it is cut short."""
        path = folder / "job.json"
        try:
            text = _read(path)
            job: Job | None = from_json(Job, text, path) if text else None
        except InvalidFile:
            return None
        return job

    def _key(self, folder: Path) -> str | None:
        """Return the key of the folder's job, as the version that began the job wrote it."""
        try:
            key = json.loads(_read(folder / "job.json") or "null")["key"]
        except (ValueError, TypeError, KeyError):
            return None
        return str(key)

    def _any_record(self, folder: Path) -> Record | None:
        """Return the record in a folder; one that is cut short counts as none."""
        path = folder / "record.json"
        try:
            text = _read(path)
            record: Record | None = from_json(Record, text, path) if text else None
        except InvalidFile:
            return None
        return record


def _drop_torn_line(path: Path) -> None:
    """Cut off the part of a line that a killed process left at the end."""
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with path.open("r+b") as file:
                file.truncate(whole)


def _read(path: Path) -> str | None:
    try:
        return read_shared(path)
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path} is damaged: it is not text") from error


def _write(path: Path, text: str) -> None:
    with replacing(path) as (temporary,):
        temporary.write_text(text + "\n", encoding="utf-8")
