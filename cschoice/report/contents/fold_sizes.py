"""The folds of LETOR and Expedia, counted in the data where they are present."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cschoice.datasets import make_dataset
from cschoice.datasets.raw.observed_choices import ObservedChoices
from cschoice.datasets.raw.paper_counts import PAPER_COUNTS
from cschoice.errors import CschoiceError
from cschoice.report.compute.labels import dataset_label
from cschoice.report.contents.table import Column, Row, RowGroup, Table, number

_TABLES = {
    "letor": ("The folds of LETOR", ("letor-mq2007", "letor-mq2008")),
    "letor-list": ("The folds of LETOR, listwise", ("letor-mq2007-list", "letor-mq2008-list")),
    "expedia": ("The folds of Expedia", ("expedia-subset", "expedia-singleton")),
}
_SEED = 0

Counts = tuple[int, int, int]  # of training tasks, test tasks and sub-samples for training


def fold_size_tables() -> list[Table]:
    """Return a table for each family of datasets of which there are files."""
    tables = []
    for name, (caption, datasets) in _TABLES.items():
        found = [counted for dataset in datasets if (counted := _counted(dataset))]
        if found:
            tables.append(_table(name, caption, found))
    return tables


def _counted(dataset: str) -> tuple[RowGroup, str] | None:
    """Count the tasks of each fold, beside the paper's; None if there are no files."""
    source = make_dataset(dataset)
    if not isinstance(source, ObservedChoices):
        return None
    try:
        whole = source.whole()
    except CschoiceError:  # not there, damaged, no room for a cache: the results do not need it
        return None
    sizes = whole.tasks.sizes
    rows = []
    for fold, (name, printed) in enumerate(_printed(dataset).items()):
        train, test = source.split(whole, fold, _SEED)
        large = sizes[train][sizes[train] > source.n_objects]
        ours = len(train), len(test), int(source.n_samples(large).sum())
        both = [number(count) for pair in zip(ours, printed, strict=True) for count in pair]
        rows.append(Row((name, *both)))
    label = dataset_label(dataset)
    about = f"{label}: {len(sizes):,} tasks of {sizes.min():,} to {sizes.max():,} objects"
    return RowGroup(label, tuple(rows)), f"{about}, {whole.tasks.n_features} features."


def _printed(dataset: str) -> dict[str, Counts]:
    """Return the paper's counts by the name of the fold; "all" if they are the same in each."""
    counts: Mapping[str, Any] = PAPER_COUNTS[dataset].counts
    test, sampled = counts["test tasks"], counts["training samples"]
    if isinstance(test, int):
        return {"all": (counts["training tasks"], test, sampled)}
    return {
        str(fold): (counts["tasks"] - n_test, n_test, n_sampled)
        for fold, (n_test, n_sampled) in enumerate(zip(test, sampled, strict=True), start=1)
    }


def _table(name: str, caption: str, counted: Sequence[tuple[RowGroup, str]]) -> Table:
    labels = ("# Train", "# Test", "# Sampled train")
    columns = [
        Column(label, numeric=True) for count in labels for label in (count, f"{count} (paper)")
    ]
    return Table(
        name,
        f"{caption}: tasks, and the sub-samples of larger ones for training, counted in the files.",
        (Column("Dataset"), Column("Fold"), *columns),
        tuple(group for group, _ in counted),
        notes=tuple(about for _, about in counted),
    )
