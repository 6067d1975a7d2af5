"""Cost per task and memory of fits on 10⁴, 10⁵ and 10⁶ tasks of ten objects with 20 features.

Each fit has a process of its own, which reads the tasks from Parquet: MNL, LCL, and one epoch of
FATE and FETA; then it predicts. CPU time of one thread; memory is the largest anonymous memory
during fit and prediction, beside what there was when the tasks had been read. Pages of mapped
files are not counted: the system takes them back when it needs memory. ``sets`` fits tasks of
5,000 objects.

    python benchmarks/size.py [--tasks 10000 100000] [--plot benchmarks/size.svg] [--folder DIR]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind

N_OBJECTS, N_FEATURES = 10, 20
N_LARGE = 5_000  # objects of a large set
_NETWORK = {"n_layers": 2, "n_units": 64, "epochs": 1, "batch_size": 1024}
_OF_SET = {"n_set_layers": 2, "n_set_units": 64, "n_embedding": 64}
LEARNERS: dict[str, dict[str, Any]] = {
    "mnl": {},
    "lcl": {},
    "fate": {**_NETWORK, **_OF_SET},
    "feta": _NETWORK,
}


def make(path: Path, n_tasks: int, n_objects: int, n_features: int) -> None:
    """Write tasks in which utilities are linear and noisy."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_tasks, n_objects, n_features), dtype=np.float32)
    utilities = x @ rng.standard_normal(n_features, dtype=np.float32)
    chosen = (utilities + rng.gumbel(size=utilities.shape)).argmax(1)
    ChoiceTasks.from_dense(x, chosen, Kind.SINGLETON).to_parquet(path)


class Anonymous:
    """The largest anonymous memory of this process while it is watched, in megabytes."""

    def __init__(self) -> None:
        self.before = self.largest = _anonymous()
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Anonymous:
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watch.join()

    def _look(self) -> None:
        while not self._ended.wait(0.02):
            self.largest = max(self.largest, _anonymous())


def _anonymous() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) / 1024


def measured(work: Callable[[], Any]) -> tuple[float, float]:
    """Return the CPU seconds of some work, and the megabytes that it needed."""
    with Anonymous() as memory:
        start = time.thread_time()
        work()
        seconds = time.thread_time() - start
    return seconds, memory.largest - memory.before


def one(learner: str, path: Path) -> None:
    """Fit and predict, and print what both cost as JSON."""
    import torch

    torch.set_num_threads(1)
    small = ChoiceTasks.from_dense(np.eye(4)[None], [0], Kind.SINGLETON)
    make_learner(learner, **LEARNERS[learner]).fit(small)  # what is loaded at the first use
    tasks = ChoiceTasks.from_parquet(path)
    model = make_learner(learner, **LEARNERS[learner])
    fit = measured(lambda: model.fit(tasks))
    prediction = measured(lambda: model.utilities(tasks))
    print(json.dumps({"fit": fit, "predict": prediction}))


def in_a_process(learner: str, path: Path) -> dict[str, list[float]]:
    """Return what ``one`` measures."""
    command = [sys.executable, __file__, "--one", learner, str(path)]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    costs: dict[str, list[float]] = json.loads(found.stdout.splitlines()[-1])
    return costs


def main() -> None:
    """Print a line per learner and number of tasks, and draw the cost per task."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--sets", type=int, default=20, help="tasks of 5,000 objects; 0: none")
    parser.add_argument("--learner", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--plot", type=Path, default=Path(__file__).with_name("size.svg"))
    parser.add_argument("--folder", type=Path, help="where to put the tasks; not in memory")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        one(given.one[0], Path(given.one[1]))
        return
    per_task: dict[str, dict[int, float]] = {name: {} for name in given.learner}
    print(f"{'learner':8} {'tasks':>9} {'objects':>7} {'fit s':>8} {'µs/task':>8} {'MB':>6} "
          f"{'predict s':>9} {'MB':>6}")  # fmt: skip
    shapes = [(n, N_OBJECTS, N_FEATURES) for n in given.tasks]
    shapes += [(given.sets, N_LARGE, N_FEATURES)] if given.sets else []
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for n_tasks, n_objects, n_features in shapes:
            path = Path(folder) / f"{n_tasks}x{n_objects}.parquet"
            make(path, n_tasks, n_objects, n_features)
            for name in given.learner:
                costs = in_a_process(name, path)
                (fit, fit_memory), (predict, predict_memory) = costs["fit"], costs["predict"]
                if n_objects == N_OBJECTS:
                    per_task[name][n_tasks] = fit / n_tasks * 1e6
                line = f"{name:8} {n_tasks:9,} {n_objects:7,} {fit:8.2f} {fit / n_tasks * 1e6:8.1f}"
                print(f"{line} {fit_memory:6.0f} {predict:9.2f} {predict_memory:6.0f}", flush=True)
            path.unlink()
    draw(per_task, given.plot)


def draw(per_task: dict[str, dict[int, float]], path: Path) -> None:
    """Draw the cost per task over the number of tasks, both on log scales."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "cschoice"
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5, 3), layout="constrained")
    for name, costs in per_task.items():
        axis.loglog(list(costs), list(costs.values()), "o-", label=name)
    axis.set_xlabel("tasks of 10 objects with 20 features")
    axis.set_ylabel("µs of CPU time per task of a fit")
    axis.set_ylim(1, 100)
    axis.legend(ncols=len(per_task), loc="lower center")
    figure.savefig(path, metadata={"Date": None})
    print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
