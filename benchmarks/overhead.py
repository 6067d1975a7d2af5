"""Measure what jobs cost beside fitting: processes, imports, data, proposals, records.

Runs all folds of a learner in one slot and compares the CPU time of all processes with that of
the fits (trials, final fit and test), as the records have it.

    python benchmarks/overhead.py [--profile laptop] [--learner feta mnl] [--dataset medoid]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path

from cschoice.config import load
from cschoice.executors.local import LocalExecutor, local_slots
from cschoice.pipeline import Selection, plan
from cschoice.store import ResultStore


def used() -> float:
    """Return the CPU time of this process and of all that it started and that have ended."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def main() -> None:
    """Print a line per learner and dataset."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="laptop")
    parser.add_argument("--learner", nargs="+", default=["feta", "fate", "ranknet", "mnl"])
    parser.add_argument("--dataset", nargs="+", default=["medoid", "pareto2d"])
    options = parser.parse_args()
    for dataset in options.dataset:
        for learner in options.learner:
            with tempfile.TemporaryDirectory() as folder:
                store = ResultStore(Path(folder))
                store.open()
                before = used()
                selection = Selection("study", options.profile, [learner], [dataset])
                jobs = plan(load(), selection, store)
                executor = LocalExecutor(store, local_slots("cpu", 1))
                list(executor.run(jobs, lambda *_: None))
                total = (used() - before) / len(jobs)
                records = [store.record(job) for job in jobs]
                fitting = sum(record.seconds for record in records if record) / len(jobs)
            beside = total - fitting
            print(
                f"{dataset} {learner}: {total:.2f} CPU s per job, of which {beside:.2f} s "
                f"({beside / total:.1%}) are not fitting",
                flush=True,
            )


if __name__ == "__main__":
    main()
