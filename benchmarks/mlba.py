"""How close learners come to true choice probabilities with human-like context effects.

The choices were simulated from the multi-attribute linear ballistic accumulator, so that the
probability of each option is known: sets of three with attraction, similarity and compromise. Each
learner is fitted on the training sets with its defaults and a number of epochs; what is printed is
the mean Kullback–Leibler divergence of its probabilities from the true ones on the test sets, by
seed, and the CPU time of a fit.

    CSCHOICE_DATA=… python benchmarks/mlba.py [--learner feta deep-sets] [--seeds 1 2 3]
                                              [--set pooling=max]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import yaml

from cschoice.datasets.raw.folders import data_folders
from cschoice.learners import LEARNERS, make_learner
from cschoice.tasks import ChoiceTasks

DEFAULT = ("feta", "feta3", "fate", "deep-sets", "sda", "pointwise-net", "mnl")


def read(part: str) -> tuple[ChoiceTasks, np.ndarray]:
    """Return the sets of a part and the true probability of each option."""
    for folder in data_folders():
        path = Path(folder) / "mlba" / f"{part}.parquet"
        if path.exists():
            frame = pd.read_parquet(path)
            tasks = ChoiceTasks.from_frame(
                frame, task="set", chosen="chosen", features=["a1", "a2"]
            )
            return tasks, frame["true_prob"].to_numpy(dtype=np.float64)
    raise SystemExit("mlba/train.parquet and mlba/test.parquet not found: set CSCHOICE_DATA")


def divergence(tasks: ChoiceTasks, truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the mean divergence of the probabilities from the truth, in nats."""
    each = np.where(truth > 0, truth * np.log(np.maximum(truth, 1e-300) / probabilities), 0.0)
    return float(tasks.reduce(np.add, each).mean())


def main() -> None:
    """Print one line per learner."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--learner", nargs="+", default=DEFAULT, choices=list(LEARNERS))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", dest="changes")
    options = parser.parse_args()
    changes = {
        name: yaml.safe_load(value) for name, value in (c.split("=") for c in options.changes)
    }
    torch.set_num_threads(1)
    (train, _), (test, truth) = read("train"), read("test")
    for name in options.learner:
        epochs = {"epochs": options.epochs} if "epochs" in LEARNERS[name].parameters else {}
        found, seconds = [], []
        for seed in options.seeds:
            start = time.process_time()
            learner = make_learner(name, **{**epochs, **changes}).fit(train, seed=seed)
            seconds.append(time.process_time() - start)
            found.append(divergence(test, truth, learner.probabilities(test)))
        values = ", ".join(f"{value:.4f}" for value in found)
        settings = f" {changes}" if changes else ""
        print(
            f"{name}{settings}: {np.mean(found):.4f} ({values}), {np.mean(seconds):.0f} CPU s",
            flush=True,
        )


if __name__ == "__main__":
    main()
