"""The files of one job in their folder: written with checksums, verified when they are read.

Documents and lines of the journal carry their own; the record has those of the files that belong
to it. Files of earlier versions have none and are taken as far as they agree with one another.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from cschoice.errors import CschoiceError, FileNotUsable, InvalidFile
from cschoice.io.documents import digest, from_plain, seal, unseal
from cschoice.io.files import read_regular, read_shared, replacing
from cschoice.runs import journals
from cschoice.runs.records import Job, Record, State

JOB, JOURNAL, RECORD = "job.json", "trials.jsonl", "record.json"
CHECKPOINT, PREDICTIONS, MODEL = "checkpoint.safetensors", "predictions.parquet", "model"
_MOST_BYTES = 1 << 40


def write_job(folder: Path, job: Job) -> None:
    """Write down the job that the other files belong to."""
    write_document(folder / JOB, seal({**asdict(job), "key": job.key}))


def read_job(folder: Path) -> Job | None:
    """Return the job that the folder belongs to; None if there is none or it is damaged."""
    with suppress(CschoiceError, ValueError):
        if text := read_document(folder / JOB):
            job: Job = from_plain(Job, unseal(text, folder / JOB))
            return job
    return None


def key_of(folder: Path) -> str | None:
    """Return the key of the folder's job, as the version that began the job wrote it."""
    with suppress(CschoiceError):
        if text := read_document(folder / JOB):
            return str(unseal(text, folder / JOB).get("key"))
    return None


def write_record(folder: Path, record: Record) -> None:
    """Write the record with the checksums of the files that belong to it."""
    belonging = [folder / name for name in (JOB, JOURNAL, PREDICTIONS)]
    belonging += sorted((folder / MODEL).glob("[!.]*"))
    digests = {
        path.relative_to(folder).as_posix(): digest(path.read_bytes())
        for path in belonging
        if path.is_file()
    }
    write_document(folder / RECORD, seal({**asdict(record), "files": digests}))


def read_record(path: Path) -> Record | None:
    """Return the record in a file without looking at any other file; None if it is not there."""
    text = read_document(path)
    return None if text is None else _record(text, path)[0]


def intact_record(folder: Path) -> tuple[Record, str] | None:
    """Return the record in a folder and its checksum, after verifying the journal behind it."""
    text = read_document(folder / RECORD)
    if text is None:
        return None
    record, digests = _record(text, folder / RECORD)
    path = folder / JOURNAL
    if JOURNAL in digests:
        if digest(read_document(path) or b"") != digests[JOURNAL]:
            raise InvalidFile(f"{path} is damaged (its checksum does not fit)")
    elif record.state is State.DONE:
        journal = journals.read(path)
        if journal.damage or len(journal.trials) != record.n_trials:
            found = f"{len(journal.trials)} of {record.n_trials} trials"
            raise InvalidFile(journal.damage or f"{path} is damaged ({found})")
    return record, digest(text)


def verified(folder: Path, name: str) -> bytes:
    """Return the content of a file that belongs to the folder's record, whose checksum must fit."""
    path = folder / name
    try:
        content = read_regular(path, _MOST_BYTES)
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    text = read_document(folder / RECORD)
    digests = {} if text is None else _record(text, folder / RECORD)[1]
    if digests.get(name, digest(content)) != digest(content):
        raise InvalidFile(f"{path} is damaged (its checksum does not fit): run the job again")
    return content


def _record(text: bytes, path: Path) -> tuple[Record, dict[str, str]]:
    """Return a record, and the checksums of the files that belong to it."""
    content = unseal(text, path)
    try:
        digests: dict[str, str] = from_plain(dict[str, str], content.pop("files", {}))
        return from_plain(Record, content), digests
    except ValueError as error:
        raise InvalidFile(f"{path} is damaged ({error})") from error


def signature(folder: Path, names: Iterable[str]) -> list[tuple[str, int, int, int]]:
    """Return name, number, size and time of these files, as far as they are there."""
    found = []
    for name in names:
        with suppress(OSError):
            status = (folder / name).stat()
            found.append((name, status.st_ino, status.st_size, status.st_mtime_ns))
    return found


def is_unreadable(path: Path) -> bool:
    """Return whether there is a file that cannot be read, perhaps another user's."""
    try:
        read_regular(path)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def clear(folder: Path) -> None:
    """Remove the files of another configuration, the record first."""
    for name in (RECORD, JOURNAL, PREDICTIONS, CHECKPOINT, MODEL):
        remove(folder / name)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def read_document(path: Path) -> bytes | None:
    """Return the content of a document; None if it is not there."""
    try:
        return read_shared(path)
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error


def write_document(path: Path, text: str) -> None:
    """Replace a document."""
    with replacing(path) as (temporary,):
        temporary.write_text(text + "\n", encoding="utf-8")
