"""Compare frugal tuning with tuning that spends a full fit on every trial and inner split.

Both have the folds and the search space of the profile; the full tuning has more trials, each of
them a fit of all tasks and epochs on every inner split. Prints the test metric of both and the
share of the tuning's CPU time. Datasets of few tasks, such as LETOR-MQ2008, are refused: there a
frugal budget has full trials and another final model, and the tuning cannot be compared alone.

    python benchmarks/frugal.py [--learner fate] [--dataset medoid] [--full-trials 20]
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from cschoice.evaluation.metrics import TARGETS
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import work
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan
from cschoice.tasks import Kind


def tuned(job: Job, store: ResultStore) -> tuple[float, float]:
    """Return the target metric on the test tasks and the CPU time of the trials."""
    record = work(Context(job, store))
    if record is None or record.reason is not None:
        raise SystemExit(f"{job.label}: {record and record.reason}")
    frugal = job.budget.frugal
    if frugal and record.n_train is not None and record.n_train <= frugal.few_tasks:
        raise SystemExit(f"{job.dataset} has few tasks: its frugal trials are full fits")
    value = record.metrics[TARGETS[Kind(str(record.kind))]]
    return float(value or 0), sum(trial.seconds for trial in store.trials(job))


def main() -> None:
    """Print a line per fold and one for all folds of a dataset."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--learner", default="fate")
    parser.add_argument("--dataset", nargs="+", default=["pareto2d", "medoid"])
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--full-trials", type=int, default=20)
    parser.add_argument("--profile", default="laptop")
    options = parser.parse_args()
    study = load()
    for dataset in options.dataset:
        rows = []
        for number in range(options.folds):
            with tempfile.TemporaryDirectory() as folder:
                frugal_store = ResultStore(Path(folder) / "frugal")
                full_store = ResultStore(Path(folder) / "full")
                selection = Selection(
                    "study", options.profile, [options.learner], [dataset], options.folds
                )
                job = plan(study, selection, frugal_store)[number]
                frugal, seconds = tuned(job, frugal_store)
                full = replace(
                    job, budget=replace(job.budget, n_trials=options.full_trials, frugal=None)
                )
                best, full_seconds = tuned(full, full_store)
                rows.append((frugal, best, seconds / full_seconds))
                print(
                    f"{job.label}: frugal {frugal:.4f} in {seconds:.0f} CPU s, "
                    f"full {best:.4f} in {full_seconds:.0f} CPU s of tuning",
                    flush=True,
                )
        frugal, best, share = np.mean(rows, axis=0)
        print(
            f"{dataset} {options.learner}: frugal {frugal:.4f}, full {best:.4f}, "
            f"difference {frugal - best:+.4f}, at {share:.1%} of the cost",
            flush=True,
        )


if __name__ == "__main__":
    main()
