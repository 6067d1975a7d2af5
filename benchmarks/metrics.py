"""Measure every metric and the threshold search on 100,000 tasks of 30 objects.

CPU time, one thread, medians of interleaved repeats.

    python benchmarks/metrics.py
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from cschoice.datasets import make_dataset
from cschoice.evaluation.decisions import tune_threshold
from cschoice.evaluation.metrics import METRICS
from cschoice.tasks import ChoiceTasks, Kind

REPEATS = 5


def main() -> None:
    subset = make_dataset("pareto2d").sample(100_000, seed=0)
    rng = np.random.default_rng(0)
    answers = rng.integers(30, size=100_000)
    singleton = ChoiceTasks.from_dense(np.zeros((100_000, 30, 1)), answers, Kind.SINGLETON)
    utilities = rng.standard_normal(subset.n_entries).astype(np.float32)
    choices = utilities > 1
    runs = {"tune_threshold": lambda: tune_threshold(subset, utilities)}
    for name, metric in METRICS.items():
        tasks = subset if Kind.SUBSET in metric.kinds else singleton
        values = choices if metric.needs == "choices" else utilities
        runs[name] = lambda metric=metric, tasks=tasks, values=values: metric(tasks, values)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEATS):
        for name, run in runs.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    print("metric               CPU ms")
    for name, times in seconds.items():
        print(f"{name:<20} {statistics.median(times) * 1e3:>6.0f}")


if __name__ == "__main__":
    main()
