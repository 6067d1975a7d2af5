"""The cost of SLURM per job: the same jobs in one process, one process each, on a cluster.

Starts the tests' cluster (needs root and SLURM's packages, see tests/cluster/cluster.py). Jobs run
one at a time, so that they do not slow each other down; what a busy cluster's queue costs comes on
top, and no program can help it.

    python benchmarks/slurm.py [--jobs 12] [--queued 300]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from cluster.cluster import running_cluster, why_not

COMMAND = Path(sys.executable).parent / "cschoice"
STUDY = """
experiments: {tiny: {protocol: nested, datasets: [medoid], learners: [random]}}
profiles: {tiny: {folds: 1000, trials: 0, datasets: {n_train: 100, n_test: 100}}}
"""


def run(results: str, n_jobs: int, *options: str, environment: dict[str, str]) -> float:
    """Return how many seconds a run took."""
    words = ["run", "--experiment", "tiny", "--profile", "tiny", "--folds", str(n_jobs)]
    started = time.perf_counter()
    subprocess.run(
        [COMMAND, *words, "--device", "cpu", "--results", results, *options],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    return time.perf_counter() - started


def per_job(name: str, n_jobs: int, *options: str, environment: dict[str, str]) -> float:
    """Return how much longer a run takes with each further job; of three tries, the shortest."""
    few, many = (
        min(run(f"{name}-{n}-{k}", n, *options, environment=environment) for k in range(3))
        for n in (1, 1 + n_jobs)
    )
    return (many - few) / n_jobs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=12, help="jobs that are run")
    parser.add_argument("--queued", type=int, default=300, help="jobs that are only submitted")
    options = parser.parse_args()
    if reason := why_not():
        raise SystemExit(f"error: no SLURM can be started: {reason}")
    here = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, running_cluster() as cluster:
        os.chdir(folder)
        Path("experiments.yaml").write_text(STUDY)
        there = cluster.environment
        slurm = ("--executor", "slurm", "--gpus", "1", "--max-jobs", "1")
        inline = per_job("inline", options.jobs, "--executor", "inline", environment=here)
        print(f"in one process      {inline:6.2f} s per job: the work itself")
        local = per_job("local", options.jobs, "--workers", "1", environment=here)
        print(f"one process each    {local:6.2f} s per job: {local - inline:.2f} s to start it")
        queued = per_job("slurm", options.jobs, *slurm, environment=there)
        print(f"on SLURM            {queued:6.2f} s per job: {queued - local:.2f} s more")
        print(f"overhead on SLURM   {queued - inline:6.2f} s per job")
        with cluster.waiting():
            submit = per_job("queue", options.queued, *slurm, "--detach", environment=there)
        print(f"to submit           {1000 * submit:6.1f} ms per job")


if __name__ == "__main__":
    main()
