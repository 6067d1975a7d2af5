"""What a protocol is given beside its job."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from cschoice.records import Job, Trial
from cschoice.store import ResultStore

Event = Mapping[str, Any]


def _ignore(event: Event) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Context:
    """Where the job's files are, on which device to fit, and whom to tell how it goes."""

    job: Job
    store: ResultStore
    device: str = "cpu"
    keep_predictions: bool = False
    tell: Callable[[Event], None] = _ignore

    @property
    def folder(self) -> Path:
        """Return the job's folder."""
        return self.store.folder(self.job)

    def trials(self) -> list[Trial]:
        """Return the trials so far."""
        return self.store.trials(self.job)

    def append(self, trial: Trial) -> None:
        """Put a trial on disk."""
        self.store.append(self.job, trial)


def environment(device: str) -> dict[str, str]:
    """Return what a number may depend on beside the job: machine and versions."""
    packages = ("cschoice", "numpy", "scikit-learn", "scikit-optimize", "scipy", "torch")
    return {
        "host": platform.node(),
        "machine": f"{platform.system()} {platform.machine()}",
        "python": sys.version.split()[0],
        "device": device,
        **{package: version(package) for package in packages},
    }
