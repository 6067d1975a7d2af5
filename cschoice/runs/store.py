"""The results folder: one folder per job, written so that a kill at any moment loses nothing.

runs/<profile>/<experiment>/<dataset>/<learner>/fold-0/
  job.json      written first: the resolved job and its key
  trials.jsonl  append-only, flushed to disk; a torn last line is dropped
  checkpoint.safetensors  where a long training stands, while it is not finished
  record.json   written last, by rename: its presence means finished
  model/        the fitted learner, with how tables are prepared for it
  predictions.parquet  utilities of the test tasks, if they are to be kept
  claim-0.json  the process that works on it now; see ``io.locks``
  again/        the same files, while the job is done again: they take the others' place together
  attempt.json  the record of doing it again in vain, where the earlier result stays
  log.txt       output of the worker

What is damaged is named in ``damage`` and counts as not there, so that it is made again.

Where a job has no folder, the tables may still have its result: what they hold under the job's
key is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from cschoice.errors import CschoiceError, FileNotUsable
from cschoice.io.documents import Format, to_json
from cschoice.io.files import commit, make_folder, settle
from cschoice.io.locks import claimed_by_living
from cschoice.runs import job_files, journals
from cschoice.runs.job_files import CHECKPOINT, JOB, JOURNAL, MODEL, PREDICTIONS, RECORD
from cschoice.runs.records import Job, JobName, Record, State, Trial
from cschoice.runs.stored_tables import StoredTables
from cschoice.runs.tables import trials_of

_FORMAT = Format(1, "delete this file, it says nothing else; or choose another --results")
_AGAIN, _ATTEMPT = "again", "attempt.json"


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
        self.damage: dict[Path, str] = {}  # by the job's folder
        # Records with their checksums, as long as their files are the same.
        self._known: dict[Path, tuple[object, tuple[Record, str] | None]] = {}

    def open(self) -> None:
        """Create the folder, or check that this version can read it."""
        self.check()
        path = self.root / "version.json"
        if not path.exists():
            job_files.write_document(path, to_json({"version": _FORMAT.version}))

    def check(self) -> None:
        """Refuse a folder that this version cannot read; a missing folder is fine."""
        if self.root.is_file():
            raise FileNotUsable(f"{self.root} is a file: choose another --results")
        path = self.root / "version.json"
        text = job_files.read_document(path)
        if text is not None:
            _FORMAT.parse(text, path)

    def folder(self, job: Job | JobName) -> Path:
        """Return the folder of the job's files."""
        label = job.label.replace(":", ".")  # a learner may be named by its place, module:name
        return self.root / "runs" / job.profile / job.experiment / label

    def place(self, job: Job) -> Path:
        """Return the folder to work in: that of the job, or the one beside an earlier result."""
        return self.folder(job) / _AGAIN if self.to_redo(job) else self.folder(job)

    def begin(self, job: Job) -> None:
        """Prepare the folder to work in; an earlier result stays until the new one is there."""
        folder = self.folder(job)
        make_folder(folder)
        earlier = self._record_in(folder)
        (folder / _ATTEMPT).unlink(missing_ok=True)
        is_another = earlier and earlier.state is State.DONE and earlier.key != job.key
        if is_another or job_files.is_unreadable(folder / RECORD):
            (folder / _AGAIN).mkdir(exist_ok=True)
        place = self.place(job)
        if job_files.key_of(place) != job.key:
            job_files.clear(place)
        if job_files.read_job(place) != job or not self.begun(job):
            job_files.write_job(place, job)
        # A run that waits for this job must not take an earlier failure for its end.
        (place / RECORD).unlink(missing_ok=True)
        journals.mend(place / JOURNAL)

    def begun(self, job: Job) -> bool:
        """Return whether the files to work on are of exactly this job, in this version."""
        return job_files.key_of(self.place(job)) == job.key

    def redo(self, job: Job) -> None:
        """Request that a job is done again; its result stays until there is another one."""
        if self.folder(job).exists() or self._only_in_tables(job):
            (self.folder(job) / _AGAIN).mkdir(parents=True, exist_ok=True)

    def to_redo(self, job: Job) -> bool:
        """Return whether a job is to be done again and has not come to an end."""
        return (self.folder(job) / _AGAIN).is_dir()

    def record(self, job: Job) -> Record | None:
        """Return the record of exactly this job, from its folder or the tables; None if neither."""
        record = self._record_in(self.folder(job))
        if record is not None and record.key == job.key:
            return record
        return self.tables.record(job.name) if self._only_in_tables(job) else None

    def latest(self, job: Job) -> Record | None:
        """Return the record of the last time, a failure even where an earlier result stays."""
        with suppress(CschoiceError):
            attempt = job_files.read_record(self.folder(job) / _ATTEMPT)
            if attempt is not None and attempt.key == job.key:
                return attempt
        return self.record(job)

    def can_give(self, name: JobName, key: str | None) -> bool:
        """Return whether the folder of a job has the record of that key; None: of any key."""
        record = self._record_in(self.folder(name))
        return record is not None and key in (None, record.key)

    def finish(self, job: Job, record: Record) -> None:
        """Write the record: from now on the job is finished.

        Where there is a result of the same job, a failure does not take its place.
        """
        folder, place = self.folder(job), self.place(job)
        job_files.write_record(place, record)
        if record.state is State.DONE:
            (place / CHECKPOINT).unlink(missing_ok=True)
        if place == folder:
            return
        earlier = self.record(job)
        if record.state is State.DONE or earlier is None or earlier.state is not State.DONE:
            new = {path.name for path in place.iterdir()}
            commit(place, folder)
            for name in {JOURNAL, PREDICTIONS, CHECKPOINT, MODEL} - new:
                job_files.remove(folder / name)
        else:
            (place / RECORD).replace(folder / _ATTEMPT)
            job_files.remove(place)

    def trials(self, job: Job) -> list[Trial]:
        """Return the trials so far of exactly this job; a damaged line ends them."""
        if self.begun(job):
            return journals.read(self.place(job) / JOURNAL).trials
        result = self.result(job)
        return result[1] if result else []

    def result(self, job: Job) -> tuple[Record, list[Trial]] | None:
        """Return the record of exactly this job with its trials; None if it has no record."""
        record = self.record(job)
        if record is None:
            return None
        if self.can_give(job.name, job.key):
            return record, journals.read(self.folder(job) / JOURNAL).trials
        return record, trials_of(self.tables.rows(job.name))

    def progress_mark(self, job: Job) -> str:
        """Return a text that changes whenever a job gets further, in any protocol."""
        return to_json(job_files.signature(self.place(job), (JOURNAL, CHECKPOINT, RECORD)))

    def append(self, job: Job, trial: Trial) -> None:
        """Add a trial to the journal; when this returns it is on disk."""
        journals.append(self.place(job) / JOURNAL, trial)

    def progress(self, job: Job, claimed: Callable[[Path], bool] = claimed_by_living) -> Progress:
        """Return the progress of a job; ``claimed`` tells whether a process works in a folder."""
        if self.done(job):
            return Progress.DONE
        folder = self.folder(job)
        if claimed(folder):
            return Progress.RUNNING
        if self.to_redo(job):
            return Progress.STALE
        if self._only_in_tables(job):
            return Progress.DONE
        record = self._record_in(folder)
        if record is None:
            return Progress.TO_DO
        return Progress(record.state) if record.key == job.key else Progress.STALE

    def done(self, job: Job) -> bool:
        """Return whether the job's folder has its result, and nobody asked for another one."""
        record = self._record_in(self.folder(job))
        done = record is not None and record.key == job.key and record.state is State.DONE
        return done and not self.to_redo(job)

    def names(self) -> Iterator[JobName]:
        """Yield the name of every job that has files here, in a fixed order."""
        for path in sorted((self.root / "runs").glob("*/*/*/*/fold-*")):
            number = path.name.removeprefix("fold-")
            known = any((path / name).exists() for name in (JOB, RECORD))
            if known and number.isdecimal() and str(int(number)) == number:
                profile, experiment, dataset, learner = path.parts[-5:-1]
                name = JobName(profile, experiment, dataset, learner, int(number))
                # A point may stand for the colon of a place, module:name: the job tells.
                job = self.job(name) if "." in name.label else None
                yield name if job is None else job.name

    def jobs(self) -> Iterator[Job]:
        """Yield every job that has files here, in a fixed order; damaged ones are left out."""
        for name in self.names():
            job = self.job(name)
            if job is not None:
                yield job

    def job(self, name: JobName) -> Job | None:
        """Return the job in a folder; None if there is none or it is damaged."""
        return job_files.read_job(self.folder(name))

    def forget_tables(self) -> None:
        """Look into the tables again when they are next asked: they were written anew."""
        self.tables = StoredTables(self.root)

    def _only_in_tables(self, job: Job) -> bool:
        """Return whether the tables have this job done, and its folder has nothing of it."""
        in_tables = self.tables.done.get(job.name) == job.key
        return in_tables and job_files.key_of(self.folder(job)) != job.key

    def checksum(self, name: JobName) -> str:
        """Return the checksum of the record in a job's folder; empty if there is none."""
        found = self._found_in(self.folder(name))
        return found[1] if found else ""

    def _record_in(self, folder: Path) -> Record | None:
        """Return the record in a folder; None if it, or the journal behind it, is damaged."""
        found = self._found_in(folder)
        return found[0] if found else None

    def _found_in(self, folder: Path) -> tuple[Record, str] | None:
        with suppress(FileNotUsable):  # one may look without the right to write
            settle(folder)
        state = job_files.signature(folder, (RECORD, JOURNAL))
        if not state or state[0][0] != RECORD:
            self.damage.pop(folder, None)
            return None
        known = self._known.get(folder)
        if known is None or known[0] != state:
            self.damage.pop(folder, None)
            found: tuple[Record, str] | None = None
            try:
                found = job_files.intact_record(folder)
            except CschoiceError as error:
                self.damage[folder] = str(error)
            known = self._known[folder] = (state, found)
        return known[1]
