"""Studies on a real SLURM, run by the installed command."""

import json
import re
import subprocess
from collections import Counter
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import pytest
from faults.conftest import COMMAND, Study

from cschoice.io.files import read_shared
from cschoice.io.processes import process_alive

from .cluster import running_cluster, why_not

SLOW_DISK = Path(__file__).parent / "slow_disk"
STUDY = """
experiments:
  small:
    protocol: nested
    datasets: [medoid, unique-onehot]
    learners: [random, mnl]
profiles:
  forty:
    folds: 10
    trials: 1
    inner_splits: 2
    datasets: {n_train: 100, n_test: 50}
  few:
    folds: 2
    trials: 0
    datasets: {n_train: 100, n_test: 50}
  busy:
    folds: 4
    trials: 60
    datasets: {n_train: 100, n_test: 50}
  slow:
    folds: 1
    trials: 300
    datasets: {n_train: 100, n_test: 50}
"""


# Jobs that take a while on a slow disk, so that things can happen to them.
MNL = ("--learner", "mnl", "--dataset", "medoid")


class Here(Study):
    """The study on this machine."""

    text = STUDY


class Life(NamedTuple):
    """One time that a job ran: where, from when to when."""

    gpu: str  # with its node
    started: datetime
    ended: datetime


class ClusterStudy(Study):
    """A study whose jobs go to SLURM."""

    text = STUDY

    def __init__(self, folder, cluster, profile, *options):
        asked = ("--executor", "slurm", "--gpus", "1", "--device", "cpu", "--mem", "1500M")
        super().__init__(folder, profile, *asked, *options)
        self.cluster, self.profile = cluster, profile

    def start(self, *options, **popen):
        environment = self.cluster.environment
        if self.profile in ("busy", "slow"):
            environment = environment | {"PYTHONPATH": str(SLOW_DISK), "SLOW_DISK": "0.3"}
        process = super().start(*options, env=environment, **popen)
        self.cluster.watching.append(process)
        return process

    def say_it_in_the_study(self, more):
        """Ask for the same without options."""
        settings = f"executor: {{name: slurm, gpus: 1, mem: 1500M, {more}}}\n"
        with (self.folder / "experiments.yaml").open("a") as file:
            file.write(settings)
        self.call = [*self.call[: self.call.index("--executor")], "--device", "cpu"]

    def states(self):
        """Return how many jobs ``status`` says to be where."""
        call = [COMMAND, "status", "--experiment", "small", "--profile", self.profile, "--json"]
        shown = subprocess.run(
            call,
            cwd=self.folder,
            env=self.cluster.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        self.said = shown.stderr
        return Counter(row["state"] for row in json.loads(shown.stdout))

    def working(self, node=None):
        """Return the tasks that are in the midst of their trials, on that node if one is given."""
        found = []
        for path in self.results.glob("runs/*/*/*/*/*/claim-*.json"):
            holder = json.loads(read_shared(path) or "{}")
            here = holder and node in (None, holder["host"]) and process_alive(holder["pid"])
            if here and (path.parent / "trials.jsonl").exists():
                log = (path.parent / "log.txt").read_text()
                found.append(re.findall(r" started SLURM job (\S+),", log)[-1])
        return found

    def logged(self, what):
        """Return each time that a job started or ended, of all jobs: when, and on which GPU."""
        pattern = rf"^(\S+) {what} SLURM job .*, node (\S+), CUDA_VISIBLE_DEVICES=(\S+)$"
        logs = sorted(self.results.glob("runs/*/*/*/*/*/log.txt"))
        found = chain(*(re.findall(pattern, log.read_text(), re.MULTILINE) for log in logs))
        return [(datetime.fromisoformat(when), f"{node}:{gpu}") for when, node, gpu in found]

    def lives(self):
        """Return where and when jobs ran, none of which was disturbed."""
        both = zip(self.logged("started"), self.logged("ended"), strict=True)
        return [Life(gpu, started, ended) for (started, gpu), (ended, _) in both]

    def most_at_once(self):
        """Return how many jobs ran at the same time, at most."""
        lives = self.lives()
        return max(
            sum(other.started <= life.started < other.ended for other in lives) for life in lives
        )


def assert_nothing_doubled(study):
    """Every trial stands in its journal exactly once; readers of journals would not notice."""
    for journal in study.results.glob("runs/*/*/*/*/*/trials.jsonl"):
        numbers = [json.loads(line)["number"] for line in journal.read_text().splitlines()]
        assert numbers == list(range(len(numbers)))


@pytest.fixture(scope="session")
def running():
    if reason := why_not():
        pytest.skip(f"no SLURM can be started: {reason}")
    with running_cluster() as cluster:
        yield cluster


@pytest.fixture
def cluster(running):
    """A cluster whose nodes are up and whose queue is empty, before and after."""
    yield running
    running.mend()
