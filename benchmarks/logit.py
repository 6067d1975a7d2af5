"""Time the logit family against its peers, as ratios measured side by side in one run.

``python benchmarks/logit.py [--quick] [--repeats N] [--only WORD …]`` prints a table in Markdown;
peers that are not installed (``make peers`` makes an environment with them) are left out. Times are
processor seconds, the median of interleaved repeats, and include everything from arrays to
estimates. A peer counts if its log-likelihood is that of the others. Set OMP_NUM_THREADS=1 for
times that mean something.
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
from contextlib import redirect_stderr, redirect_stdout

from logit_problems import (
    Problem,
    classes,
    correlated,
    mixed,
    multinomial,
    nested,
    panel,
)

from cschoice.learners import make_learner

_MODULES = {"biogeme": "biogeme.biogeme"}  # others are loaded by their name
_SLOW = 10.0  # seconds: a peer that takes longer is measured once


def quietly(fit: Callable[[], float]) -> float:
    """Return the log-likelihood of a fit without its reports."""
    said = io.StringIO()
    with redirect_stdout(said), redirect_stderr(said), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit()


def _package(name: str) -> str:
    """Return the package behind a row of the table."""
    return name.partition(",")[0].replace("-", "_")


def measure(problem: Problem, repeats: int, leave_out: set[str]) -> None:
    """Fit by everyone in turn, so that a busy machine is busy for all."""
    present = {
        name: fit
        for name, fit in problem.fits.items()
        if name not in leave_out and importlib.util.find_spec(_package(name))
    }
    for name in present:  # loading is not fitting
        importlib.import_module(_MODULES.get(_package(name), _package(name)))
    for repeat in range(repeats):
        for name, fit in present.items():
            if repeat > 0 and name != "cschoice" and problem.seconds[name][0] > _SLOW:
                continue
            start = time.process_time()
            problem.values[name] = quietly(fit)
            problem.seconds.setdefault(name, []).append(time.process_time() - start)
    for name in ("cschoice", "xlogit"):  # others allocate where this cannot see it
        if name in present:
            tracemalloc.start()
            quietly(present[name])
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
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    """Run all problems and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the tasks")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--leave-out", nargs="*", default=[], help="names of peers")
    parser.add_argument("--only", nargs="*", help="problems: mnl, nl, mixed, panel, …")
    options = parser.parse_args()
    share = 10 if options.quick else 1
    for name in ("mnl", "nl", "mixed-logit", "panel-mixed-logit", "latent-class"):
        make_learner(name)
    problems: dict[str, Callable[[], Problem]] = {
        "mnl": lambda: multinomial(100_000 // share),
        "nl": lambda: nested(10_000 // share),
        "mixed": lambda: mixed(5_000 // share, 200),
        "panel": lambda: panel(4_000 // share, 360 // share, 500),
        "correlated": lambda: correlated(4_000 // share, 360 // share, 500),
        "classes": lambda: classes(4_000 // share, 360 // share, 3),
    }
    print("| problem | library | log-likelihood | CPU seconds | ratio | peak MB |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name in options.only or problems:
        problem = problems[name]()
        measure(problem, options.repeats, set(options.leave_out))
        show(problem)


if __name__ == "__main__":
    main()
