"""Tables of the datasets and of the ranges of hyperparameters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from cschoice.datasets import DATASETS
from cschoice.report.compute import paper
from cschoice.report.compute.inputs import Inputs
from cschoice.report.compute.labels import (
    PARAMETERS,
    dataset_label,
    extent,
    learner_label,
    learners_in_order,
)
from cschoice.report.compute.scores import Result
from cschoice.report.contents.table import Cell, Column, NumberCell, Row, RowGroup, Table
from cschoice.tasks import Kind

if TYPE_CHECKING:
    import pandas as pd

Count = int | tuple[int, int]


def datasets_table(inputs: Inputs, results: Sequence[Result]) -> Table:
    """Return the overview of the datasets (tab:datasets:overview), others with results included."""
    kinds = {name: info.kind for name, info in DATASETS.written.items()}
    kinds |= {result.dataset: result.kind for result in results}
    n_done = Counter(result.dataset for result in results if result.folds)

    def row(name: str) -> Row:
        info, folds = DATASETS.written.get(name), inputs.folds[inputs.folds["dataset"] == name]
        used = [_used(folds, "n_train"), _used(folds, "n_test")]
        sizes: list[Count | None]
        if info:
            sizes = [info.n_train, info.n_test, info.n_features, info.n_objects]
            if name not in paper.DATASETS_IN_ORDER:  # drawn as long as they are asked for
                sizes[:2] = [None, None]
        else:
            sizes = [None, None, _used(folds, "n_features"), _used(folds, "smallest", "largest")]
        done = f"{n_done[name]} learners" if n_done[name] else "none"
        return Row((dataset_label(name), *map(_count, [*sizes, *used]), done))

    labels = ("# Train", "# Test", "# Features", "|Q|", "Trained on", "Tested on")
    return Table(
        "datasets",
        "The datasets with the sizes of the paper, and the tasks that were used here; a range is "
        "over folds or tasks.",
        (
            Column("Problem"),
            Column("Dataset"),
            *(Column(label, numeric=True) for label in labels),
            Column("Results here"),
        ),
        tuple(
            RowGroup(
                f"{str(kind).capitalize()} choice",
                tuple(row(name) for name, own in kinds.items() if own is kind),
            )
            for kind in Kind
        ),
    )


def _used(folds: pd.DataFrame, *columns: str) -> Count | None:
    """Return the number in columns of the folds, or its range; None where none was recorded."""
    values = sorted(int(value) for column in columns for value in folds[column].dropna())
    if not values:
        return None
    return values[0] if values[0] == values[-1] else (values[0], values[-1])


def _count(value: Count | None) -> Cell:
    if value is None:
        return ""
    if isinstance(value, int):
        return NumberCell(f"{value:,}", value)
    return NumberCell(f"[{value[0]:,}, {value[1]:,}]", value[0])


def ranges_table() -> Table:
    """Return the paper's hyperparameter ranges (tab:ranges)."""
    labels = list(dict.fromkeys(PARAMETERS.values()))
    rows = []
    for learner, found in groupby(paper.ranges(), key=lambda result: result.learner):
        own = {PARAMETERS[result.parameter]: result for result in found}
        shown: list[Cell] = [
            extent(own[label].low, own[label].high) if label in own else "NA" for label in labels
        ]
        rows.append(Row((learner_label(learner), *shown)))
    return Table(
        "ranges",
        "Ranges in which the paper sought hyperparameters; for SDA, set is the reference network "
        "and joint the weight network.",
        (Column("Learner"), *(Column(label) for label in labels)),
        (RowGroup("", tuple(rows)),),
    )


def tried_table(inputs: Inputs) -> Table | None:
    """Return the table of values tried and chosen here, over all datasets and folds."""
    tried, chosen = _values(inputs.trials), _values(inputs.folds)
    printed = {(result.learner, result.parameter): result for result in paper.ranges()}
    groups = []
    for learner in learners_in_order(learner for learner, _ in tried):
        rows = []
        for name in sorted(parameter for one, parameter in tried if one == learner):
            known = printed.get((learner, name))
            rows.append(
                Row(
                    (
                        name,
                        extent(known.low, known.high) if known else "",
                        _extent(tried[learner, name]),
                        _extent(chosen.get((learner, name), ())),
                    )
                )
            )
        groups.append(RowGroup(learner_label(learner), tuple(rows)))
    if not groups:
        return None
    columns = ("Learner", "Hyperparameter", "The paper's range", "Tried here", "Chosen here")
    return Table(
        "tried",
        "Hyperparameters: the smallest and largest value tried, and chosen, over all datasets "
        "and folds.",
        tuple(Column(label) for label in columns),
        tuple(groups),
        long=True,
    )


def _values(table: pd.DataFrame) -> dict[tuple[str, str], set[object]]:
    """Return the values of each learner's hyperparameters; equal JSON texts are parsed once."""
    found: dict[tuple[str, str], set[object]] = {}
    pairs = table[["learner", "params"]].drop_duplicates()
    for learner, params in zip(pairs["learner"], pairs["params"], strict=True):
        for name, value in json.loads(params).items():
            found.setdefault((learner, name), set()).add(value)
    return found


def _extent(values: Iterable[object]) -> str:
    values = list(values)
    if not values:
        return ""
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        numbers = [float(value) for value in values if isinstance(value, int | float)]
        low, high = min(numbers), max(numbers)
        return extent(low, high) if low < high else f"{low:.3g}"
    return ", ".join(sorted(map(str, values)))
