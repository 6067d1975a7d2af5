"""Results as files: one folder per job, written so that a kill at any moment loses nothing.

runs/<profile>/<experiment>/<dataset>/<learner>/fold-0/
  job.json      written first: the resolved job and its key
  trials.jsonl  append-only, flushed to disk; a torn last line is dropped
  checkpoint.safetensors  where a long training stands, while it is not finished
  record.json   written last, by rename: its presence means finished
  model/        the fitted learner, with how tables are prepared for it
  predictions.parquet  utilities of the test tasks, if they are to be kept
  claim-0.json  who works on it now; see ``claims``
  again         to be done again, whatever is there; goes when that begins
  log.txt       what the worker said
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
from cschoice.io.files import read_shared, replacing
from cschoice.io.locks import claimed_by_living
from cschoice.runs.records import Job, JobName, Record, State, Trial, from_json, to_json

STORE_VERSION = 1
CHECKPOINT = "checkpoint.safetensors"
_AGAIN = "again"


class Progress(StrEnum):
    """Where a job stands, as its files tell."""

    DONE = "done"
    RUNNING = "running"
    QUEUED = "queued"  # a cluster will run it: files do not tell, see executors
    SKIPPED = "skipped"
    FAILED = "failed"
    STALE = "stale"  # finished, but under another configuration, or to be done again
    TO_DO = "to do"


class ResultStore:
    """The results folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def open(self) -> None:
        """Create the folder, or check that this version can read it."""
        self.check()
        path = self.root / "version.json"
        if not path.exists():
            _write(path, to_json({"version": STORE_VERSION}))

    def check(self) -> None:
        """Refuse a folder that this version cannot read; one that is not there is fine."""
        path = self.root / "version.json"
        if self.root.is_file():
            raise FileNotUsable(f"{self.root} is a file: choose another --results")
        text = _read(path)
        if text is None:
            return
        try:
            version = int(json.loads(text)["version"])
        except (ValueError, TypeError, KeyError) as error:
            raise InvalidFile(f"{path} is damaged: choose another --results") from error
        if version > STORE_VERSION:
            raise InvalidFile(
                f"{self.root} was written by a newer cschoice (version {version}, this one knows "
                f"{STORE_VERSION}): install that, or choose another --results"
            )

    def folder(self, job: Job | JobName) -> Path:
        """Return where the job's files are."""
        return self.root / "runs" / job.profile / job.experiment / job.label

    def begin(self, job: Job) -> None:
        """Prepare the job's folder; what is of another configuration, or wanted anew, goes."""
        folder = self.folder(job)
        folder.mkdir(parents=True, exist_ok=True)
        before = self._read_job(folder)
        is_same = self.begun(job)
        # Whoever waits for this job must not take an earlier failure for how it ended.
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
        """Say whether the files in its folder are of exactly this job, in this version."""
        return self._key(self.folder(job)) == job.key

    def has(self, job: Job | JobName) -> bool:
        """Say whether there are files of this job, in whatever configuration."""
        return (self.folder(job) / "job.json").exists()

    def redo(self, job: Job) -> None:
        """Have a job done again; what came out of it stays until that begins."""
        if self.folder(job).exists():
            (self.folder(job) / _AGAIN).touch()

    def to_redo(self, job: Job) -> bool:
        """Say whether a job is to be done again and has not begun."""
        return (self.folder(job) / _AGAIN).exists()

    def record(self, job: Job) -> Record | None:
        """Return what came out of exactly this job, if it is finished."""
        record = self._any_record(self.folder(job))
        return record if record is not None and record.key == job.key else None

    def finish(self, job: Job, record: Record) -> None:
        """Write the record: from now on the job is finished."""
        _write(self.folder(job) / "record.json", to_json(asdict(record)))
        if record.state is State.DONE:
            (self.folder(job) / CHECKPOINT).unlink(missing_ok=True)

    def trials(self, job: Job) -> list[Trial]:
        """Return the trials of exactly this job, in order; a torn last line does not count.

        Nor does a second line of the same number: two machines that were told to do the same job
        may both have written it, and what they wrote is a function of the lines before.
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

    def reached(self, job: Job) -> str:
        """Return what changes whenever a job gets further, whatever its protocol writes."""
        kept = []
        for name in ("trials.jsonl", CHECKPOINT, "record.json"):  # what a later life builds on
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
        """Say where the job stands; who knows better than the files says whether it is claimed."""
        folder = self.folder(job)
        record = self._any_record(folder)
        valid = record is not None and record.key == job.key and not self.to_redo(job)
        if record is not None and valid and record.state is State.DONE:
            return Progress.DONE
        if claimed(folder):
            return Progress.RUNNING
        if record is None:
            return Progress.TO_DO
        return Progress(record.state) if valid else Progress.STALE

    def done(self, job: Job) -> bool:
        """Say whether nothing is left to do, whoever works on it."""
        return self.progress(job, lambda _: False) is Progress.DONE

    def jobs(self) -> Iterator[Job]:
        """Yield every job that has files here, in a fixed order."""
        for path in sorted((self.root / "runs").glob("*/*/*/*/*/job.json")):
            job = self._read_job(path.parent)
            if job is not None:
                yield job

    def _read_job(self, folder: Path) -> Job | None:
        """Return the job whose files these are; None if there are none or they are cut short."""
        path = folder / "job.json"
        try:
            text = _read(path)
            job: Job | None = from_json(Job, text, path) if text else None
        except InvalidFile:
            return None
        return job

    def _key(self, folder: Path) -> str | None:
        """Return the key of the job whose files these are, as the version that began it had it."""
        try:
            key = json.loads(_read(folder / "job.json") or "null")["key"]
        except (ValueError, TypeError, KeyError):
            return None
        return str(key)

    def _any_record(self, folder: Path) -> Record | None:
        """Return the record; one that is cut short is as good as none, its job runs again."""
        path = folder / "record.json"
        try:
            text = _read(path)
            record: Record | None = from_json(Record, text, path) if text else None
        except InvalidFile:
            return None
        return record


def _drop_torn_line(path: Path) -> None:
    """Cut off what a killed process left behind the last whole line."""
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
