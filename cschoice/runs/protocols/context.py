"""The surroundings of a job: its files, its device, and the listener to its progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.samples import sample_of
from cschoice.io.files import replacing
from cschoice.io.locks import ClaimLost
from cschoice.runs.environment import environment
from cschoice.runs.records import Job, Record, State, Trial
from cschoice.runs.store import ResultStore

if TYPE_CHECKING:
    from cschoice.learners.learner import Learner
    from cschoice.learners.preparation import Preparation
    from cschoice.tasks import ChoiceTasks

Event = Mapping[str, Any]


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
        """Return the folder to work in."""
        return self.store.place(self.job)

    def check(self) -> None:
        """End here if someone else took the job over; to be asked before writing its files."""
        if not self.holds():
            raise ClaimLost(f"{self.folder} was taken over")

    def save(self, learner: Learner, preparation: Preparation) -> None:
        """Keep the fitted model, with the scale and the threshold of its protocol."""
        self.check()
        learner.preparation_ = preparation
        learner.save(self.folder / "model")

    def save_predictions(self, tasks: ChoiceTasks, utilities: NDArray[np.float32]) -> None:
        """Keep one utility per entry of the test tasks: new metrics need no new training."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.check()
        numbers = np.repeat(np.arange(len(tasks)), tasks.sizes)
        columns = {"task": numbers, "chosen": tasks.chosen.astype(np.int8), "utility": utilities}
        with replacing(self.folder / "predictions.parquet") as (temporary,):
            pq.write_table(pa.table(columns), temporary, compression="zstd")

    def done(self, train: ChoiceTasks, n_test: int, **results: Any) -> Record:
        """Return the record of the job, done on these training tasks and so many test tasks."""
        return Record(
            key=self.job.key,
            state=State.DONE,
            kind=str(train.kind),
            environment={**environment(self.device), **self.job.sources},
            n_train=len(train),
            n_test=n_test,
            n_features=train.n_features,
            smallest=int(train.sizes.min()),
            largest=int(train.sizes.max()),
            sample=sample_of(self.job.dataset),
            **results,
        )

    def trials(self) -> list[Trial]:
        """Return the trials so far."""
        return self.store.trials(self.job)

    def append(self, trial: Trial) -> None:
        """Put a trial on disk."""
        self.check()
        self.store.append(self.job, trial)
