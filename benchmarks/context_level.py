"""How often tests of context find context where there is none.

Choices are simulated from a multinomial logit, again and again, and tested by
``cschoice test context`` at the level of 5 %. Each test should reject in about 5 % of the
simulations, and the verdict, which corrects for the number of tests, in 5 % or less.

- alternatives: five with constants, random sets of two to five of them
- features: sets of three objects with two features
- cars: the pairs of data/car_pairs, where some effects follow from others (with CSCHOICE_DATA)

    python benchmarks/context_level.py [--problem alternatives] [--n-simulations 500]
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from cschoice.estimates.independence import context_tests
from cschoice.estimates.samples import Sample
from cschoice.tasks import ChoiceTasks, Kind

LEVEL = 0.05


def chosen_by(utilities: np.ndarray, offsets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return choices of a multinomial logit, one per task."""
    noisy = utilities + rng.gumbel(size=len(utilities))
    sizes = np.diff(offsets)
    return noisy == np.repeat(np.maximum.reduceat(noisy, offsets[:-1]), sizes)


def tasks_of(x: np.ndarray, offsets: np.ndarray, worth: np.ndarray, seed: int) -> ChoiceTasks:
    """Return tasks whose choices follow a linear utility."""
    chosen = chosen_by(x @ worth, offsets, np.random.default_rng([seed, 1]))
    return ChoiceTasks(x, np.arange(len(x)), offsets, chosen, Kind.SINGLETON)


def alternatives(seed: int, n_tasks: int = 500) -> Sample:
    """Return choices among alternatives that are not always on offer."""
    rng = np.random.default_rng(seed)
    inside = rng.random((n_tasks, 5)) < 0.7
    inside[inside.sum(axis=1) < 2] = True
    objects = np.nonzero(inside)[1]
    offsets = np.append(0, np.cumsum(inside.sum(axis=1)))
    tasks = tasks_of(np.eye(5)[objects], offsets, np.array([0.5, 0.2, 0.0, -0.3, -0.6]), seed)
    return Sample(tasks, tuple(f"constant={name}" for name in "abcde"))


def features(seed: int, n_tasks: int = 500) -> Sample:
    """Return choices among three objects of two features."""
    x = np.random.default_rng(seed).normal(size=(3 * n_tasks, 2))
    offsets = np.arange(0, 3 * n_tasks + 1, 3)
    return Sample(tasks_of(x, offsets, np.array([1.0, -0.5]), seed), ("quality", "price"))


def cars(seed: int) -> Sample:
    """Return made-up choices from the pairs of cars."""
    path = Path(os.environ.get("CSCHOICE_DATA", "data")) / "car_pairs/car_a.csv.xz"
    if not path.exists():
        raise SystemExit(f"{path} not found: set CSCHOICE_DATA")
    names = ("body", "transmission", "displacement", "hybrid")
    x = pd.read_csv(path).sort_values("pair")[list(names)].to_numpy(dtype=float)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    offsets = np.arange(0, len(x) + 1, 2)
    return Sample(tasks_of(x, offsets, np.array([-0.3, -0.2, 0.3, -0.2]), seed), names)


PROBLEMS: dict[str, Callable[[int], Sample]] = {
    "alternatives": alternatives,
    "features": features,
    "cars": cars,
}


def rejections(problem: str, n_simulations: int, n_samples: int = 99) -> dict[str, float]:
    """Return the share of simulations in which each test rejects, and the verdict."""
    found: Counter[str] = Counter()
    for seed in range(n_simulations):
        result = context_tests(PROBLEMS[problem](seed), n_samples=n_samples, seed=seed)
        found.update({test.name: int(test.p <= LEVEL) for test in result.tests})
        found["verdict"] += bool(result.matters)
    return {name: count / n_simulations for name, count in found.items()}


def main() -> None:
    """Print one line per problem and test."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--problem", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    parser.add_argument("--n-simulations", type=int, default=500)
    options = parser.parse_args()
    for problem in options.problem:
        for name, share in rejections(problem, options.n_simulations).items():
            print(f"{problem}: {name} rejects in {100 * share:.1f} %", flush=True)


if __name__ == "__main__":
    main()
