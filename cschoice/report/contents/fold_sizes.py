"""The numbers of tasks of each fold, beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cschoice.datasets.raw.paper_counts import PAPER_COUNTS
from cschoice.report.compute.inputs import Inputs
from cschoice.report.compute.labels import dataset_label
from cschoice.report.contents.table import Cell, Column, Row, RowGroup, Table, number

_TABLES = {
    "letor": ("The folds of LETOR", ("letor-mq2007", "letor-mq2008")),
    "letor-list": ("The folds of LETOR, listwise", ("letor-mq2007-list", "letor-mq2008-list")),
    "expedia": ("The folds of Expedia", ("expedia-subset", "expedia-singleton")),
}


def fold_size_tables(inputs: Inputs) -> list[Table]:
    """Return a table for each family of datasets whose folds were recorded with their sizes."""
    tables = []
    for name, (caption, datasets) in _TABLES.items():
        found = [group for dataset in datasets if (group := _group(inputs, dataset)).rows]
        if found:
            tables.append(_table(name, caption, found))
    return tables


def _group(inputs: Inputs, dataset: str) -> RowGroup:
    """Return the sizes of each fold; they are the same for all learners that took all tasks."""
    folds = inputs.folds[inputs.folds["dataset"] == dataset].dropna(subset="n_train")
    rows = []
    for fold in sorted(set(folds["fold"].astype(int))):
        jobs = folds[folds["fold"] == fold]
        ours = (int(jobs[column].max()) for column in ("n_train", "n_test"))
        cells: list[Cell] = []
        for count, printed in zip(ours, _printed(dataset, fold), strict=True):
            cells += [number(count), number(printed)]
        rows.append(Row((str(fold + 1), *cells)))
    return RowGroup(dataset_label(dataset), tuple(rows))


def _printed(dataset: str, fold: int) -> list[int | None]:
    """Return the paper's numbers of sub-samples for training and of test tasks."""
    counts: Mapping[str, Any] = PAPER_COUNTS[dataset].counts
    of_folds = (counts["training samples"], counts["test tasks"])
    return [
        value if isinstance(value, int) else value[fold] if fold < len(value) else None
        for value in of_folds
    ]


def _table(name: str, caption: str, groups: Sequence[RowGroup]) -> Table:
    labels = ("Trained on", "Tested on")
    columns = [
        Column(label, numeric=True) for count in labels for label in (count, f"{count} (paper)")
    ]
    return Table(
        name,
        f"{caption}: the tasks that were trained on, which are sub-samples of larger ones, and "
        "those tested on.",
        (Column("Dataset"), Column("Fold"), *columns),
        tuple(groups),
    )
