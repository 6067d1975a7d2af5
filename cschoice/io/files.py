"""Files that appear whole or not at all.

What is being written stands beside its target in a private folder, whose name begins with a dot
and carries a mark of its process: nobody can plant a link in it, and what a killed process left
goes when the next one writes there.

Files that belong together are decided on at once: the private folder is renamed to ``.commit``.
From then on they are the new ones; whoever comes next moves those that a killed process did not
get to (``settle``).
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from cschoice.errors import CschoiceError, FileNotUsable
from cschoice.io import processes

_COMMIT = ".commit"
_DAY = 86_400.0  # seconds: what cannot be judged from here is a leftover after that
_TRIES = 100


@contextmanager
def replacing(*targets: Path) -> Iterator[list[Path]]:
    """Yield a temporary path for each target of one folder; replace them when the block succeeds.

    Whatever ends the block early leaves the targets as they were and nothing else behind.
    """
    folder = targets[0].parent
    with _private(folder, targets[0]) as private:
        temporaries = [private / target.name for target in targets]
        yield temporaries
        for temporary in temporaries:
            flush(temporary)
        if len(targets) == 1:
            temporaries[0].replace(targets[0])
            flush(folder)
        else:
            commit(private, folder)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder; its files appear in ``folder`` when the block succeeds.

    Files that belong together appear together; others in the folder stay.
    """
    exists = folder.exists()
    with _private(folder if exists else folder.parent, folder) as private:
        temporary = private / folder.name
        temporary.mkdir()
        yield temporary
        for path in (*temporary.rglob("*"), temporary):
            flush(path)
        if not exists:
            with suppress(FileExistsError):
                temporary.rename(folder)
                flush(folder.parent)
                return
        commit(temporary, folder)


def commit(new: Path, folder: Path) -> None:
    """Move the files of a folder on the same disk into another one: all, whatever happens."""
    flush(new)
    for _ in range(_TRIES):
        settle(folder)
        try:
            new.rename(folder / _COMMIT)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):  # someone else was faster
                raise
        else:
            settle(folder)
            return
    raise FileNotUsable(f"cannot write {folder}: {folder / _COMMIT} is in the way")


def settle(folder: Path) -> None:
    """Move the files that were decided on to their places; several may do so at once."""
    decided = folder / _COMMIT
    if not decided.is_dir():
        return
    with explained(folder):
        for place, _, names in os.walk(decided, topdown=False):
            target = folder / Path(place).relative_to(decided)
            target.mkdir(exist_ok=True)
            for name in names:
                with suppress(FileNotFoundError):
                    Path(place, name).replace(target / name)
            flush(target)
            with suppress(OSError):
                Path(place).rmdir()


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


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, and have their names written to the disk."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        flush(one.parent)


def read_shared(path: Path) -> bytes | None:
    """Return the content of a file that others replace and remove; None if it is not there.

    On a network file system, a file that was replaced between opening and reading is "stale":
    opened again, it is the new one.
    """
    try:
        try:
            return read_regular(path)
        except OSError as error:
            if error.errno != errno.ESTALE:
                raise
            return read_regular(path)
    except FileNotFoundError:
        return None


def read_regular(path: Path, most: int = 1 << 28) -> bytes:
    """Return the content of a file; refuse pipes, devices and files of more than ``most`` bytes."""
    # A pipe that nobody writes to would not even open.
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    with open(number, "rb") as file:  # noqa: PTH123 - of a descriptor
        status = os.fstat(number)
        _refuse_others(path, status.st_mode)
        if status.st_size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", str(path))
        return file.read()


def open_own(path: Path, mode: str) -> IO[Any]:
    """Open a file to add to it ("a") or write it anew ("w"), but through no link and no pipe."""
    appends = os.O_APPEND if mode.startswith("a") else 0
    harmless = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    number = os.open(path, os.O_WRONLY | os.O_CREAT | appends | harmless, 0o666)
    try:
        _refuse_others(path, os.fstat(number).st_mode)
        if not appends:
            os.ftruncate(number, 0)
    except BaseException:
        os.close(number)
        raise
    return open(number, mode, encoding=None if "b" in mode else "utf-8")  # noqa: PTH123


def check_regular(path: Path) -> None:
    """Refuse a path that is no file before something else opens it, and waits for a pipe."""
    _refuse_others(path, path.stat().st_mode)


def _refuse_others(path: Path, mode: int) -> None:
    """Raise an error for whatever is no file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, not a file", str(path))


def refresh(folder: Path) -> None:
    """Make a network file system look at a folder again, by changing it.

    Otherwise it may answer from memory for a minute, and what was written just now is not there.
    """
    probe = folder / f".{processes.own_mark()}.tmp"
    with suppress(OSError):
        probe.mkdir()
        probe.rmdir()


@contextmanager
def _private(place: Path, target: Path) -> Iterator[Path]:
    """Yield a new folder in ``place`` that only this user can write to; it goes in the end."""
    made = [folder for folder in (place, *place.parents) if not folder.exists()]
    private = place / f".{processes.own_mark()}.tmp"
    try:
        with explained(target):
            make_folder(place)
            private.mkdir(mode=0o700)
            _sweep(place)
            yield private
    finally:
        shutil.rmtree(private, ignore_errors=True)
        for folder in made:  # if nothing came into it
            with suppress(OSError):
                folder.rmdir()


def _sweep(place: Path) -> None:
    """Remove the temporary files and folders that dead processes left in a folder."""
    for path in place.glob(".*.tmp"):
        mark = path.name[1:-4]
        if not processes.is_mark(mark):
            continue
        with suppress(OSError):
            living = processes.lives(mark)
            if living is None:  # of another machine; the folder was changed just now
                living = place.stat().st_mtime - path.lstat().st_mtime < _DAY
            if not living and stat.S_ISDIR(path.lstat().st_mode):
                shutil.rmtree(path, ignore_errors=True)
            elif not living:
                path.unlink()


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, written to the disk."""
    try:
        number = os.open(path, os.O_RDONLY)
    except PermissionError:  # one may write into such a folder, and not look
        return
    try:
        os.fsync(number)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.EROFS):  # folders, on some systems
            raise
    finally:
        os.close(number)
