"""Sections on effects: shares in scenarios, elasticities, calibration, assortments."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cschoice.effects.assortments import Assortment
from cschoice.effects.calibration import Calibration, Group
from cschoice.effects.elasticities import ARC, DIVERSION, MARGINAL, MEANS, Matrix
from cschoice.effects.questions import Answers
from cschoice.effects.rows import (
    QUARTILES,
    rows_of_assortment,
    rows_of_calibration,
    rows_of_comparison,
    rows_of_matrix,
)
from cschoice.effects.rows import Row as Numbers
from cschoice.effects.shares import Comparison
from cschoice.effects.uncertainty import BOOTSTRAP, DELTA, FOLDS, KRINSKY_ROBB, NONE, Ranges
from cschoice.report.contents.outline import Section
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.table import NO_RESULT, Cell, Column, Row, RowGroup, Table, number
from cschoice.tasks import Kind

_WAYS = {
    DELTA: "by the delta method",
    KRINSKY_ROBB: "from draws of the estimates (Krinsky and Robb)",
    FOLDS: "from models of folds (jackknife of groups)",
    BOOTSTRAP: "from fitting again to tasks drawn with replacement",
}


def effect_sections(report: Answers) -> list[Section]:
    """Return the sections of a report, in order."""
    sections = [_shares(report.comparison)]
    if report.matrices:
        tables = tuple(_matrix(one, place) for place, one in enumerate(report.matrices))
        sections.append(Section("effects", "Effects", tables=tables))
    if report.calibration is not None:
        sections.append(_calibration(report.calibration))
    if report.assortment is not None:
        sections.append(_assortment(report.assortment))
    return sections


def effect_rows(report: Answers) -> list[Numbers]:
    """Return every number of a report as a row."""
    rows = list(rows_of_comparison(report.comparison))
    for one in report.matrices:
        rows += rows_of_matrix(one)
    if report.calibration is not None:
        rows += rows_of_calibration(report.calibration)
    if report.assortment is not None:
        rows += rows_of_assortment(report.assortment)
    return rows


def _shares(found: Comparison) -> Section:
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
    columns = (*_first_columns(found), *_observed_column(found), *_numeric(_noun(found)))
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
            cells = [*_observed(found, s, k), *(_percent(value) for value in numbers)]
            rows.append(Row((name, *cells, *_with_interval(change, "+.2f"))))
        groups.append(RowGroup(_label(found, segment, s), tuple(rows)))
    columns = (
        *_first_columns(found),
        *_observed_column(found),
        *_numeric("As it is", "Scenario", "Change"),
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
        notes.append(f"Intervals {_WAYS[found.way]}.")
    return tuple(notes)


def _interval_columns(found: Comparison) -> tuple[Column, ...]:
    return _numeric(f"{found.level * 100:g} % from", "to") if found.way != NONE else ()


def _with_interval(ranges: Ranges, form: str = ".2f") -> tuple[Cell, ...]:
    values = [float(part) * 100 for part in (ranges.values, ranges.low, ranges.high)]
    shown = values if math.isfinite(float(ranges.errors)) else values[:1]
    return tuple(number(value, form) for value in shown)


def _observed_column(found: Comparison) -> tuple[Column, ...]:
    return () if found.observed is None else _numeric("Observed")


def _observed(found: Comparison, s: int, k: int) -> tuple[Cell, ...]:
    return () if found.observed is None else (_percent(found.observed[s, k]),)


def _percent(value: float) -> Cell:
    return number(float(value) * 100, ".2f")


def _numeric(*names: str) -> tuple[Column, ...]:
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
        (Column("Scenario"), Column("Segment"), *_numeric(*names, *quartiles)),
        tuple(groups),
        (
            "The difference of logsums divided by what a unit of money is worth. Quartiles are "
            "over tasks.",
        ),
    )


def _matrix(found: Matrix, place: int) -> Table:
    """Return the effect of each alternative on each other one, standard errors below."""
    rows = []
    for j, changed in enumerate(found.changed):
        ranges = found.effects[j]
        rows.append(Row((changed, *(_effect(value) for value in ranges.values.tolist()))))
        if found.way != NONE:
            errors = (_in_parentheses(error) for error in ranges.errors.tolist())
            rows.append(Row(("", *errors)))
    caption, first = _caption(found)
    notes = (f"Standard errors in parentheses, {_WAYS[found.way]}.",) if found.way != NONE else ()
    return Table(
        f"effects-{place + 1}",
        caption,
        (Column(first), *_numeric(*found.names)),
        (RowGroup("", tuple(rows)),),
        notes,
        sortable=False,
    )


def _effect(value: float) -> Cell:
    return NO_RESULT if math.isnan(value) else number(value, ".5f")


def _in_parentheses(error: float) -> str:
    return "" if math.isnan(error) else f"({error:.5f})"


def _caption(found: Matrix) -> tuple[str, str]:
    """Return the caption of a matrix, and the heading of its first column."""
    at = "at means" if found.at == MEANS else "over all tasks"
    of_one = "" if len(found.changed) > 1 else " of the chooser"
    if found.measure == DIVERSION:
        how = "taken away" if not found.column else f"a little worse in {found.column}"
        return f"Diversion: the share of an alternative's choosers, {how}, that goes to.", "From"
    if found.measure == MARGINAL:
        return (
            f"Marginal effects of {found.column}{of_one}, {at}: the change of chances per unit.",
            f"{found.column} of",
        )
    if found.measure == ARC:
        return (
            f"Arc elasticities of chances, {found.column}{of_one} larger by {found.percent:g} %, "
            f"{at}.",
            f"{found.column} of",
        )
    return f"Elasticities of chances by {found.column}{of_one}, {at}.", f"{found.column} of"


def _calibration(found: Calibration) -> Section:
    by_chance = _groups_table("calibration-chances", "Chance", found.by_chance, found)
    tables = [by_chance]
    if found.by_name:
        tables.insert(
            0, _groups_table("calibration-alternatives", "Alternative", found.by_name, found)
        )
    picture = Picture(
        "calibration",
        f"Chances that {found.model} predicts against the share of these objects that was "
        f"chosen, with {found.level * 100:g} % intervals; on the diagonal both are the same.",
        "calibration:draw",
        found,
    )
    text = (
        f"Chances are off by {found.error * 100:.2f} percentage points on average. On tasks that "
        "a model was fitted to, it looks better than on new ones."
    )
    return Section("calibration", "Calibration", (text,), tuple(tables), (picture,))


def _groups_table(name: str, first: str, groups: tuple[Group, ...], found: Calibration) -> Table:
    rows = tuple(
        Row(
            (
                one.name,
                number(one.n_objects),
                *(_percent(value) for value in (one.predicted, one.observed, one.low, one.high)),
            )
        )
        for one in groups
    )
    percent = f"{found.level * 100:g} % from"
    return Table(
        name,
        f"Predicted against observed, in per cent, by {first.lower()}.",
        (Column(first), *_numeric("Objects", "Predicted", "Observed", percent, "to")),
        (RowGroup("", rows),),
    )


def _assortment(found: Assortment) -> Section:
    rows = []
    for place, offer in enumerate(found.offers):
        ranges = found.revenues[place]
        values = [float(ranges.values)]
        if found.way != NONE:
            values += [float(ranges.low), float(ranges.high)]
        rows.append(Row((", ".join(offer), *(number(value, ".4f") for value in values))))
    interval = (f"{found.level * 100:g} % from", "to") if found.way != NONE else ()
    table = Table(
        "assortment",
        f"Offers of at most {found.most} alternatives by expected revenue per task, the best "
        "first.",
        (Column("Offer", wide=True), *_numeric("Revenue", *interval)),
        (RowGroup("", tuple(rows)),),
        tuple(_on_search(found)),
    )
    return Section("assortment", "Assortment", tables=(table,))


def _on_search(found: Assortment) -> Iterator[str]:
    if found.exact:
        yield f"All {found.n_tried:,} offers were tried."
    else:
        yield (
            f"{found.n_tried:,} offers were tried: no addition, removal or exchange of one "
            "alternative improves the best; a better one may exist."
        )
    if found.always:
        yield f"Always on offer: {', '.join(found.always)}."
    yield f"Everything on offer: {found.everything:.4f}."
