"""The journal of a job: one line per trial, each with a checksum, on disk before the next begins.

A trial is a function of the lines before it: what comes behind a damaged line is tried again.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from cschoice.errors import InvalidFile
from cschoice.io.documents import from_sealed, seal
from cschoice.io.files import flush, open_own, read_shared
from cschoice.runs.records import Trial


class Journal(NamedTuple):
    """The intact trials of a journal, the bytes they take, and the damage behind them, if any."""

    trials: list[Trial]
    n_bytes: int
    damage: str


def append(path: Path, trial: Trial) -> None:
    """Add a trial; when this returns it is on disk."""
    is_new = not path.exists()
    with open_own(path, "a") as file:
        file.write(seal(asdict(trial)) + "\n")
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        flush(path.parent)


def read(path: Path) -> Journal:
    """Read a journal up to the first damaged line; one that is not there is empty.

    A last line that was cut short is no damage: its process was killed. A second line of the same
    number does not count: two machines with the same job may both have written it.
    """
    trials: dict[int, Trial] = {}
    n_bytes, damage = 0, ""
    *lines, _torn = (read_shared(path) or b"").split(b"\n")
    for number, line in enumerate(lines, start=1):
        try:
            trial: Trial = from_sealed(Trial, line, f"line {number} of {path}")
            if trial.number > len(trials):
                raise InvalidFile(f"{path} is damaged (trial {len(trials)} is not where it was)")
        except InvalidFile as error:
            damage = str(error)
            break
        trials.setdefault(trial.number, trial)
        n_bytes += len(line) + 1
    return Journal(list(trials.values()), n_bytes, damage)


def mend(path: Path) -> None:
    """Cut a journal off behind its last intact line."""
    if path.exists():
        n_bytes = read(path).n_bytes
        if n_bytes < path.stat().st_size:
            with path.open("r+b") as file:
                file.truncate(n_bytes)
                os.fsync(file.fileno())
