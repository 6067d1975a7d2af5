"""The paper's result tables, and the same numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from cschoice.report.compute import paper
from cschoice.report.compute.labels import dataset_label, learner_label, metric_label
from cschoice.report.compute.scores import Cell, Row
from cschoice.report.contents.table import (
    Column,
    Entry,
    Gap,
    Group,
    Line,
    Measured,
    Table,
    cpu_time,
    number,
)
from cschoice.tasks import Kind

_MODEL = Column("Choice model")


def result_tables(rows: Sequence[Row], kind: Kind) -> list[Table]:
    """Return the paper's tables of a kind of choice in its layout, and one for other datasets."""
    found = []
    own = [row for row in rows if row.kind is kind]
    names = [name for name in paper.TABLES if name.startswith(str(kind))]
    parts = {name: [row for row in own if row.dataset in paper.TABLES[name]] for name in names}
    parts[f"{kind}-other"] = [row for row in own if row.dataset not in paper.DATASETS_IN_ORDER]
    for name, part in parts.items():
        if part:
            found.append(_result_table(name, part, kind))
    return found


def _result_table(name: str, rows: Sequence[Row], kind: Kind) -> Table:
    measures = paper.COLUMNS[kind]
    columns = [Column(metric_label(measure), measured=True) for measure in measures]
    return Table(
        name,
        f"{str(kind).capitalize()} choice: mean and standard deviation over "
        f"{_folds(rows)}. The best of each dataset and measure is marked.",
        (Column("Dataset"), _MODEL, *columns),
        by_dataset(rows, lambda row: [_ours(row, row.cells[measure]) for measure in measures]),
        notes=tuple(_partial(rows)),
    )


def comparison_table(rows: Sequence[Row], kind: Kind, measure: str, against_paper: bool) -> Table:
    """Return the table of one measure: ours, the paper's, the difference and the verdict."""
    own = [row for row in rows if row.kind is kind]
    is_target = measure == paper.COLUMNS[kind][0]
    columns = [Column("Ours", measured=True)]
    if against_paper:
        columns += [Column("Paper", measured=True), Column("Difference", numeric=True), Column("")]
    if is_target:
        columns += [Column("CPU time", numeric=True), Column("Folds")]

    def entries(row: Row) -> list[Entry]:
        cell = row.cells.get(measure, Cell(None))
        shown = [_ours(row, cell)]
        if against_paper:
            printed = Measured(cell.paper) if cell.paper else ""
            shown += [printed, number(cell.difference, "+.3f"), cell.verdict]
        time = cpu_time(row.seconds) if row.seconds else ""
        return [*shown, time, row.state] if is_target else shown

    return Table(
        f"comparison-{measure}",
        f"{str(kind).capitalize()} choice, {metric_label(measure)}"
        + (", beside the paper's." if against_paper else "."),
        (Column("Dataset"), _MODEL, *columns),
        by_dataset(own, entries),
        notes=(_APART,) if against_paper else (),
        long=True,
    )


_APART = (
    "Above and below: the difference is outside both standard deviations, ours and the paper's "
    "together; a digit of rounding is allowed for."
)


def by_dataset(rows: Iterable[Row], entries: Callable[[Row], Sequence[Entry]]) -> tuple[Group, ...]:
    """Return one group per dataset, one line per learner."""
    return tuple(
        Group(
            dataset_label(dataset),
            tuple(
                Line(
                    (learner_label(row.learner, row.kind), *entries(row)),
                    key=f"{row.dataset}/{row.learner}",
                )
                for row in found
            ),
        )
        for dataset, found in groupby(rows, key=lambda row: row.dataset)
    )


def _ours(row: Row, cell: Cell) -> Entry:
    return Measured(cell.ours, cell.best) if cell.ours else Gap(row.reason)


def _n_done(row: Row) -> int:
    return len(row.folds)


def _folds(rows: Sequence[Row]) -> str:
    n = max(_n_done(row) for row in rows)
    return "one fold" if n == 1 else f"{n or 'all'} folds"


def _partial(rows: Sequence[Row]) -> Iterable[str]:
    """Name the results that have fewer folds than others."""
    most = max(_n_done(row) for row in rows)
    some = [
        f"{learner_label(row.learner, row.kind)} on {dataset_label(row.dataset)} ({_n_done(row)})"
        for row in rows
        if 0 < _n_done(row) < most
    ]
    if some:
        yield f"Fewer than {most} folds: {', '.join(some)}."
