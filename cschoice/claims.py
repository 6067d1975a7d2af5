"""Who works on a folder: so that two runs share the work instead of doubling it.

A claim is a numbered file that names its process, created together with its content by a hard
link: of several who try, one succeeds, on network file systems too. The highest number holds the
folder. A claim is dead when its process is (on this machine), or when its heartbeat stopped (on
another one); whoever finds it dead takes the next number, and steps back if someone living turns
out to hold another.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from cschoice.files import process_alive

_HEARTBEAT = 20.0  # seconds between signs of life
_DEAD_AFTER = 600.0  # seconds without one, by the clock of the file system


@contextmanager
def claim(folder: Path) -> Iterator[bool]:
    """Hold the folder during the block; yields False if someone living holds it."""
    path = _take(folder)
    if path is None:
        yield False
        return
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(path, stop), daemon=True)
    beat.start()
    try:
        yield True
    finally:
        stop.set()
        beat.join()
        path.unlink(missing_ok=True)


def claimed_by_living(folder: Path) -> bool:
    """Say whether someone living holds the folder."""
    claims = _claims(folder)
    return bool(claims) and _lives(claims[-1])


def _take(folder: Path) -> Path | None:
    """Take the next number, unless the highest one lives; return the claim."""
    claims = _claims(folder)
    if claims and _lives(claims[-1]):
        return None
    path = folder / f"claim-{_number(claims[-1]) + 1 if claims else 0}.json"
    draft = folder / f".claim.{socket.gethostname()}.{os.getpid()}.tmp"
    mine = {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid())}
    try:
        draft.write_text(json.dumps(mine))
        os.link(draft, path)
    except FileExistsError:
        return None
    finally:
        draft.unlink(missing_ok=True)
    others = [claim for claim in _claims(folder) if claim != path]
    if any(_lives(other) for other in others):  # someone came in between: step back
        path.unlink(missing_ok=True)
        return None
    for dead in others:
        dead.unlink(missing_ok=True)
    return path


def _claims(folder: Path) -> list[Path]:
    return sorted(folder.glob("claim-*.json"), key=_number)


def _number(path: Path) -> int:
    return int(path.stem.removeprefix("claim-"))


def _lives(path: Path) -> bool:
    try:
        holder: dict[str, Any] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):  # released just now, or never written whole
        return False
    if holder["host"] == socket.gethostname():
        return process_alive(holder["pid"]) and _started(holder["pid"]) == holder["started"]
    return _age(path) < _DEAD_AFTER


def _age(path: Path) -> float:
    """Return how old the last heartbeat is, by the clock that stamped it."""
    probe = path.with_name(f".clock.{socket.gethostname()}.{os.getpid()}.tmp")
    try:
        probe.touch()
        return probe.stat().st_mtime - path.stat().st_mtime
    except OSError:
        return 0.0
    finally:
        probe.unlink(missing_ok=True)


def _started(pid: int) -> str:
    """Return when a process started, so that a reused number is not mistaken for it."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    return stat.rsplit(")", 1)[1].split()[19]


def _beat(path: Path, stop: threading.Event) -> None:
    while not stop.wait(_HEARTBEAT):
        with suppress(OSError):
            os.utime(path)
