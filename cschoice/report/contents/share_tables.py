"""Tables of shares before and after scenarios, by segment, and of consumer surplus."""

from __future__ import annotations

import math

from cschoice.effects.rows import QUARTILES
from cschoice.effects.shares import Comparison
from cschoice.effects.uncertainty import BOOTSTRAP, DELTA, FOLDS, KRINSKY_ROBB, NONE, Ranges
from cschoice.report.contents.outline import Section
from cschoice.report.contents.table import Cell, Column, Row, RowGroup, Table, number
from cschoice.tasks import Kind

WAYS = {
    DELTA: "by the delta method",
    KRINSKY_ROBB: "from draws of the estimates (Krinsky and Robb)",
    FOLDS: "from models of folds (jackknife of groups)",
    BOOTSTRAP: "from fitting again to tasks drawn with replacement",
}


def shares(found: Comparison) -> Section:
    """Return a table per scenario, and one of the surplus."""
    tables = [_scenario(found, place) for place in range(len(found.scenarios))]
    tables = tables or [_as_it_is(found)]
    if found.surplus is not None:
        tables.append(_surplus(found))
    return Section("shares", "Shares", tables=tuple(tables))


def _as_it_is(found: Comparison) -> Table:
    """Return the shares where there is no scenario."""
    groups = []
    for s, segment in enumerate(found.segments.names):
        rows = []
        for k, name in enumerate(found.names):
            cells = (*_observed(found, s, k), *_with_interval(found.before[s, k]))
            rows.append(Row((name, *cells)))
        groups.append(RowGroup(_label(found, segment, s), tuple(rows)))
    columns = (*_first_columns(found), *_observed_column(found), *numeric(_noun(found)))
    return Table(
        "shares",
        f"{_noun(found)} in per cent.",
        (*columns, *_interval_columns(found)),
        tuple(groups),
        _notes(found),
    )


def _scenario(found: Comparison, place: int) -> Table:
    """Return the shares before and after a scenario."""
    groups = []
    for s, segment in enumerate(found.segments.names):
        rows = []
        for k, name in enumerate(found.names):
            change = found.change[place, s, k]
            numbers = (found.before.values[s, k], found.after.values[place, s, k])
            cells = [*_observed(found, s, k), *(percent(value) for value in numbers)]
            rows.append(Row((name, *cells, *_with_interval(change, "+.2f"))))
        groups.append(RowGroup(_label(found, segment, s), tuple(rows)))
    columns = (
        *_first_columns(found),
        *_observed_column(found),
        *numeric("As it is", "Scenario", "Change"),
        *_interval_columns(found),
    )
    return Table(
        f"shares-{place + 1}",
        f"{_noun(found)} in per cent, scenario: {found.scenarios[place]}.",
        columns,
        tuple(groups),
        _notes(found),
    )


def _first_columns(found: Comparison) -> tuple[Column, ...]:
    segment = (Column("Segment"),) if len(found.segments.names) > 1 else ()
    return (*segment, Column("Alternative"))


def _label(found: Comparison, segment: str, place: int) -> str:
    if len(found.segments.names) < 2:
        return ""
    return f"{segment} ({found.segments.sizes[place]:,})"


def _noun(found: Comparison) -> str:
    if found.kind is Kind.SUBSET:
        return "Inclusion rate"
    return "Share" if found.probabilistic else "Share of first choices"


def _notes(found: Comparison) -> tuple[str, ...]:
    notes = [f"{found.segments.sizes[0]:,} tasks."]
    if found.kind is Kind.SUBSET:
        notes.append(
            "Inclusion rate: how many objects of that name are chosen per task. Rates do not add "
            "up to one; diversion and consumer surplus are not defined for subsets."
        )
    if found.way == NONE:
        notes.append("No intervals: the models of folds, or bootstrap, would give some.")
    else:
        notes.append(f"Intervals {WAYS[found.way]}.")
    return tuple(notes)


def _interval_columns(found: Comparison) -> tuple[Column, ...]:
    return numeric(f"{found.level * 100:g} % from", "to") if found.way != NONE else ()


def _with_interval(ranges: Ranges, form: str = ".2f") -> tuple[Cell, ...]:
    values = [float(part) * 100 for part in (ranges.values, ranges.low, ranges.high)]
    shown = values if math.isfinite(float(ranges.errors)) else values[:1]
    return tuple(number(value, form) for value in shown)


def _observed_column(found: Comparison) -> tuple[Column, ...]:
    return () if found.observed is None else numeric("Observed")


def _observed(found: Comparison, s: int, k: int) -> tuple[Cell, ...]:
    return () if found.observed is None else (percent(found.observed[s, k]),)


def percent(value: float) -> Cell:
    """Return a share in per cent."""
    return number(float(value) * 100, ".2f")


def numeric(*names: str) -> tuple[Column, ...]:
    """Return columns of numbers."""
    return tuple(Column(name, numeric=True, decimal=True) for name in names)


def _surplus(found: Comparison) -> Table:
    """Return the change of consumer surplus by scenario and segment."""
    assert found.surplus is not None
    groups = []
    for place, scenario in enumerate(found.scenarios):
        rows = []
        for s, segment in enumerate(found.segments.names):
            mean = found.surplus.means[place, s]
            values = [float(mean.values)]
            if found.way != NONE:
                values += [float(mean.low), float(mean.high)]
            values += found.surplus.quartiles[place, s].tolist()
            rows.append(Row((segment, *(number(value, ".4f") for value in values))))
        groups.append(RowGroup(scenario, tuple(rows)))
    names = ("Mean", *(one.label for one in _interval_columns(found)))
    quartiles = (name.capitalize() for name in QUARTILES)
    return Table(
        "surplus",
        f"Change of consumer surplus per task, in units of {found.surplus.money}.",
        (Column("Scenario"), Column("Segment"), *numeric(*names, *quartiles)),
        tuple(groups),
        (
            "The difference of logsums divided by what a unit of money is worth. Quartiles are "
            "over tasks.",
        ),
    )
