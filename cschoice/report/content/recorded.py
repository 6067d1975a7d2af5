"""The folds of LETOR and Expedia, counted in the data where they are present."""

from __future__ import annotations

from collections.abc import Sequence

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.recorded import Recorded
from cschoice.errors import CschoiceError
from cschoice.report import paper
from cschoice.report.labels import dataset_label
from cschoice.report.paper import FoldCounts
from cschoice.report.table import Column, Group, Line, Table, number

_TABLES = {
    "letor": ("The folds of LETOR", ("letor-mq2007", "letor-mq2008")),
    "letor-list": ("The folds of LETOR, listwise", ("letor-mq2007-list", "letor-mq2008-list")),
    "expedia": ("The folds of Expedia", ("expedia-subset", "expedia-singleton")),
}
_SEED = 0


def recorded_tables() -> list[Table]:
    """Return a table for each family of datasets of which there are files."""
    tables = []
    for name, (caption, datasets) in _TABLES.items():
        found = [counted for dataset in datasets if (counted := _counted(dataset))]
        if found:
            tables.append(_table(name, caption, found))
    return tables


def _counted(dataset: str) -> tuple[Group, str] | None:
    """Count the tasks of each fold, beside the paper's; None if there are no files."""
    if DATASETS[dataset].source is None:
        return None
    source = make_dataset(dataset)
    if not isinstance(source, Recorded):
        return None
    try:
        whole = source.whole()
    except CschoiceError:  # not there, damaged, no room for a cache: the results do not need it
        return None
    sizes = whole.tasks.sizes
    lines = []
    for printed in (row for row in paper.fold_counts() if row.dataset == dataset):
        train, test = source.split(whole, max(0, printed.fold), _SEED)
        large = sizes[train][sizes[train] > source.n_objects]
        n_sampled = int(source.n_samples(large).sum())
        lines.append(
            _line(FoldCounts(dataset, printed.fold, len(train), len(test), n_sampled), printed)
        )
    label = dataset_label(dataset)
    about = f"{label}: {len(sizes):,} tasks of {sizes.min():,} to {sizes.max():,} objects"
    return Group(label, tuple(lines)), f"{about}, {whole.tasks.n_features} features."


def _line(ours: FoldCounts, printed: FoldCounts) -> Line:
    counts = [
        number(count)
        for name in ("n_train", "n_test", "n_sampled")
        for count in (getattr(ours, name), getattr(printed, name))
    ]
    return Line(("all" if ours.fold < 0 else str(ours.fold + 1), *counts))


def _table(name: str, caption: str, counted: Sequence[tuple[Group, str]]) -> Table:
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
