"""The paper's result tables, and the same numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from cschoice.evaluation.metrics import METRICS, TARGETS, shown_metrics
from cschoice.report.compute import paper
from cschoice.report.compute.agreement import MARGIN
from cschoice.report.compute.labels import dataset_label, learner_label, metric_label
from cschoice.report.compute.scores import Result
from cschoice.report.compute.statistics import LEVEL
from cschoice.report.contents.table import (
    Cell,
    Column,
    Gap,
    Row,
    RowGroup,
    ScoreCell,
    Table,
    cpu_time,
    number,
)
from cschoice.tasks import Kind

_MODEL = Column("Choice model")


def result_tables(results: Sequence[Result], kind: Kind) -> list[Table]:
    """Return the paper's tables of a kind of choice in its layout, and one for other datasets."""
    found = []
    own = [result for result in results if result.kind is kind]
    names = [name for name in paper.TABLES if name.startswith(str(kind))]
    parts = {
        name: [result for result in own if result.dataset in paper.TABLES[name]] for name in names
    }
    parts[f"{kind}-other"] = [
        result for result in own if result.dataset not in paper.DATASETS_IN_ORDER
    ]
    measures = [name for name in shown_metrics(kind) if name == TARGETS[kind] or _known(own, name)]
    for name, part in parts.items():
        if part:
            found.append(_result_table(name, part, measures))
    return found


def _known(results: Sequence[Result], measure: str) -> bool:
    """Tell whether any result has the measure: results of earlier versions may lack a new one."""
    return any(result.comparisons[measure].ours for result in results)


def _result_table(name: str, results: Sequence[Result], measures: Sequence[str]) -> Table:
    columns = [Column(metric_label(name, direction=True), scores=True) for name in measures]
    return Table(
        name,
        f"{str(results[0].kind).capitalize()} choice: mean and standard deviation over "
        f"{_folds(results)}. The best of each dataset and measure is marked.",
        (Column("Dataset"), _MODEL, *columns),
        by_dataset(results, lambda result: [_ours(result, name) for name in measures]),
        notes=tuple(_partial(results)),
    )


def comparison_table(
    results: Sequence[Result], kind: Kind, measure: str, against_paper: bool
) -> Table:
    """Return the table of one measure: ours, the paper's, the difference and the verdict."""
    own = [result for result in results if result.kind is kind]
    is_target = measure == TARGETS[kind]
    columns = [Column("Ours", scores=True)]
    if against_paper:
        columns += [Column("Paper", scores=True), Column("Difference", numeric=True), Column("")]
    if is_target:
        columns += [Column("CPU time", numeric=True), Column("Folds")]

    def cells(result: Result) -> list[Cell]:
        comparison = result.comparisons[measure]
        shown = [_ours(result, measure)]
        if against_paper:
            printed = ScoreCell(comparison.paper) if comparison.paper else ""
            shown += [printed, number(comparison.difference, "+.3f"), comparison.verdict]
        time = cpu_time(result.seconds) if result.seconds else ""
        return [*shown, time, result.state] if is_target else shown

    return Table(
        f"comparison-{measure}",
        f"{str(kind).capitalize()} choice, {metric_label(measure)}"
        + (", beside the paper's." if against_paper else "."),
        (Column("Dataset"), _MODEL, *columns),
        by_dataset(own, cells),
        notes=(AGREEMENT_NOTE,) if against_paper else (),
        long=True,
    )


AGREEMENT_NOTE = (
    f"As in the paper: shown to differ by less than {MARGIN:g} (two one-sided Welch tests on "
    "means, deviations and numbers of folds, the paper's as printed). Above and below: Welch's "
    "test tells a difference. Cannot be told: neither is shown. Repeats AllPositive: ours and the "
    "paper's both score what predicting every object does. Each cell is tested by itself at level "
    f"{LEVEL:g}, with folds taken as independent."
)


def by_dataset(
    results: Iterable[Result], cells: Callable[[Result], Sequence[Cell]]
) -> tuple[RowGroup, ...]:
    """Return one group per dataset, one row per learner."""
    return tuple(
        RowGroup(
            found[0].dataset_label,
            tuple(
                Row(
                    (learner_label(result.learner, result.kind), *cells(result)),
                    key=f"{result.dataset}/{result.learner}",
                    stale=result.n_stale > 0,
                )
                for result in found
            ),
        )
        for found in (
            list(group) for _, group in groupby(results, key=lambda result: result.dataset)
        )
    )


def _ours(result: Result, measure: str) -> Cell:
    comparison = result.comparisons[measure]
    if comparison.ours:
        return ScoreCell(comparison.ours, comparison.best)
    if result.folds and METRICS[measure].needs == "probabilities":
        return Gap("its utilities are no probabilities")
    return Gap(result.reason)


def _n_done(result: Result) -> int:
    return len(result.folds)


def _folds(results: Sequence[Result]) -> str:
    n = max(_n_done(result) for result in results)
    return "one fold" if n == 1 else f"{n or 'all'} folds"


def _partial(results: Sequence[Result]) -> Iterable[str]:
    """Name the results that have fewer folds than others."""
    most = max(_n_done(result) for result in results)
    some = [
        f"{learner_label(one.learner, one.kind)} on {dataset_label(one.dataset)} ({_n_done(one)})"
        for one in results
        if 0 < _n_done(one) < most
    ]
    if some:
        yield f"Fewer than {most} folds: {', '.join(some)}."
