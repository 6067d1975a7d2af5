"""The surroundings of a job: its files, its device, and the listener to its progress."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cschoice.io.files import replacing
from cschoice.io.locks import ClaimLost
from cschoice.runs.records import Job, Record, State, Trial
from cschoice.runs.store import ResultStore

if TYPE_CHECKING:
    from cschoice.learners.learner import Learner
    from cschoice.models.predictor import Preparation
    from cschoice.tasks import ChoiceTasks

Event = Mapping[str, Any]

# The part of a cluster; numbers of jobs are in their logs.
_SLURM = ("SLURM_CLUSTER_NAME", "SLURM_JOB_PARTITION", "SLURMD_NODENAME")


def _ignore(event: Event) -> None:
    """Tell nobody."""


def _trusted() -> bool:
    """Assume that the folder is ours."""
    return True


@dataclass(frozen=True)
class Context:
    """A job with its store, its device and the listener to its progress."""

    job: Job
    store: ResultStore
    device: str = "cpu"
    keep_predictions: bool = False
    tell: Callable[[Event], None] = _ignore
    holds: Callable[[], bool] = _trusted  # whether the job is still ours to write

    @property
    def folder(self) -> Path:
        """Return the job's folder."""
        return self.store.folder(self.job)

    def check(self) -> None:
        """End here if someone else took the job over; to be asked before writing its files."""
        if not self.holds():
            raise ClaimLost(f"{self.folder} was taken over")

    def save(self, learner: Learner, preparation: Preparation) -> None:
        """Keep the fitted model."""
        from cschoice.models.predictor import save

        self.check()
        save(self.folder / "model", learner, preparation)

    def save_predictions(self, tasks: ChoiceTasks, utilities: NDArray[np.float32]) -> None:
        """Keep one utility per entry of the test tasks: new metrics need no new training."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.check()
        numbers = np.repeat(np.arange(len(tasks)), tasks.sizes)
        columns = {"task": numbers, "chosen": tasks.chosen.astype(np.int8), "utility": utilities}
        with replacing(self.folder / "predictions.parquet") as (temporary,):
            pq.write_table(pa.table(columns), temporary, compression="zstd")

    def done(self, train: ChoiceTasks, **results: Any) -> Record:
        """Return the record of the job, done on these training tasks."""
        return Record(
            key=self.job.key,
            state=State.DONE,
            kind=str(train.kind),
            environment=environment(self.device),
            **results,
        )

    def trials(self) -> list[Trial]:
        """Return the trials so far."""
        return self.store.trials(self.job)

    def append(self, trial: Trial) -> None:
        """Put a trial on disk."""
        self.check()
        self.store.append(self.job, trial)


def environment(device: str) -> dict[str, str]:
    """Return the machine and the versions, which may change a number's last digits."""
    packages = ("cschoice", "numpy", "scikit-learn", "scikit-optimize", "scipy", "torch")
    return {
        "host": platform.node(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu(),
        "python": sys.version.split()[0],
        "device": device,
        **_gpu(device),
        **{name: os.environ[name] for name in _SLURM if name in os.environ},
        **{package: version(package) for package in packages},
    }


def _cpu() -> str:
    """Return the processor's name: its kind decides the last digits."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")


def _gpu(device: str) -> dict[str, str]:
    """Return the GPU's name and its number in the machine."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    found = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    if device.startswith("cuda"):
        import torch

        if torch.cuda.is_available():
            found |= {"gpu": torch.cuda.get_device_name(), "cuda": str(torch.version.cuda)}
    return found
