"""Time the logit family against its peers, as ratios measured side by side in one run.

``python benchmarks/logit.py [--quick] [--repeats N]`` prints a table in Markdown; peers that are
not installed (``pip install cschoice[bench]``) are left out. Times are processor seconds, the
median of interleaved repeats, and include everything from arrays to estimates. A peer counts if
its log-likelihood is that of the others. Set OMP_NUM_THREADS=1 for times that mean something.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import io
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from peers import biogeme, torch_choice, xlogit

from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind

COEFFICIENTS = np.array([1.0, -0.8, 0.6, -0.4, 0.2])
NESTS = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
DISSIMILARITIES = np.array([0.5, 0.7, 0.9])


@dataclass
class Problem:
    """A model with data, ours and others' way to fit it; each returns a log-likelihood."""

    title: str
    fits: dict[str, Callable[[], float]]
    seconds: dict[str, list[float]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)


def objects(n_tasks: int, seed: int) -> NDArray[np.float64]:
    """Return ten objects with five standard normal features for each task."""
    x = np.random.default_rng(seed).normal(size=(n_tasks, 10, len(COEFFICIENTS)))
    return x.astype(np.float32).astype(np.float64)  # the same numbers for everyone


def draw(probabilities: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """Return one object of each row with the given probabilities."""
    uniform = np.random.default_rng(seed).random((len(probabilities), 1))
    return np.asarray((probabilities.cumsum(axis=1) < uniform).sum(axis=1).clip(max=9))


def softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities proportional to the exponentials of each row."""
    weights = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def multinomial(n_tasks: int) -> Problem:
    """Return the multinomial logit problem."""
    x = objects(n_tasks, 1)
    y = draw(softmax(x @ COEFFICIENTS), 2)

    def ours() -> float:
        tasks = ChoiceTasks.from_dense(x, y, Kind.SINGLETON)
        return float(make_learner("mnl", l2=0).fit(tasks).log_likelihood_)

    fits = {"cschoice": ours} | {
        name: lambda fit=fit: fit(x, y)
        for name, fit in {
            "xlogit": xlogit.multinomial,
            "torch-choice": torch_choice.multinomial,
            "biogeme": biogeme.multinomial,
        }.items()
    }
    return Problem(f"multinomial logit, {n_tasks:,} tasks", fits)


def nested(n_tasks: int) -> Problem:
    """Return the nested logit problem with three given nests."""
    x = objects(n_tasks, 3)
    powers = np.exp(x @ COEFFICIENTS / DISSIMILARITIES[NESTS])
    sums = np.stack([powers[:, nest == NESTS].sum(axis=1) for nest in range(3)], axis=1)
    chances = sums**DISSIMILARITIES
    chances /= chances.sum(axis=1, keepdims=True)
    y = draw(powers / sums[:, NESTS] * chances[:, NESTS], 4)

    def ours() -> float:
        numbers = np.broadcast_to(NESTS[:, None], (n_tasks, 10, 1))
        tasks = ChoiceTasks.from_dense(np.concatenate([x, numbers], axis=2), y, Kind.SINGLETON)
        learner = make_learner("nl", l2=0, nest_feature=x.shape[2]).fit(tasks)
        return float(learner.log_likelihood_)

    fits = {
        "cschoice": ours,
        "torch-choice": lambda: torch_choice.nested(x, y, NESTS),
        "biogeme": lambda: biogeme.nested(x, y, NESTS),
    }
    return Problem(f"nested logit, {n_tasks:,} tasks, 3 nests", fits)


def mixed(n_tasks: int, n_draws: int) -> Problem:
    """Return the mixed logit problem with normal coefficients, the same Halton draws for all."""
    x = objects(n_tasks, 5)
    tastes = COEFFICIENTS + 0.5 * np.random.default_rng(6).normal(size=(n_tasks, 5))
    y = draw(softmax(np.einsum("njk,nk->nj", x, tastes)), 7)

    def ours() -> float:
        tasks = ChoiceTasks.from_dense(x, y, Kind.SINGLETON)
        learner = make_learner("mixed-logit", l2=0, integration="halton", n_draws=n_draws)
        return float(learner.fit(tasks).log_likelihood_)

    fits = {
        "cschoice": ours,
        "xlogit": lambda: xlogit.mixed(x, y, n_draws),
        "biogeme": lambda: biogeme.mixed(x, y, n_draws),
    }
    return Problem(f"mixed logit, {n_tasks:,} tasks, {n_draws} draws", fits)


def measure(problem: Problem, repeats: int, leave_out: set[str]) -> None:
    """Fit by everyone in turn, so that a busy machine is busy for all."""
    module = {"torch-choice": "torch_choice"}
    present = {
        name: fit
        for name, fit in problem.fits.items()
        if name not in leave_out and importlib.util.find_spec(module.get(name, name))
    }
    for name in present:  # loading is not fitting
        importlib.import_module(module.get(name, name))
    slow: set[str] = set()
    for repeat in range(repeats):
        for name, fit in present.items():
            if name in slow and repeat > 0:
                continue  # a peer that takes long is measured once
            with redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.process_time()
                problem.values[name] = fit()
                seconds = time.process_time() - start
            problem.seconds.setdefault(name, []).append(seconds)
            if seconds > 10:
                slow.add(name)
    for name in ("cschoice", "xlogit"):  # others allocate where this cannot see it
        if name in present:
            with redirect_stdout(io.StringIO()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tracemalloc.start()
                present[name]()
                problem.megabytes[name] = tracemalloc.get_traced_memory()[1] / 1e6
                tracemalloc.stop()


def show(problem: Problem) -> None:
    """Print one row per library."""
    ours = statistics.median(problem.seconds["cschoice"])
    for name, times in problem.seconds.items():
        median = statistics.median(times)
        memory = f"{problem.megabytes[name]:,.0f}" if name in problem.megabytes else ""
        value = f"{problem.values[name]:.4f}"
        row = (problem.title, name, value, f"{median:.3f}", f"{median / ours:.1f}", memory)
        print("| " + " | ".join(row) + " |")


def main() -> None:
    """Run all problems and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tasks")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--leave-out", nargs="*", default=[], help="names of peers")
    options = parser.parse_args()
    share = 10 if options.quick else 1
    for name in ("mnl", "nl", "mixed-logit"):
        make_learner(name)
    print("| problem | library | log-likelihood | CPU seconds | ratio | peak MB |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for problem in (
        multinomial(100_000 // share),
        nested(10_000 // share),
        mixed(5_000 // share, 200),
    ):
        measure(problem, options.repeats, set(options.leave_out))
        show(problem)


if __name__ == "__main__":
    main()
