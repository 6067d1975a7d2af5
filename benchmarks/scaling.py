"""Simulate the paper's whole study on clusters of 1 to 256 GPUs, from measured job times.

Job times come from a results folder (``--results``): what its jobs took, scaled by fits, tasks and
epochs to the paper's protocol; learners that were measured on some datasets only take the median
of those on the others. Without one, they come from the numbers below, measured on one CPU core
with 'cschoice run --profile demo --dataset medoid --dataset pareto2d --folds 1'. So the hours are
those of that machine; the speed-up depends only on how the times compare.

A discrete-event simulation of what ``--executor slurm`` does: jobs start in the study's order on
whatever GPU is free, each start costs ``--overhead`` seconds (benchmarks/slurm.py measures it), a
job that reaches ``--time`` goes on behind its last finished trial after SLURM's hold of 120 s.

    python benchmarks/scaling.py [--results results] [--gpus 1 16 64 256] [--plot scaling.svg]
"""

from __future__ import annotations

import argparse
import heapq
import math
import statistics
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cschoice_cli.display import duration

from cschoice.learners import make_learner
from cschoice.runs.executors.resources import Resources
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Job
from cschoice.runs.store import ResultStore
from cschoice.runs.tables import read
from cschoice.study.config import load
from cschoice.study.plan import Selection, plan
from cschoice.study.settings import Study

Cell = tuple[str, str]  # dataset, learner
OVERHEAD = 2.8  # seconds per start
NOTHING = ResultStore(Path("nowhere"))  # none of these jobs builds on others
HOLD = 120.0  # seconds that SLURM holds a job back which was put into the queue again
MEASURED: dict[Cell, float] = {  # CPU seconds per job
    ("medoid", "fate-linear"): 4.26,
    ("medoid", "fate"): 7.87,
    ("medoid", "feta-linear"): 3.61,
    ("medoid", "feta"): 12.32,
    ("medoid", "gnl"): 0.29,
    ("medoid", "mixed-logit"): 1.53,
    ("medoid", "mnl"): 0.02,
    ("medoid", "nl"): 0.19,
    ("medoid", "pairwise-svm"): 0.04,
    ("medoid", "random"): 0.01,
    ("medoid", "ranknet"): 3.79,
    ("medoid", "sda"): 12.78,
    ("pareto2d", "all-positive"): 0.01,
    ("pareto2d", "fate-linear"): 3.82,
    ("pareto2d", "fate"): 10.84,
    ("pareto2d", "feta-linear"): 3.57,
    ("pareto2d", "feta"): 45.55,
    ("pareto2d", "mnl"): 0.07,
    ("pareto2d", "pairwise-svm"): 0.18,
    ("pareto2d", "ranknet"): 6.67,
    ("pareto2d", "sda"): 24.10,
}


@dataclass
class Running:
    """A job on its way: how much of it is left, and how much is lost when it is interrupted."""

    left: float
    trial: float


def simulate(
    jobs: Iterable[Running], n_gpus: int, *, overhead: float = 0.0, limit: float = float("inf")
) -> float:
    """Return when the last job is done.

    >>> simulate([Running(3, 1), Running(2, 1), Running(2, 1)], 2)
    4.0
    >>> simulate([Running(10, 4)], 1, overhead=1, limit=10)  # two trials, then the last two
    133.0
    """
    waiting, now = deque(jobs), 0.0
    events: list[tuple[float, float, Running | None]] = []  # a GPU is free, or a job waits again
    n_free, n_started = n_gpus, 0
    while waiting or events:
        while waiting and n_free:
            job = waiting.popleft()
            n_free -= 1
            n_started += 1  # also keeps equal times apart
            if overhead + job.left <= limit:
                heapq.heappush(events, (now + overhead + job.left, n_started, None))
            else:
                n_trials = (limit - overhead) // job.trial
                assert n_trials > 0, "a trial takes longer than the time limit"
                job.left -= n_trials * job.trial
                heapq.heappush(events, (now + limit, n_started, None))
                heapq.heappush(events, (now + limit + HOLD, n_started + 0.5, job))
        now, _, again = heapq.heappop(events)
        if again is None:
            n_free += 1
        else:
            waiting.append(again)
    return now


def effort(job: Job) -> float:
    """Return the tasks that a job learns from, over all epochs: its time grows with them."""
    learner = make_learner(job.registered, **job.learner_parameters)
    parameters = job.dataset_parameters
    n_tasks = parameters.get("n_train", parameters.get("max_train", 10_000))
    return protocol_of(job).work(job, learner, n_tasks)


