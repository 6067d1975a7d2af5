"""Time and memory of the multinomial logit as the number of tasks grows: 10 objects, 20 features.

``python benchmarks/logit_growth.py [--largest N] [--libraries cschoice xlogit]`` prints a table in
Markdown. Each fit has a process of its own, so that its peak of memory is its own: how much more
than the arrays it was given. The libraries take turns at each size. ``make peers`` makes an
environment with xlogit. Set OMP_NUM_THREADS=1 for times that mean something.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time

import numpy as np
from logit_problems import draw, softmax
from numpy.typing import NDArray
from peers import xlogit

from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind

N_OBJECTS, N_FEATURES = 10, 20


def cschoice(x: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the log-likelihood of our multinomial logit."""
    tasks = ChoiceTasks.from_dense(x, y, Kind.SINGLETON)
    return float(make_learner("mnl", l2=0).fit(tasks).log_likelihood_)


FITS = {"cschoice": cschoice, "xlogit": xlogit.multinomial}


def megabytes() -> float:
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fit_once(library: str, n_tasks: int) -> dict[str, float]:
    """Return log-likelihood, CPU seconds, and memory beyond the arrays, of one fit."""
    rng = np.random.default_rng(15)
    x = np.empty((n_tasks, N_OBJECTS, N_FEATURES))
    y = np.empty(n_tasks, dtype=np.int64)
    coefficients = np.linspace(-1, 1, N_FEATURES)
    for start in range(0, n_tasks, 10_000):  # so that making them takes no more than they do
        part = slice(start, start + 10_000)
        x[part] = rng.normal(size=x[part].shape).astype(np.float32)
        y[part] = draw(softmax(x[part] @ coefficients), start)
    FITS[library](x[:100], y[:100])  # loading is not fitting
    before, start_time = megabytes(), time.process_time()
    value = FITS[library](x, y)
    seconds = time.process_time() - start_time
    return {"value": value, "seconds": seconds, "megabytes": megabytes() - before}


def main() -> None:
    """Fit ever more tasks and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--libraries", nargs="*", default=list(FITS), choices=FITS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit_once(options.one[0], int(options.one[1]))))
        return
    print("| tasks | library | log-likelihood | CPU seconds | µs per task | MB beside the arrays |")
    print("| ---: | --- | ---: | ---: | ---: | ---: |")
    sizes = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= options.largest]
    for n_tasks in sizes:
        for library in options.libraries:
            if importlib.util.find_spec(library) is None:
                continue
            command = [sys.executable, __file__, "--one", library, str(n_tasks)]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(done.stdout.splitlines()[-1])
            per_task = f"{found['seconds'] / n_tasks * 1e6:.2f}"
            row = (
                f"{n_tasks:,}", library, f"{found['value']:.4f}", f"{found['seconds']:.3f}",
                per_task, f"{found['megabytes']:,.0f}",
            )  # fmt: skip
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
