"""A small study, run by the installed command in real processes."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

from cschoice.runs.tables import SCHEMAS, read

COMMAND = Path(sys.executable).parent / "cschoice"
# Times, and what names the machine, may differ between equal runs.
FREE = ["seconds", "environment", "node", "processor"]

STUDY = """
experiments:
  small:
    protocol: nested
    datasets: [medoid, pareto2d]
    learners: [mnl, pairwise-svm, random, all-positive]
  stream:
    protocol: stream
    datasets: [unique-onehot]
    learners: [fate]
    parameters: {epochs: 50, batch_size: 1024, n_units: 32, n_set_units: 32, n_embedding: 32}
    settings: {n_batches: 2, n_test: 1000}
profiles:
  quick:
    folds: 1
    trials: 3
    inner_splits: 2
    datasets: {n_train: 200, n_test: 100}
  many:
    folds: 3
    trials: 60
    datasets: {n_train: 2000, n_test: 200}
"""


def wait_for(condition, seconds=60):
    """Wait until something is so, and return it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")


class Study:
    """One results folder and the command that fills it."""

    text = STUDY

    def __init__(self, folder: Path, profile: str = "quick", *options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "experiments.yaml").write_text(self.text)
        self.folder, self.results = folder, folder / "results"
        self.call = [COMMAND, "run", "--experiment", "small", "--profile", profile, *options]

    def start(self, *options: str, **popen) -> subprocess.Popen:
        """Start a run in a process group of its own."""
        return subprocess.Popen(
            [*self.call, *options],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **popen,
        )

    def run(self, *options: str, code: int = 0, **popen) -> tuple[str, str]:
        """Run to the end; return the output."""
        process = self.start(*options, **popen)
        said = process.communicate(timeout=300)
        assert process.returncode == code, said
        return said

    def kill_after(self, seconds: float, n_trials: int | None = None) -> int | None:
        """Start a run and kill its whole group; return its code if it was faster.

        With a number of trials, it is killed earlier if it got as far as that.
        """
        enough = math.inf if n_trials is None else self.n_trials() + n_trials
        process = self.start()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and process.poll() is None and self.n_trials() <= enough:
            time.sleep(0.02)
        finished = process.poll()
        if finished is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return finished

    def n_trials(self) -> int:
        """Count the trials on disk."""
        journals = self.results.glob("runs/*/*/*/*/*/trials.jsonl")  # models come and go
        return sum(path.read_bytes().count(b"\n") for path in journals)

    def worker(self) -> int | None:
        """Return the process that works on a job, if there is one; the last, if some are dead."""
        for claim in sorted(self.results.glob("runs/*/*/*/*/*/claim-*.json"), reverse=True):
            with suppress(FileNotFoundError):
                if not (claim.parent / "record.json").exists():
                    return int(json.loads(claim.read_text())["pid"])
        return None

    def table(self, name: str) -> pd.DataFrame:
        return read(self.results, name).drop(columns=FREE, errors="ignore")

    def job(self, label: str) -> Path:
        (folder,) = self.results.glob(f"runs/*/small/{label}")
        return folder


def assert_same(one: Study, other: Study) -> None:
    for name in SCHEMAS:
        pd.testing.assert_frame_equal(one.table(name), other.table(name))


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("reference") / "quick")
    study.run()
    return study


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path / "study")


# Two jobs of seconds, one after the other: long enough to be met at work.
LASTING = ("many", "--learner", "mnl", "--folds", "1", "--workers", "1")


@pytest.fixture(scope="session")
def lasting_reference(tmp_path_factory):
    study = Study(tmp_path_factory.mktemp("reference") / "lasting", *LASTING)
    study.run()
    return study


@pytest.fixture
def lasting(tmp_path):
    return Study(tmp_path / "study", *LASTING)
