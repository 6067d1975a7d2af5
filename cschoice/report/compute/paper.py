"""The paper's numbers: results, layout of its tables, ranges of hyperparameters, and hours."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from cschoice.tasks import Kind

Key = tuple[str, str, str]  # dataset, learner, metric

# Result tables with their datasets in the order of print (tab:singletonchoice,
# tab:singletonchoice2, tab:choicemodels). Others follow in a table of their own.
TABLES = {
    "singleton-1": (
        "medoid",
        "hypervolume",
        "mnist-unique-singleton",
        "mnist-mode-singleton",
        "tag-genome-similar",
    ),
    "singleton-2": (
        "tag-genome-dissimilar",
        "letor-mq2007-list",
        "letor-mq2008-list",
        "expedia-singleton",
        "sushi",
    ),
    "subset": (
        "pareto2d",
        "pareto5d",
        "mnist-unique-subset",
        "mnist-mode-subset",
        "letor-mq2007",
        "letor-mq2008",
        "expedia-subset",
    ),
}
DATASETS_IN_ORDER = tuple(name for names in TABLES.values() for name in names)

N_FOLDS, N_INNER_SPLITS = 5, 3
N_TRIALS, N_EPOCHS = 100, 1_000  # of tuning; of a network, at most
SAMPLED = ("nl", "gnl", "mixed-logit")  # learners fitted by sampling a posterior
GPU_HOURS, CPU_HOURS = 11_400, 6_000  # of all its experiments, roughly
# Printed with three digits: mean and deviation may each be half a digit off.
ROUNDING = 0.001


@dataclass(frozen=True)
class Score:
    """A mean over folds and its standard deviation."""

    mean: float
    std: float
    n_folds: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f}" if self.n_folds > 1 else f"{self.mean:.3f}"


@dataclass(frozen=True)
class Range:
    """The range in which a hyperparameter was sought."""

    learner: str
    parameter: str
    low: float
    high: float


@cache
def results() -> dict[Key, Score]:
    """Return the numbers of the result tables."""
    return {
        (row["dataset"], row["learner"], row["metric"]): Score(
            float(row["mean"]), float(row["std"]), N_FOLDS
        )
        for row in _rows("paper.csv")
    }


@cache
def measures() -> frozenset[str]:
    """Return the measures of the result tables."""
    return frozenset(metric for _, _, metric in results())


@cache
def learner_labels() -> dict[tuple[Kind, str], str]:
    """Return the paper's names of learners by kind of choice: one learner has two names."""
    return {(Kind(row["problem"]), row["learner"]): row["label"] for row in _rows("paper.csv")}


@cache
def ranges() -> tuple[Range, ...]:
    """Return the table of hyperparameter ranges, with its exchanged columns corrected."""
    return tuple(
        Range(row["learner"], row["parameter"], float(row["low"]), float(row["high"]))
        for row in _rows("ranges.csv")
    )


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files("cschoice.report.compute") / "data" / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file)
