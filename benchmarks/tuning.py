"""Compare a cheap search with 60 full trials and with the defaults, by test scores and cost.

On each fold: the defaults; 60 full trials with a Gaussian process; and the profile's budget, which
ends where it expects less than the noise between inner splits (``--least-gain``). All have the same
folds, splits and search space. Prints the test metric of each, the share of the CPU time, and the
mean difference with its standard error over folds (corrected for overlapping training tasks).

    python benchmarks/tuning.py [--learner fate ranknet mnl] [--dataset medoid …] [--folds 5]
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from frugal import tuned

from cschoice.runs.records import Budget, Job
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan

DATASETS = ["medoid", "pareto2d", "hypervolume", "pareto5d", "mnist-unique-singleton"]
LEARNERS = ["fate", "ranknet", "mnl"]
Row = dict[str, tuple[float, float]]  # by way to tune: test metric, CPU seconds of its trials


def budgets(budget: Budget, n_trials: int, least_gain: float) -> dict[str, Budget]:
    """Return the ways to tune."""
    return {
        "defaults": replace(budget, n_trials=0),
        "cheap": replace(budget, least_gain=least_gain),
        "full": replace(budget, n_trials=n_trials, frugal=None, least_gain=0.0),
    }


def row(job: Job, n_trials: int, least_gain: float) -> Row:
    """Tune a job in every way; return the test metric and the CPU seconds of each."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            name: tuned(replace(job, budget=budget), ResultStore(Path(folder) / name))
            for name, budget in budgets(job.budget, n_trials, least_gain).items()
        }


def difference(rows: Sequence[Row], of: str, to: str, n_folds: int) -> str:
    """Describe the mean difference of two ways, with Nadeau and Bengio's standard error."""
    gains = [row[of][0] - row[to][0] for row in rows]
    if min(n_folds, len(gains)) < 2:
        return f"{of} - {to} {gains[0]:+.4f}"
    correction = 1 / len(gains) + 1 / (n_folds - 1)  # folds share training tasks
    error = statistics.stdev(gains) * math.sqrt(correction)
    return f"{of} - {to} {statistics.fmean(gains):+.4f} ± {error:.4f}"


def main() -> None:
    """Print a line per dataset and learner, and one for all of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--learner", nargs="+", default=LEARNERS)
    parser.add_argument("--dataset", nargs="+", default=DATASETS)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--least-gain", type=float, default=0.1)
    parser.add_argument("--profile", default="laptop")
    given = parser.parse_args()
    everything: list[Row] = []
    for dataset in given.dataset:
        for learner in given.learner:
            selection = Selection("study", given.profile, [learner], [dataset], given.folds)
            jobs = plan(load(), selection, ResultStore(Path("nowhere")))
            rows = [row(job, given.trials, given.least_gain) for job in jobs]
            _say(f"{dataset} {learner}", rows, given.folds)
            everything += rows
    _say("all", everything, given.folds)


def _say(name: str, rows: Sequence[Row], n_folds: int) -> None:
    means = ", ".join(
        f"{way} {statistics.fmean(row[way][0] for row in rows):.4f}" for way in rows[0]
    )
    cost = sum(row["cheap"][1] for row in rows) / max(1e-9, sum(row["full"][1] for row in rows))
    gaps = "; ".join(difference(rows, "cheap", other, n_folds) for other in ("full", "defaults"))
    print(f"{name}: {means}; {gaps}; at {cost:.1%} of the cost", flush=True)


if __name__ == "__main__":
    main()
