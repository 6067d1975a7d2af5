"""Measure what finished jobs cost the commands that look at all of them, in CPU time.

Makes a results folder of jobs that were never run, with records of made-up values, and prints the
CPU time of each command, in all and per job beyond that of a folder with hardly any.

    python benchmarks/status.py [--jobs 24000]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from unittest import mock

from cschoice.runs import job_files, journals
from cschoice.runs.records import Job, Record, Rung, State, Trial, TrialState
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan

STUDY = """
experiments:
  many:
    protocol: nested
    datasets: [medoid, hypervolume, unique-onehot, journeys]
    learners: [mnl, nl, random, fate, feta, sda]
profiles:
  made-up: {{folds: {folds}, trials: 2, inner_splits: 1}}
"""
WORDS = ["--profile", "made-up", "--experiment", "many"]
COMMANDS = [["collect"], ["collect"], ["status", *WORDS], ["run", *WORDS, "--dry-run"]]
FEW = 24  # one fold of each


def made(folder: Path, n_jobs: int) -> int:
    """Make a study in a folder with that many finished jobs; return how many there are."""
    (folder / "experiments.yaml").write_text(STUDY.format(folds=max(1, n_jobs // FEW)))
    store = ResultStore(folder / "results")
    store.open()
    jobs = plan(load(folder / "experiments.yaml"), Selection("many", "made-up"), store)
    with mock.patch("os.fsync"):  # a made-up result may be lost
        for job in jobs:
            _finish(store.folder(job), job)
    return len(jobs)


def _finish(folder: Path, job: Job) -> None:
    folder.mkdir(parents=True)
    job_files.write_job(folder, job)
    n_trials = job.budget.n_trials
    for number in range(n_trials):
        trial = Trial(number, Rung.FULL, {"l2": 0.1}, [0.5], TrialState.COMPLETE, 0.1)
        journals.append(folder / job_files.JOURNAL, trial)
    record = Record(
        job.key, State.DONE, params={"l2": 0.1}, metrics={"accuracy": 0.5}, n_trials=n_trials
    )
    job_files.write_record(folder, record)


def seconds(folder: Path, words: list[str]) -> float:
    """Return the CPU time of a command in a folder."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = "from cschoice_cli.main import app; app()"
    environment = {**os.environ, "CSCHOICE_CACHE": str(folder.parent / "cache")}
    subprocess.run(
        [sys.executable, "-c", call, *words],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=24_000)
    n_wanted = parser.parse_args().jobs
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / name for name in ("few", "many")]
        for folder in folders:
            folder.mkdir()
        few, many = (
            made(folder, number) for folder, number in zip(folders, (FEW, n_wanted), strict=True)
        )
        seconds(folders[0], COMMANDS[2])  # fills the cache
        print(f"{'command':22}{f'{few} jobs, s':>14}{f'{many:,} jobs, s':>18}{'ms per job':>12}")
        for words in COMMANDS:
            first, second = (seconds(folder, words) for folder in folders)
            each = 1_000 * (second - first) / (many - few)
            name = " ".join([words[0], *words[5:]])
            print(f"{name:22}{first:14.2f}{second:18.2f}{each:12.3f}")


if __name__ == "__main__":
    main()
