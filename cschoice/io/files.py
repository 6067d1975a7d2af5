"""Files that appear whole or not at all.

What is being written stands beside its target under a name that begins with a dot and ends with
the process's number. A process that was killed outright cannot clean up: its leftovers go when
the next one on the same machine writes the same target.
"""

from __future__ import annotations

import errno
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cschoice.errors import CschoiceError, FileNotUsable


@contextmanager
def replacing(*targets: Path) -> Iterator[list[Path]]:
    """Yield a temporary path for each target; rename all of them when the block succeeds.

    Whatever ends the block early leaves the targets as they were and nothing else behind.
    """
    temporaries = [_temporary(target) for target in targets]
    try:
        with explained(targets[0]):
            for target in targets:
                _prepare(target)
            yield temporaries
            for temporary in temporaries:
                _flush_to_disk(temporary)
            for temporary, target in zip(temporaries, targets, strict=True):
                temporary.replace(target)
    finally:
        for temporary in temporaries:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder; move its files into ``folder`` when the block succeeds.

    Files that belong together appear together; others in the folder stay.
    """
    temporary = _temporary(folder)
    try:
        with explained(folder):
            _prepare(folder)
            temporary.mkdir()
            yield temporary
            if not folder.exists():
                temporary.rename(folder)
                return
            for path in sorted(temporary.iterdir()):
                path.replace(folder / path.name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def explained(target: Path) -> Iterator[None]:
    """Turn an operating system's error into one that names the file not written."""
    try:
        yield
    except CschoiceError:
        raise
    except OSError as error:
        where, why = Path(error.filename or target), error.strerror or error
        if any(part.endswith(".tmp") for part in where.parts):
            where = target  # the name that the user gave
        raise FileNotUsable(f"cannot write {where}: {why}") from error


def read_shared(path: Path) -> str | None:
    """Return the text of a file that others replace and remove; None if it is not there.

    On a network file system, a file that was replaced between opening and reading is "stale":
    opened again, it is the new one.
    """
    try:
        try:
            return path.read_text(encoding="utf-8")
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
            return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def refresh(folder: Path) -> None:
    """Make a network file system look at a folder again, by changing it.

    Otherwise it may answer from memory for a minute, and what was written just now is not there.
    """
    probe = _temporary(folder / "look")
    with suppress(OSError):
        probe.touch()
        probe.unlink()


def _prefix(target: Path) -> str:
    return f".{target.name}.{socket.gethostname()}."


def _temporary(target: Path) -> Path:
    return target.with_name(f"{_prefix(target)}{os.getpid()}.tmp")


def _prepare(target: Path) -> None:
    """Make the folder of the target and remove temporary files of dead processes beside it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for path in target.parent.iterdir():
        if path.name.startswith(_prefix(target)) and path.suffix == ".tmp":
            pid = path.stem.rsplit(".", 1)[1]
            if pid.isdigit() and not process_alive(int(pid)):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def process_alive(pid: int) -> bool:
    """Return whether a process of that number runs on this machine; a zombie does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:  # not on this system
        return True
    return state not in ("Z", "X")


def _flush_to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
