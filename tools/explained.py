"""Write the pages of docs/explained: what FETA has learned from two sets of the literature.

    CSCHOICE_DATA=… python tools/explained.py [--only mlba] [--tasks 10000] [--folds 5]

Prints the seconds of each page. The pages hold aggregates of the data, and the features of the one
set whose decision is explained.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cschoice.datasets.raw.folders import data_folders
from cschoice.explanations.explanation import explain
from cschoice.explanations.sources import at_most
from cschoice.learners import make_learner
from cschoice.report.formats.explanation import html
from cschoice.tasks import ChoiceTasks

FOLDER = Path(__file__).parent.parent / "docs" / "explained"


def found(name: str) -> Path:
    """Return a file of the folders of raw data."""
    for folder in data_folders():
        if (Path(folder) / name).exists():
            return Path(folder) / name
    raise SystemExit(f"{name} not found: set CSCHOICE_DATA")


def tell(step: str) -> None:
    """Say how far a page is, apart from what is printed."""
    print(step, file=sys.stderr, flush=True)


def mlba() -> ChoiceTasks:
    """Return sets of three with attraction, similarity and compromise, simulated."""
    return ChoiceTasks.from_frame(
        found("mlba/train.parquet"), task="set", chosen="chosen", features="a1,a2"
    )


def swissmetro() -> ChoiceTasks:
    """Return trips by train, Swissmetro or car, stated by people nine times each."""
    return ChoiceTasks.from_frame(
        found("swissmetro/swissmetro.csv.gz"),
        alternatives="TRAIN=1,SM=2,CAR=3",
        chosen="CHOICE",
        available="{}_AV",
        features="time={}_TT,cost={}_CO,headway={}_HE|0",
        constants=True,
        cross="GA",
        group="ID",
        drop_invalid=True,
    )


PAGES: dict[str, tuple[Callable[[], ChoiceTasks], dict[str, str]]] = {
    "mlba": (mlba, {"a1": "high", "a2": "high"}),
    "swissmetro": (swissmetro, {"time": "low", "cost": "low"}),
}


def main() -> None:
    """Write the pages and print how long each took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", default=list(PAGES), choices=list(PAGES))
    parser.add_argument("--tasks", type=int, default=10_000)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=20)
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for name in options.only:
        read, better = PAGES[name]
        tasks = at_most(read(), options.tasks, seed=0)
        wall, cpu = time.perf_counter(), time.process_time()
        model = make_learner("feta", epochs=options.epochs).fit(tasks)
        fitted = time.process_time() - cpu
        explanation = explain(
            model, tasks, dataset=name, better=better, folds=options.folds, progress=tell
        )
        path = FOLDER / f"{name}.html"
        path.write_bytes(html(explanation)["explanation.html"])
        shown = np.array([fitted, time.process_time() - cpu, time.perf_counter() - wall]).round()
        print(
            f"{path.name}: {len(tasks):,} tasks, {path.stat().st_size / 1e3:.0f} kB; one fit "
            f"{shown[0]:.0f} s of CPU, everything {shown[1]:.0f} s, {shown[2]:.0f} s on the clock"
        )


if __name__ == "__main__":
    main()