def measured(study: Study, results: Path | None) -> dict[Cell, float]:
    """Return seconds per unit of effort of each dataset and learner that was measured."""
    profile, experiment, seconds = "demo", "study", MEASURED
    if results is not None:
        folds = read(results, "folds").query("state == 'done'")
        profile, experiment = folds[["profile", "experiment"]].value_counts().index[0]
        folds = folds.query("profile == @profile and experiment == @experiment")
        seconds = folds.groupby(["dataset", "learner"])["seconds"].median().to_dict()
    datasets, learners = ({cell[k] for cell in seconds} for k in (0, 1))
    selection = Selection(experiment, profile, sorted(learners), sorted(datasets), 1)
    jobs = plan(study, selection, NOTHING)
    efforts = {(job.dataset, job.learner): effort(job) for job in jobs}
    return {cell: value / efforts[cell] for cell, value in seconds.items() if cell in efforts}


def paper_times(study: Study, rates: dict[Cell, float]) -> list[Running]:
    """Return the jobs of the paper's protocol in the order in which they are submitted."""
    of_learner: dict[str, list[float]] = {}
    for (_, learner), rate in rates.items():
        of_learner.setdefault(learner, []).append(rate)
    jobs = plan(study, Selection("study", "paper"), NOTHING)
    if unknown := {job.learner for job in jobs} - set(of_learner):
        print(f"not measured, left out: {', '.join(sorted(unknown))}")
    times = []
    for job in jobs:
        if job.learner in of_learner:
            usual = statistics.median(of_learner[job.learner])
            seconds = rates.get((job.dataset, job.learner), usual) * effort(job)
            times.append(Running(seconds, seconds / (job.budget.n_trials + 1)))
    return times


def draw(path: Path, curves: dict[str, dict[int, float]]) -> None:
    """Write the speed-up over the number of GPUs as a picture, both axes logarithmic."""
    most = max(max(curve) for curve in curves.values())
    colours = dict(zip(curves, ("#999", "#c33", "#36c"), strict=True))

    def at(x: float, y: float) -> str:
        scale = math.log(most)
        return f"{50 + 330 * math.log(x) / scale:.1f},{270 - 240 * math.log(y) / scale:.1f}"

    shapes = []
    for row, (name, curve) in enumerate(curves.items()):
        line = " ".join(at(x, y) for x, y in curve.items())
        style = f'fill="none" stroke="{colours[name]}" stroke-width="2"'
        shapes.append(f'<polyline points="{line}" {style}/>')
        shapes.append(f'<text x="60" y="{40 + 16 * row}" fill="{colours[name]}">{name}</text>')
    for n_gpus in next(iter(curves.values())):
        x, y = at(n_gpus, 1).split(",")[0], at(1, n_gpus).split(",")[1]
        shapes.append(f'<text x="{x}" y="286" text-anchor="middle">{n_gpus}</text>')
        shapes.append(f'<text x="44" y="{y}" text-anchor="end">{n_gpus}</text>')
    text = "".join(f"  {shape}\n" for shape in shapes)
    path.write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="310" font-family="sans-serif" '
        'font-size="11">\n  <rect width="400" height="310" fill="white"/>\n'
        f'{text}  <text x="215" y="304" text-anchor="middle">GPUs</text>\n'
        '  <text x="50" y="18">speed-up</text>\n</svg>\n'
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, help="results folder whose job times are taken")
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 16, 64, 256])
    parser.add_argument("--overhead", type=float, default=OVERHEAD, help="seconds per start")
    parser.add_argument("--time", default="12:00:00", help="time limit of a job")
    parser.add_argument("--plot", type=Path, default=Path("scaling.svg"))
    options = parser.parse_args(arguments)
    study = load()
    jobs = paper_times(study, measured(study, options.results))
    limit = 60.0 * Resources(time=options.time).minutes
    total, longest = sum(job.left for job in jobs), max(job.left for job in jobs)
    print(f"{len(jobs)} jobs, {duration(total)} in all, the longest {duration(longest)}\n")
    orders = {"as submitted": jobs, "longest first": sorted(jobs, key=lambda job: -job.left)}
    took = {
        (order, n_gpus): simulate(
            map(replace, listed), n_gpus, overhead=options.overhead, limit=limit
        )
        for order, listed in orders.items()
        for n_gpus in sorted({1, *options.gpus})
    }
    print(
        f"{'GPUs':>5}  {'as submitted':>14} {'speed-up':>9}  {'longest first':>14} {'speed-up':>9}"
    )
    curves: dict[str, dict[int, float]] = {"ideal": {n: n for n in options.gpus}}
    for n_gpus in options.gpus:
        row = f"{n_gpus:>5}"
        for order in orders:
            speedup = took[order, 1] / took[order, n_gpus]
            curves.setdefault(order, {})[n_gpus] = speedup
            row += f"  {duration(took[order, n_gpus]):>14} {speedup:>8.1f}×"
        print(row)
    draw(options.plot, curves)
    print(f"\n{options.plot}")


if __name__ == "__main__":
    main()
