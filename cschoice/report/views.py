"""What a report shows, as numbers: means and deviations over folds, beside the paper's."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from cschoice.datasets import DATASETS
from cschoice.errors import DataUnavailable
from cschoice.learners import LEARNERS
from cschoice.tables import read
from cschoice.tasks import Kind

if TYPE_CHECKING:
    import pandas as pd

Key = tuple[str, str, str]  # dataset, learner, metric

# What the paper's tables show, the target first.
COLUMNS = {
    Kind.SUBSET: ("f1", "subset-accuracy", "informedness", "auc-roc"),
    Kind.SINGLETON: ("accuracy", "top-3", "top-5"),
}


@dataclass(frozen=True)
class Value:
    """A mean over folds and its standard deviation."""

    mean: float
    std: float
    n_folds: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f}" if self.n_folds > 1 else f"{self.mean:.3f}"


@dataclass(frozen=True)
class Cell:
    """One learner on one dataset under one metric, ours and the paper's."""

    ours: Value | None
    paper: Value | None
    best: bool = False  # the best of ours on this dataset under this metric

    @property
    def difference(self) -> float | None:
        """Return ours minus the paper's."""
        return self.ours.mean - self.paper.mean if self.ours and self.paper else None

    @property
    def verdict(self) -> str:
        """Say whether the difference is outside both deviations."""
        if self.difference is None or self.ours is None or self.paper is None:
            return ""
        if abs(self.difference) <= self.ours.std + self.paper.std:
            return "as in the paper"
        return "above" if self.difference > 0 else "below"


@dataclass(frozen=True)
class Row:
    """One learner on one dataset."""

    dataset: str
    learner: str
    kind: Kind
    cells: dict[str, Cell]
    states: str  # how many folds are done, and why others are not
    seconds: float  # CPU time of all folds


def rows(results: Path, profile: str, experiment: str) -> list[Row]:
    """Return what there is of an experiment, in the paper's order of datasets and learners."""
    folds = _only(read(results, "folds"), profile, experiment)
    metrics = _only(read(results, "metrics"), profile, experiment)
    if folds.empty:
        raise DataUnavailable(
            f"{results} has no results of experiment '{experiment}' with profile '{profile}': "
            f"run 'cschoice run --profile {profile}' first"
        )
    shown = {name for columns in COLUMNS.values() for name in columns}
    if not metrics.empty and not shown & set(metrics["metric"]):
        raise DataUnavailable(
            f"experiment '{experiment}' has curves and no table: "
            f"its numbers are in {results / 'tables' / 'curves.parquet'}"
        )
    measured = _values(metrics)
    best = _best(measured)
    found = []
    for dataset in (name for name in DATASETS if name in set(folds["dataset"])):
        of_dataset = folds[folds["dataset"] == dataset]
        for learner in dict.fromkeys([*LEARNERS, *of_dataset["learner"]]):  # variants come last
            if learner not in set(of_dataset["learner"]):
                continue
            kind = DATASETS[dataset].kind
            own = of_dataset[of_dataset["learner"] == learner]
            cells = {
                metric: Cell(
                    measured.get((dataset, learner, metric)),
                    paper_values().get((dataset, learner, metric)),
                    (dataset, learner, metric) in best,
                )
                for metric in COLUMNS[kind]
            }
            found.append(
                Row(dataset, learner, kind, cells, _states(own), float(own["seconds"].sum()))
            )
    return found


@cache
def paper_values() -> dict[Key, Value]:
    """Return the numbers of the paper's result tables."""
    with (files("cschoice.report") / "paper.csv").open(encoding="utf-8") as file:
        return {
            (row["dataset"], row["learner"], row["metric"]): Value(
                float(row["mean"]), float(row["std"]), n_folds=5
            )
            for row in csv.DictReader(file)
        }


def _only(table: pd.DataFrame, profile: str, experiment: str) -> pd.DataFrame:
    return table[(table["profile"] == profile) & (table["experiment"] == experiment)]


def _values(metrics: pd.DataFrame) -> dict[Key, Value]:
    values: dict[Key, list[float]] = {}
    for row in metrics.dropna(subset="value").to_dict("records"):
        values.setdefault((row["dataset"], row["learner"], row["metric"]), []).append(row["value"])
    return {
        key: Value(
            statistics.mean(group), statistics.stdev(group) if group[1:] else 0.0, len(group)
        )
        for key, group in values.items()
    }


def _best(measured: dict[Key, Value]) -> set[Key]:
    """Return the largest mean of each dataset and metric; all metrics shown are better larger."""
    largest: dict[tuple[str, str], float] = {}
    for (dataset, _, metric), value in measured.items():
        known = largest.get((dataset, metric), -math.inf)
        largest[dataset, metric] = max(known, round(value.mean, 3))
    return {
        key for key, value in measured.items() if round(value.mean, 3) == largest[key[0], key[2]]
    }


def _states(folds: pd.DataFrame) -> str:
    counts = folds["state"].value_counts()
    if set(counts.index) == {"done"}:
        return f"{len(folds)} folds"
    return ", ".join(f"{counts[state]} {state}" for state in sorted(counts.index))


def learner_label(name: str) -> str:
    """Return how the paper writes a learner; a study's own variant is called by its name."""
    return LEARNERS[name].label if name in LEARNERS else name


def of_kind(found: Sequence[Row], kind: Kind) -> list[Row]:
    """Return the rows of one kind of choice."""
    return [row for row in found if row.kind is kind]
