"""Measure the cost of jobs beside fitting: processes, imports, data, proposals, records.

Runs one fold of a learner and then all of them, in one slot, and compares the CPU time of all
processes with that of the fits (trials, final fit and test), as the records have it. What both
runs have in common is paid once per run; the difference is what each further job costs. What this
process itself loads, like the command, is not counted.

    python benchmarks/overhead.py [--profile laptop] [--learner feta mnl] [--dataset medoid]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path

from cschoice.runs.executors.local import LocalExecutor, local_slots
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan


def used() -> float:
    """Return the CPU time of this process and of all that it started and that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def measured(profile: str, learner: str, dataset: str, n_folds: int) -> tuple[float, float]:
    """Return the CPU time of a run, and the part of it that is not fitting."""
    with tempfile.TemporaryDirectory() as folder:
        store = ResultStore(Path(folder))
        store.open()
        jobs = plan(load(), Selection("study", profile, [learner], [dataset], n_folds), store)
        before = used()
        executor = LocalExecutor(store, local_slots("cpu", 1))
        list(executor.run(jobs, lambda *_: None))
        total = used() - before
        records = [store.record(job) for job in jobs]
    return total, total - sum(record.seconds for record in records if record)


def main() -> None:
    """Print a line per learner and dataset."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="laptop")
    parser.add_argument("--learner", nargs="+", default=["feta", "fate", "ranknet", "mnl"])
    parser.add_argument("--dataset", nargs="+", default=["medoid", "pareto2d"])
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    for dataset in options.dataset:
        for learner in options.learner:
            _, once = measured(options.profile, learner, dataset, 1)
            total, beside = measured(options.profile, learner, dataset, options.folds)
            each = (beside - once) / (options.folds - 1)
            print(
                f"{dataset} {learner}: {total / options.folds:.2f} CPU s per job; not fitting are "
                f"{once - each:.2f} s once per run and {each:.2f} s per job "
                f"({each * options.folds / total:.1%})",
                flush=True,
            )


if __name__ == "__main__":
    main()
