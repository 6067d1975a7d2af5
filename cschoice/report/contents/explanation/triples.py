"""Attraction, compromise and similarity: a picture per effect."""

from __future__ import annotations

import numpy as np

from cschoice.explanations.explanation import Explanation, TripleEffect
from cschoice.explanations.uncertainty import Measured
from cschoice.report.contents.drawings import Spread
from cschoice.report.contents.outline import Section
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.table import Cell, Column, Gap, Row, RowGroup, Table, number, signed

_MEANING = {
    "attraction": "The third object is worse than the target in everything, not than the "
    "competitor",
    "compromise": "The third object makes the target the middle one",
    "similarity": "The third object is near the competitor",
}
_TITLE = "Attraction, compromise, similarity"


def triples_section(explanation: Explanation) -> Section:
    """Return the effects with their intervals, or how to ask for them."""
    if not explanation.declared:
        names = explanation.directions.names[:2] or ("price", "quality")
        example = ",".join(f"{name}=high" for name in names)
        return Section(
            "triples",
            _TITLE,
            (f'Say which values are better to see these effects: --better "{example}".',),
        )
    found = [one for one in explanation.triples if len(one.triples.entries)]
    text = [verdict(one, explanation.about.unit) for one in explanation.triples]
    text.append(
        "The effect is the change in the log-odds of the target over its competitor: as the "
        "third object is added to the rest of the set, and half the change as it is moved from the "
        "mirrored place on the competitor's side, which needs no smaller sets. Better is "
        f"{explanation.directions.described}."
    )
    pictures = tuple(_picture(one, explanation.about.unit) for one in found)
    return Section("triples", _TITLE, tuple(text), (_table(explanation),), pictures)


def verdict(one: TripleEffect, unit: str) -> str:
    """Return a sentence on an effect."""
    name = one.triples.effect.capitalize()
    if one.main is None:
        return f"{name}: no set of the data has such a triple."
    value, margin = float(one.main.values[0]), float(one.main.margins[0])
    size = f"{signed(f'{value:+.2f}')} {unit}, third object {_how(one)}"
    if not np.isfinite(margin):
        return f"{name}: {size}; its noise is not known."
    between = (
        f"95 % interval {signed(f'{value - margin:.2f}')} to {signed(f'{value + margin:.2f}')}"
    )
    if value > margin:
        return f"{name}: yes ({size}, {between})."
    if value < -margin:
        return f"{name}: the opposite ({size}, {between})."
    return f"{name}: the data cannot tell ({size}, {between})."


def _how(one: TripleEffect) -> str:
    return "moved" if one.moves else "added"


def _picture(one: TripleEffect, unit: str) -> Picture:
    assert one.main is not None
    name = one.triples.effect
    content = Spread(
        one.changes,
        float(one.main.values[0]),
        float(one.main.margins[0]),
        f"what the target gains on its competitor as the third object is {_how(one)} ({unit})",
    )
    share = 100 * np.mean(one.changes > 0)
    caption = (
        f"{name.capitalize()}: {_MEANING[name].lower()}. The model's change in {unit} over "
        f"{len(one.changes):,} triples in {one.triples.n_sets:,} sets; {share:.0f} % are above "
        "zero (blue). The diamond is the mean with its 95 % interval."
    )
    return Picture(name, caption, "spread:draw", content)


def _table(explanation: Explanation) -> Table:
    rows = []
    for one in explanation.triples:
        counts = (number(one.triples.n_sets), number(one.triples.n_found))
        cells = (*_cells(one.added), *_cells(one.moved))
        rows.append(Row((one.triples.effect.capitalize(), *counts, *cells)))
    columns = (
        Column("Effect"),
        *(
            Column(label, numeric=True)
            for label in ("Sets", "Triples", "Added", "95 % from", "to", "Moved", "95 % from", "to")
        ),
    )
    caption = f"What the target gains on its competitor, {explanation.about.unit}."
    return Table("triples", caption, columns, (RowGroup("", tuple(rows)),), sortable=False)


def _cells(found: Measured | None) -> tuple[Cell, ...]:
    if found is None:
        return (Gap("no set of the data has such a triple"),) * 3
    values = (found.values[0], found.low[0], found.high[0])
    return tuple(number(float(v) if np.isfinite(v) else None, "+.3f") for v in values)
