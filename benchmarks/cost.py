"""How close FETA's training step comes to the machine's own matrix products, and how it grows.

The peak is the rate of one large product, measured in turns with the training steps; what counts
as work are the products of hidden layers, one evaluation per unordered pair, with half of the
multiplications that a layer without mirrored weights has. One thread, CPU time, medians.

    python benchmarks/cost.py [--repeats 5] [--plot benchmarks/cost.svg]
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind

N_UNITS, N_LAYERS = 64, 3
BATCH_SIZE = 128
PAIRS_PER_EPOCH = 400_000
OBJECTS = (3, 5, 10, 20, 40, 80)
FEATURES = (2, 8, 32, 128, 512)
_SIDE = 1024


def random_tasks(n_objects: int, n_features: int) -> ChoiceTasks:
    """Return tasks with about the same number of pairs in all, whatever the number of objects."""
    n_tasks = max(BATCH_SIZE, PAIRS_PER_EPOCH // (n_objects * (n_objects - 1) // 2))
    n_tasks = min(n_tasks, 20_000)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_tasks, n_objects, n_features), dtype=np.float32)
    return ChoiceTasks.from_dense(x, rng.integers(n_objects, size=n_tasks), Kind.SINGLETON)


def epoch_seconds(tasks: ChoiceTasks) -> float:
    """Return the CPU time of one more epoch: the work done once per fit cancels out."""
    seconds = []
    for epochs in (1, 3):
        learner = make_learner(
            "feta", n_layers=N_LAYERS, n_units=N_UNITS, epochs=epochs, batch_size=BATCH_SIZE
        )
        start = time.process_time()
        learner.fit(tasks)
        seconds.append(time.process_time() - start)
    return (seconds[1] - seconds[0]) / 2


def products_per_epoch(tasks: ChoiceTasks) -> float:
    """Count multiplications and additions: forward, to the units below, to the weights."""
    n_objects, n_features = int(tasks.sizes[0]), tasks.n_features
    hidden = (N_LAYERS - 1) * N_UNITS**2
    # Mirrored weights [[A, B], [B, A]] are two blocks of half the side in sums and differences.
    per_pair, per_object = hidden / 2, 2 * n_features * N_UNITS + hidden
    n_pairs = n_objects * (n_objects - 1) / 2
    return 3 * 2 * len(tasks) * (n_pairs * per_pair + n_objects * per_object)


def peak() -> float:
    """Return multiplications and additions per CPU second in one large product."""
    a, b, out = (torch.ones(_SIDE, _SIDE) for _ in range(3))
    torch.mm(a, b, out=out)
    n_products = 10
    start = time.process_time()
    for _ in range(n_products):
        torch.mm(a, b, out=out)
    return n_products * 2 * _SIDE**3 / (time.process_time() - start)


def main() -> None:
    """Print one line per number of objects and of features, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--plot", type=Path, default=Path(__file__).with_name("cost.svg"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    shapes = [(n, 5) for n in OBJECTS] + [(10, d) for d in FEATURES]
    data = {shape: random_tasks(*shape) for shape in shapes}
    seconds: dict[tuple[int, int], list[float]] = {shape: [] for shape in shapes}
    peaks = []
    for _ in range(options.repeats):
        for shape, tasks in data.items():
            peaks.append(peak())
            seconds[shape].append(epoch_seconds(tasks))
    best = statistics.median(peaks)
    print(f"one product of {_SIDE} × {_SIDE} matrices: {best / 1e9:.0f} GFLOP per CPU second")
    print("objects  features  µs per task  of the peak")
    per_task = {}
    for shape, tasks in data.items():
        taken = statistics.median(seconds[shape])
        per_task[shape] = taken / len(tasks) * 1e6
        share = products_per_epoch(tasks) / taken / best
        print(f"{shape[0]:7} {shape[1]:9} {per_task[shape]:12.1f} {share:12.0%}")
    draw(per_task, options.plot)


def draw(per_task: dict[tuple[int, int], float], path: Path) -> None:
    """Draw both curves, each axis on a log scale."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "cschoice"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
    curves = (("objects, 5 features", 0, [(n, 5) for n in OBJECTS]),
              ("features, 10 objects", 1, [(10, d) for d in FEATURES]))  # fmt: skip
    for axis, (name, place, shapes) in zip(axes, curves, strict=True):
        x = [shape[place] for shape in shapes]
        axis.loglog(x, [per_task[shape] for shape in shapes], "o-", color="#0072b2")
        axis.set_xticks(x, labels=map(str, x), minor=False)
        axis.minorticks_off()
        axis.set_xlabel(name)
    axes[0].set_ylabel("µs of CPU time per task and epoch")
    figure.savefig(path, metadata={"Date": None})
    print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
