"""Measure what a job costs beside fitting: processes, imports, data, proposals, records.

Runs jobs of a profile as their worker processes and compares the CPU time of each process with
that of its fits (trials, final fit and test), as its record has it.

    python benchmarks/overhead.py [--profile laptop] [--learner feta mnl] [--dataset medoid]
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import tempfile
from pathlib import Path

from cschoice.config import load
from cschoice.pipeline import Selection, plan
from cschoice.store import ResultStore
from cschoice.worker import command, thread_settings


def children() -> float:
    """Return the CPU time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Print a line per job."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--profile", default="laptop")
    parser.add_argument("--learner", nargs="+", default=["feta", "fate", "ranknet", "mnl"])
    parser.add_argument("--dataset", nargs="+", default=["medoid"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = ResultStore(Path(folder))
        store.open()
        selection = Selection("study", options.profile, options.learner, options.dataset, folds=1)
        for job in plan(load(), selection, store):
            before = children()
            subprocess.run(
                command(store, job, "cpu", keep_predictions=False),
                env=os.environ | thread_settings(job.threads),
                stdout=subprocess.DEVNULL,
                check=True,
            )
            total = children() - before
            record = store.record(job)
            if record is None or record.reason is not None:
                raise SystemExit(f"{job.label}: {record and record.reason}")
            beside = total - record.seconds
            print(
                f"{job.label}: {total:.1f} CPU s, of which {beside:.1f} s ({beside / total:.1%}) "
                "are not fitting",
                flush=True,
            )


if __name__ == "__main__":
    main()
