"""Measure how much faster datasets are generated than by a plain loop over tasks.

Both sides run in this process, one thread, in turns; CPU time, medians. The plain loops below
are the rules as one would write them down in NumPy, one task at a time.

    python benchmarks/datasets.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np

from cschoice.datasets import make_dataset
from cschoice.tasks import ChoiceTasks, Kind

# Tasks per CPU-second of the code released with the paper, measured on one core of the machine
# the ratios below were first taken on.
RELEASED = {"medoid": 14_000, "hypervolume": 4_300, "pareto2d": 1_900, "pareto5d": 1_800}


def point_in_ball(rng: np.random.Generator, d: int) -> np.ndarray:
    direction = rng.standard_normal(d)
    return rng.random() * direction / np.linalg.norm(direction)


def plain_medoid(n_tasks: int, rng: np.random.Generator) -> ChoiceTasks:
    x, chosen = np.empty((n_tasks, 10, 5), np.float32), np.zeros((n_tasks, 10), dtype=bool)
    for task in range(n_tasks):
        points = rng.random((10, 5))
        distances = np.linalg.norm(points[:, None] - points[None], axis=2)
        x[task], chosen[task, distances.mean(axis=1).argmin()] = points, True
    return ChoiceTasks.from_dense(x, chosen, Kind.SINGLETON)


def plain_hypervolume(n_tasks: int, rng: np.random.Generator) -> ChoiceTasks:
    x, chosen = np.empty((n_tasks, 10, 2), np.float32), np.zeros((n_tasks, 10), dtype=bool)
    for task in range(n_tasks):
        points = rng.random((10, 2))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        order = np.argsort(points[:, 0])
        width = np.diff(points[order, 0], prepend=0)
        height = -np.diff(points[order, 1], append=0)
        chosen[task, order[(width * height).argmax()]] = True
        x[task] = point_in_ball(rng, 2) - points
    return ChoiceTasks.from_dense(x, chosen, Kind.SINGLETON)


def plain_pareto(n_tasks: int, rng: np.random.Generator, d: int) -> ChoiceTasks:
    x, chosen = np.empty((n_tasks, 30, d), np.float32), np.zeros((n_tasks, 30), dtype=bool)
    for task in range(n_tasks):
        if task % 10 == 0:
            centre = point_in_ball(rng, d)
        points = centre + rng.standard_normal((30, d))
        one, other = points[:, None], points[None]
        dominated = (other >= one).all(axis=2) & (other > one).any(axis=2)
        x[task], chosen[task] = points, ~dominated.any(axis=1)
    return ChoiceTasks.from_dense(x, chosen, Kind.SUBSET)


PLAIN: dict[str, Callable[[int, np.random.Generator], ChoiceTasks]] = {
    "medoid": plain_medoid,
    "hypervolume": plain_hypervolume,
    "pareto2d": lambda n_tasks, rng: plain_pareto(n_tasks, rng, 2),
    "pareto5d": lambda n_tasks, rng: plain_pareto(n_tasks, rng, 5),
}


def cpu_seconds(run: Callable[..., object], *arguments: object) -> float:
    start = time.process_time()
    run(*arguments)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print("dataset      plain µs/task  ours µs/task  ratio     tasks/s  × released")
    for name, plain in PLAIN.items():
        source = make_dataset(name, n_train=options.tasks, n_test=1)
        slow, fast = [], []
        for seed in range(options.repeats):
            slow.append(
                cpu_seconds(plain, options.tasks, np.random.default_rng(seed)) / options.tasks
            )
            fast.append(cpu_seconds(source.sample, options.tasks, seed) / options.tasks)
        ours, theirs = statistics.median(fast), statistics.median(slow)
        print(
            f"{name:<12} {theirs * 1e6:>13.2f} {ours * 1e6:>13.3f} {theirs / ours:>6.0f} "
            f"{1 / ours:>11,.0f} {1 / ours / RELEASED[name]:>11.0f}"
        )


if __name__ == "__main__":
    main()
