"""Processes, told apart across machines, containers, restarts and reused numbers.

Containers on one host may have one name and the same process numbers: a number means something
only within its namespace, and only until the machine starts again.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import socket
from functools import cache
from pathlib import Path


@cache
def machine() -> str:
    """Return the name of the room in which process numbers of this process mean something."""
    boot, namespace = "", ""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:  # not on this system
        pass
    words = f"{socket.gethostname()} {boot} {namespace}"
    return hashlib.blake2b(words.encode(), digest_size=6).hexdigest()


def started(pid: int) -> str:
    """Return when a process started, so that a reused number is not mistaken for it."""
    return _status(pid)[19]


def process_alive(pid: int) -> bool:
    """Return whether a process of that number runs in this room; a zombie does not."""
    if pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return _status(pid)[0] not in ("Z", "X")


def is_stopped(pid: int) -> bool:
    """Return whether a process was stopped by a signal, and does not go on by itself."""
    return _status(pid)[0] in ("T", "t")


def own_mark() -> str:
    """Return a word that no other process has, nor this one a second time.

    >>> mark = own_mark()
    >>> is_mark(mark), lives(mark)
    (True, True)
    >>> is_mark("nonsense")
    False
    """
    pid = os.getpid()
    return f"{machine()}-{pid}-{started(pid) or 0}-{secrets.token_hex(8)}"


def is_mark(word: str) -> bool:
    """Return whether a word is a mark of some process."""
    return re.fullmatch(r"[0-9a-f]{12}-\d{1,18}-\d{1,18}-[0-9a-f]{16}", word) is not None


def lives(mark: str) -> bool | None:
    """Return whether the process of a mark lives; None if it cannot be told from here."""
    room, pid, since, _ = mark.split("-")
    if room != machine():
        return None
    return process_alive(int(pid)) and (started(int(pid)) or "0") == since


def _status(pid: int) -> list[str]:
    """Return the kernel's words on a process from its state on; empty ones on other systems."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return [""] * 20
