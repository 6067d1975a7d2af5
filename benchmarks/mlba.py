"""How close learners come to true choice probabilities with human-like context effects.

The choices were simulated from the multi-attribute linear ballistic accumulator, so that the
probability of each option is known: two options that trade one attribute for the other, and a third
one anywhere, which makes for attraction, similarity and compromise. Each learner is fitted on the
training sets with its defaults and a number of epochs.

By default the mean Kullback–Leibler divergence of its probabilities from the true ones is printed,
by seed, and the CPU time of a fit. With --part validation, a fifth of the training sets is held
out and takes the place of the test sets: defaults are chosen there.

With --effects, what is printed are the three effects on the test sets, of the model and of the
truth: by how much the log-odds of a target over its competitor are raised by a third option that
attracts to it, that makes a compromise of it, or that is similar to the competitor; the mean over
targets of both kinds, so that a preference for one of the two drops out. Intervals are those of
``cschoice explain``: copies fitted without a part of the training sets each, from two starts.

    CSCHOICE_DATA=… python benchmarks/mlba.py [--learner feta deep-sets] [--seeds 1 2 3]
                                              [--set pooling=max] [--part validation]
    CSCHOICE_DATA=… python benchmarks/mlba.py --effects [--learner feta] [--copies 5]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
import yaml

from cschoice.datasets.raw.folders import data_folders
from cschoice.explanations.triples import Triples, directions_of, triples
from cschoice.explanations.uncertainty import jackknife
from cschoice.learners import LEARNERS, make_learner
from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks

DEFAULT = ("feta", "feta3", "fate", "deep-sets", "sda", "pointwise-net", "lcl", "mnl")
HELD_OUT = 0.2  # of the training sets, for validation
THIRD = 2  # the place of the option that is anywhere


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


def parts(part: str) -> tuple[ChoiceTasks, ChoiceTasks, np.ndarray]:
    """Return the sets to learn from, those to judge by, and the true probabilities of these."""
    train, truth = read("train")
    if part == "test":
        return train, *read("test")
    n_kept = round((1 - HELD_OUT) * len(train))
    return train[:n_kept], train[n_kept:], truth[train.offsets[n_kept] :]


def divergence(tasks: ChoiceTasks, truth: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the mean divergence of the probabilities from the truth, in nats."""
    each = np.where(truth > 0, truth * np.log(np.maximum(truth, 1e-300) / probabilities), 0.0)
    return float(tasks.reduce(np.add, each).mean())


def print_divergence(make: Callable[[], Learner], seeds: list[int], part: str, label: str) -> None:
    """Print the divergence of a learner from the truth, by seed."""
    train, judged, truth = parts(part)
    found, seconds = [], []
    for seed in seeds:
        start = time.process_time()
        learner = make().fit(train, seed=seed)
        seconds.append(time.process_time() - start)
        found.append(divergence(judged, truth, learner.predict_proba(judged)))
    values = ", ".join(f"{value:.4f}" for value in found)
    print(f"{label}: {np.mean(found):.4f} ({values}), {np.mean(seconds):.0f} CPU s", flush=True)


def shift(some: Triples, log_chances: np.ndarray) -> float:
    """Return the mean log-odds of targets over competitors, each kind of target counting alike."""
    target, competitor, third = some.entries.T
    odds = log_chances[target] - log_chances[competitor]
    own = third % 3 == THIRD
    return float(np.mean([odds[own & (target % 3 == place)].mean() for place in (0, 1)]))


def print_effects(make: Callable[[], Learner], seed: int, copies: int, label: str) -> None:
    """Print the three effects of a learner, with intervals, beside those of the truth."""
    train, test, truth = parts("test")
    directions = directions_of({"a1": "high", "a2": "high"}, test.feature_names)
    kinds = triples(test, directions)
    part_of = np.arange(len(train)) % copies

    def effects(tasks: ChoiceTasks, start: int) -> np.ndarray:
        chances = make().fit(tasks, seed=start).predict_proba(test)
        return np.array([shift(some, np.log(chances)) for some in kinds])

    starts = (seed, seed + 1)
    rows = [[effects(train[part_of != k], one) for one in starts] for k in range(copies)]
    found = jackknife(effects(train, seed), rows)
    for number, some in enumerate(kinds):
        true = shift(some, np.log(np.maximum(truth, 1e-300)))
        low, high = found.low[number], found.high[number]
        inside = "within" if low <= true <= high else "outside"
        print(
            f"{label}: {some.effect} {found.values[number]:+.3f} [{low:+.3f}, {high:+.3f}], "
            f"true {true:+.3f} ({inside} the interval; {some.n_sets:,} sets)",
            flush=True,
        )


def main() -> None:
    """Print one line per learner, or three."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--learner", nargs="+", default=DEFAULT, choices=list(LEARNERS))
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", dest="changes")
    parser.add_argument("--part", choices=["test", "validation"], default="test")
    parser.add_argument("--effects", action="store_true")
    parser.add_argument("--copies", type=int, default=5)
    options = parser.parse_args()
    changes = {
        name: yaml.safe_load(value) for name, value in (c.split("=") for c in options.changes)
    }
    torch.set_num_threads(1)
    for name in options.learner:
        epochs = {"epochs": options.epochs} if "epochs" in LEARNERS[name].parameters else {}
        given: dict[str, Any] = {**epochs, **changes}
        label = f"{name} {changes}" if changes else name
        if options.effects:
            print_effects(
                lambda name=name, given=given: make_learner(name, **given),
                options.seeds[0],
                options.copies,
                label,
            )
        else:
            print_divergence(
                lambda name=name, given=given: make_learner(name, **given),
                options.seeds,
                options.part,
                label,
            )


if __name__ == "__main__":
    main()
