"""From jobs to job arrays in SLURM's queue; submitit writes and sends the scripts."""

from __future__ import annotations

import importlib.util
import io
import os
import shutil
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cschoice.errors import ClusterError, InvalidParameter, MissingDependency
from cschoice.io.documents import to_json
from cschoice.runs.executors.resources import Resources
from cschoice.runs.executors.slurm_batches import Batches, owner
from cschoice.runs.executors.slurm_queue import Limits, cancel
from cschoice.runs.executors.slurm_task import SlurmTask
from cschoice.runs.records import Job

_ALWAYS = 1_000_000  # how often submitit may put a job back: ``SlurmTask`` knows when to stop
_WARNING = 90  # seconds between the signal that time is over and the end


class QueueFull(ClusterError):
    """More jobs than this user may have in the queue."""


@dataclass(frozen=True)
class Sent:
    """An array that was submitted."""

    array: str
    batch: str
    tasks: dict[str, Job]  # by SLURM's name, in the array's order


class Submission:
    """Sends jobs, each asking for the same."""

    def __init__(
        self, batches: Batches, resources: Resources, device: str, keep_predictions: bool
    ) -> None:
        if importlib.util.find_spec("submitit") is None:
            raise MissingDependency(
                "--executor slurm needs submitit: pip install 'cschoice[slurm]'"
            )
        if device not in ("auto", "cpu", "cuda"):
            raise InvalidParameter(f"on SLURM, device must be auto, cpu or cuda, got '{device}'")
        if "%" in str(batches.root.absolute()):
            raise InvalidParameter(
                f"SLURM takes % in {batches.root.absolute()} for a code: choose another --results"
            )
        self.batches, self.resources, self.keep_predictions = batches, resources, keep_predictions
        self.device = device if device != "auto" else "cuda" if resources.gpus else "cpu"

    def send(self, jobs: Sequence[Job], limits: Limits, before: Collection[str]) -> Sent:
        """Submit the first of the jobs as an array, as long as the cluster takes it.

        SLURM limits how many tasks of one array run at once. For that limit to hold over several
        arrays, each waits for those ``before`` it.
        """
        jobs = jobs[: limits.array_size]
        while True:
            folder = self.batches.new(limits.cluster, jobs)
            try:
                array = self._submit(folder, jobs, before if self.resources.max_jobs else ())
            except QueueFull:
                if len(jobs) == 1:
                    raise
                jobs = jobs[: len(jobs) // 2]
            else:
                names = [array] if len(jobs) == 1 else [f"{array}_{k}" for k in range(len(jobs))]
                return Sent(array, folder.name, dict(zip(names, jobs, strict=True)))

    def _submit(self, folder: Path, jobs: Sequence[Job], before: Collection[str]) -> str:
        import submitit

        tasks = [
            SlurmTask(
                results=str(self.batches.store.root.absolute()),
                job=to_json(asdict(job)),
                device=self.device,
                keep_predictions=self.keep_predictions,
                owner=owner(folder.name, index),
                minutes=self.resources.minutes,
            )
            for index, job in enumerate(jobs)
        ]
        try:
            with _outside_of_jobs(), _private_files(), redirect_stderr(io.StringIO()):
                executor = submitit.SlurmExecutor(folder=folder, max_num_timeout=_ALWAYS)
                executor.update_parameters(**self._parameters(folder.name, len(jobs), before))
                submitted = executor.submit_array(tasks)
        except (KeyboardInterrupt, OSError):
            _take_back(folder)
            raise
        except RuntimeError as error:  # it may have taken them and failed to say so
            _take_back(folder)
            kind = QueueFull if "MaxSubmit" in str(error) else ClusterError
            raise kind(f"SLURM does not take the jobs: {error}") from error
        array: str = submitted[0].job_id.split("_")[0]
        return array

    def _parameters(self, name: str, n_jobs: int, before: Collection[str]) -> dict[str, Any]:
        asked = self.resources
        options = {
            "requeue": True,
            "partition": asked.partition,
            "account": asked.account,
            "gpus-per-node": asked.gpus or None,
            "cpus-per-task": asked.cpus,
            "mem": asked.mem,
            "dependency": f"afterany:{':'.join(sorted(before))}" if before else None,
            **asked.sbatch,
        }
        return {
            "job_name": name,
            "time": asked.minutes,
            "array_parallelism": asked.max_jobs or n_jobs,
            "signal_delay_s": min(_WARNING, 60 * asked.minutes // 4),
            "stderr_to_stdout": True,
            # Since SLURM 22.05 a step does not inherit it.
            "srun_args": [f"--cpus-per-task={asked.cpus}"],
            "additional_parameters": {
                key: value for key, value in options.items() if value not in (None, False)
            },
        }


def _take_back(folder: Path) -> None:
    """Forget an array: tasks whose files are not there yet could not start."""
    with suppress(ClusterError):
        cancel(f"--name={folder.name}")
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _private_files() -> Iterator[None]:
    """Make files that only this user may read: submitit's are run when they are."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _outside_of_jobs() -> Iterator[None]:
    """Hide that this itself may run in a job of SLURM's, whose limits others would inherit."""
    hidden = {
        name: os.environ.pop(name)
        for name in list(os.environ)
        if name.startswith("SLURM_") and name != "SLURM_CONF"
    }
    try:
        yield
    finally:
        os.environ.update(hidden)
