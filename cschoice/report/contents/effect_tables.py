"""Answers in sections: shares, effects, calibration and assortments."""

from __future__ import annotations

import math
from collections.abc import Iterator

from cschoice.effects.assortments import Assortment
from cschoice.effects.calibration import Calibration, Group
from cschoice.effects.elasticities import ARC, DIVERSION, MARGINAL, MEANS, Matrix
from cschoice.effects.questions import Answers
from cschoice.effects.uncertainty import NONE
from cschoice.report.contents.outline import Section
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.share_tables import WAYS, numeric, percent, shares
from cschoice.report.contents.table import NO_RESULT, Cell, Column, Row, RowGroup, Table, number


def effect_sections(report: Answers) -> list[Section]:
    """Return the sections of a report, in order."""
    sections = [shares(report.comparison)]
    if report.matrices:
        tables = tuple(_matrix(one, place) for place, one in enumerate(report.matrices))
        sections.append(Section("effects", "Effects", tables=tables))
    if report.calibration is not None:
        sections.append(_calibration(report.calibration))
    if report.assortment is not None:
        sections.append(_assortment(report.assortment))
    return sections


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
    notes = (f"Standard errors in parentheses, {WAYS[found.way]}.",) if found.way != NONE else ()
    return Table(
        f"effects-{place + 1}",
        caption,
        (Column(first), *numeric(*found.names)),
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
                *(percent(value) for value in (one.predicted, one.observed, one.low, one.high)),
            )
        )
        for one in groups
    )
    low = f"{found.level * 100:g} % from"
    return Table(
        name,
        f"Predicted against observed, in per cent, by {first.lower()}.",
        (Column(first), *numeric("Objects", "Predicted", "Observed", low, "to")),
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
        (Column("Offer", wide=True), *numeric("Revenue", *interval)),
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
