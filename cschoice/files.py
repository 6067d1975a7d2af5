"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cschoice.errors import CschoiceError, FileNotUsable


@contextmanager
def replacing(*targets: Path) -> Iterator[list[Path]]:
    """Yield a temporary path beside each target; rename all of them when the block succeeds.

    Whatever ends the block early leaves the targets as they were and no temporary file behind.
    A process that was killed outright cannot clean up: its leftovers go when the next one on
    this machine writes the same file.
    """
    temporaries = [target.with_name(f"{_prefix(target)}{os.getpid()}.tmp") for target in targets]
    try:
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
            _sweep(target)
        yield temporaries
        for temporary in temporaries:
            _flush_to_disk(temporary)
        for temporary, target in zip(temporaries, targets, strict=True):
            temporary.replace(target)
    except CschoiceError:
        raise
    except OSError as error:
        where = error.filename or targets[0]
        raise FileNotUsable(f"cannot write {where}: {error.strerror or error}") from error
    finally:
        for temporary in temporaries:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    return f".{target.name}.{socket.gethostname()}."


def _sweep(target: Path) -> None:
    for path in target.parent.iterdir():
        if path.name.startswith(_prefix(target)) and path.suffix == ".tmp":
            pid = path.stem.rsplit(".", 1)[1]
            if pid.isdigit() and not _alive(int(pid)):
                path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _flush_to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
