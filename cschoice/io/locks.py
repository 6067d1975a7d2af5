"""Claims on folders, so that two runs share the work instead of doubling it.

A claim is a numbered file that names its process, created together with its content by a hard
link: of several who try, one succeeds, on network file systems too. The highest number holds the
folder. A claim is dead when its process is (in this room of process numbers, see ``processes``), or
when its heartbeat stopped (in another one, or where the file cannot be read); whoever finds it dead
takes the next number, and steps back if someone living turns out to hold another. Other files with
such names, as programs make them that copy folders, are nobody's claims.

A scheduler may start a process again on another machine while nobody knows whether the first is
gone. Both then name the same owner: the later one takes over at once, and the earlier one, should
it still live, finds that it no longer holds its claim before it writes anything.
"""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cschoice.io.files import read_shared
from cschoice.io.processes import machine, own_mark, process_alive, started

_HEARTBEAT = 20.0  # seconds between signs of life
_DEAD_AFTER = 600.0  # seconds without one, by the clock of the file system
_NAME = re.compile(r"claim-\d{1,18}\.json")


class ClaimLost(Exception):
    """Another process took the folder over: nothing more may be written into it."""


@dataclass(frozen=True)
class Claim:
    """The right to write into a folder."""

    path: Path
    holder: dict[str, Any]

    def held(self) -> bool:
        """Return whether the folder is still ours; ask just before writing into it."""
        return _holder(self.path) == self.holder


@contextmanager
def claim(folder: Path, owner: str = "") -> Iterator[Claim | None]:
    """Hold the folder during the block; yields None if someone living holds it."""
    taken = _take(folder, owner)
    if taken is None:
        yield None
        return
    stop = threading.Event()
    beat = threading.Thread(target=_beat, args=(taken, stop), daemon=True)
    beat.start()
    try:
        yield taken
    finally:
        stop.set()
        beat.join()
        if taken.held():
            taken.path.unlink(missing_ok=True)


def claimed_by_living(folder: Path) -> bool:
    """Return whether a living process holds the folder."""
    return any(_lives(path) for path in _claims(folder))


def owner_of(folder: Path) -> str:
    """Return the owner's name in the folder's last claim, living or dead, or an empty text."""
    claims = _claims(folder)
    return _owner(claims[-1]) if claims else ""


def release(folder: Path, owner: str) -> None:
    """Give up the claim of an owner that is known to be gone, before its heartbeat stops."""
    for path in _claims(folder):
        if _owner(path) == owner:
            path.unlink(missing_ok=True)


def _take(folder: Path, owner: str) -> Claim | None:
    """Take the next number, unless the highest one lives; return the claim."""
    claims = _claims(folder)
    if claims and _blocks(claims[-1], owner):
        return None
    path = folder / f"claim-{_number(claims[-1]) + 1 if claims else 0}.json"
    draft = folder / f".{own_mark()}.tmp"
    pid = os.getpid()
    mine = {"host": socket.gethostname(), "machine": machine(), "pid": pid, "started": started(pid)}
    if owner:
        mine["owner"] = owner
    try:
        _create(draft, json.dumps(mine))
        os.link(draft, path)
    except FileExistsError:
        if draft.stat().st_nlink < 2:  # else it is ours: NFS repeated a request that was done
            return None
    finally:
        draft.unlink(missing_ok=True)
    others = [claim for claim in _claims(folder) if claim != path]
    if any(_blocks(other, owner) for other in others):  # someone came in between: step back
        path.unlink(missing_ok=True)
        return None
    for dead in others:
        with suppress(OSError):
            dead.unlink()
    return Claim(path, mine)


def _create(path: Path, text: str = "") -> None:
    """Make a file that nobody has put there before, whatever its name leads to."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    with open(os.open(path, flags, 0o666), "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write(text)


def _claims(folder: Path) -> list[Path]:
    try:
        return sorted((one for one in folder.iterdir() if _NAME.fullmatch(one.name)), key=_number)
    except OSError:
        return []


def _number(path: Path) -> int:
    return int(path.stem.removeprefix("claim-"))


def _holder(path: Path) -> dict[str, Any] | None:
    """Return the content of a claim; None if it was released just now, or is not a claim's."""
    try:
        holder = json.loads(read_shared(path) or b"")
        whole = isinstance(holder["host"], str) and isinstance(holder["started"], str)
        return holder if whole and type(holder["pid"]) is int else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _blocks(path: Path, owner: str) -> bool:
    """Return whether a claim keeps others away; an owner's earlier life does not keep the later."""
    return not (owner and _owner(path) == owner) and _lives(path)


def _owner(path: Path) -> str:
    """Return the name of the owner in a claim, or an empty text."""
    try:
        holder = _holder(path)
    except OSError:
        return ""
    return str(holder.get("owner", "")) if holder else ""


def _lives(path: Path) -> bool:
    try:
        holder = _holder(path)
    except OSError:  # perhaps another user's
        return _age(path) < _DEAD_AFTER
    if holder is None:
        return False
    # Versions before the room was written down knew the name of the machine only.
    here = holder.get("machine", machine()) == machine()
    if here and holder["host"] == socket.gethostname():
        return process_alive(holder["pid"]) and started(holder["pid"]) == holder["started"]
    return _age(path) < _DEAD_AFTER


def _age(path: Path) -> float:
    """Return how old the last heartbeat is, by the clock that stamped it."""
    probe = path.with_name(f".{own_mark()}.tmp")
    try:
        _create(probe)
        return probe.stat().st_mtime - path.lstat().st_mtime
    except OSError:
        return 0.0
    finally:
        with suppress(OSError):
            probe.unlink()


def _beat(claim: Claim, stop: threading.Event) -> None:
    while not stop.wait(_HEARTBEAT):
        with suppress(OSError):
            if claim.held():
                os.utime(claim.path)
