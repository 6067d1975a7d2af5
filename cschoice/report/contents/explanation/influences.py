"""Which context: who helps and who hurts whom, by order, by relation, and in the model itself."""

from __future__ import annotations

from itertools import islice

import numpy as np

from cschoice.explanations.explanation import Explanation
from cschoice.report.contents.drawings import Heat, Intervals
from cschoice.report.contents.explanation.matrices import matrix_picture, strongest
from cschoice.report.contents.outline import Section
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.table import Column, Row, RowGroup, Table, number, signed
from cschoice.tasks import Kind

_ORDERS = ("The pair alone (order 0)", "Single rivals (order 1)", "Two rivals together (order 2)",
           "Three and more together")  # fmt: skip
_EXPLAINS = 0.1  # R² from which a relation is named in a sentence


def who_section(explanation: Explanation) -> Section:
    """Return the matrix of effects, and effects by order."""
    heat = heat_of(explanation)
    if not np.isfinite(heat.values).any():
        text = "Sets of two objects have no third one whose choice could be helped or hurt."
        return Section("who", _WHO, (text,))
    about, objects = explanation.about, explanation.objects
    single = about.kind is Kind.SINGLETON
    caption = (
        f"What the {objects.sort} in the row gains ({about.unit}"
        f"{', relative to the mean of the others' if single else ''}) when the one in the column "
        f"joins the rest of its set, the mean over {about.n_averaged:,} sets of the data. "
        "Blue: it helps; orange: it hurts. Bold and strong: more than noise."
    )
    pictures = [
        matrix_picture(
            "who",
            "Who helps and who hurts whom",
            caption,
            heat,
            explanation.matrix.margins,
            explanation.meetings,
        )
    ]
    if len(explanation.orders.values):
        pictures.append(_orders(explanation))
    return Section("who", _WHO, tuple(_who_text(explanation, heat)), pictures=tuple(pictures))


_WHO = "Who helps and who hurts whom?"


def heat_of(explanation: Explanation) -> Heat:
    """Return the matrix of effects by name."""
    names = explanation.objects.names
    matrix = explanation.matrix
    clear = np.nan_to_num(np.abs(matrix.values)) > np.nan_to_num(matrix.margins, nan=np.inf)
    return Heat(names, names, matrix.values, clear, "Object", "Rival that joins")


def _who_text(explanation: Explanation, heat: Heat) -> list[str]:
    objects = explanation.objects
    text = []
    if not objects.have_identity:
        text.append(
            "The objects have no names that are the same in all sets: those with similar features "
            "stand together, named by the features of their centre."
        )
    if explanation.about.folds == 0:
        return [*text, "Without --folds nothing is known of the noise in these numbers."]
    found = [
        f"{by} {'helps' if value > 0 else 'hurts'} {of} "
        f"({signed(f'{value:+.2f}')} {explanation.about.unit})"
        for of, by, value in islice(strongest(heat), 3)
    ]
    said = "; ".join(found) or "No effect of one object on another is more than noise"
    return [*text, f"{said}."]


def _orders(explanation: Explanation) -> Picture:
    values, margins = explanation.orders.values, explanation.orders.margins
    shown = [k for k in range(len(values)) if k < 2 or values[k] > 1e-4]
    content = Intervals(
        [_ORDERS[k] for k in shown],
        ("size",),
        values[shown, None],
        margins[shown, None],
        f"size of the effect on the {explanation.about.unit} of two objects (root mean square)",
        least=0.0,
    )
    caption = (
        "Halo effects by order: how much of the difference between two objects is due to "
        "themselves, to single rivals, and to rivals that act together; averaged over the data's "
        "own sets of up to five objects."
    )
    return Picture("orders", caption, "intervals:draw", content, _orders_table(content))


def _orders_table(content: Intervals) -> Table:
    rows = [
        Row((name, number(float(value), ".3f"), number(_known(margin), ".3f")))
        for name, value, margin in zip(
            content.rows, content.values[:, 0], content.margins[:, 0], strict=True
        )
    ]
    columns = (Column("Order"), Column("Size", numeric=True), Column("± 95 %", numeric=True))
    return Table(
        "orders-numbers", "Effects by order: the numbers.", columns, (RowGroup("", tuple(rows)),)
    )


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def relations_section(explanation: Explanation) -> Section | None:
    """Return the relation between two objects that explains the effect of one on the other."""
    rows = explanation.relations
    if not rows:
        return None
    first = rows[0]
    if first.explained >= _EXPLAINS:
        direction = "hurts" if first.per_unit < 0 else "helps"
        text = (
            f"What a rival changes follows most from this: {first.name}. It {direction}, and "
            f"explains {100 * first.explained:.0f} % of what pairs of objects do to each other."
        )
    else:
        text = (
            "None of the relations that were tried explains much of what pairs of objects do to "
            "each other."
        )
    directions = explanation.directions
    source = "as declared" if explanation.declared else "as the model has learned them"
    note = f"Dominance: at least as good in {directions.described} ({source}), and better in one."
    shown = tuple(
        Row((row.name, number(100 * row.explained, ".1f"), number(row.per_unit, "+.3f")))
        for row in rows[:8]
    )
    columns = (
        Column("Relation of a rival to an object"),
        Column("Explained, %", numeric=True),
        Column(f"Effect of a deviation more, {explanation.about.unit}", numeric=True),
    )
    caption = (
        "How much of the effects between pairs of objects each relation explains by itself, once "
        "the mean effects of each object and of each rival in its set are taken out."
    )
    table = Table("relations", caption, columns, (RowGroup("", shown),), (note,))
    return Section("relations", "What is it about a rival?", (text,), (table,))


def structure_section(explanation: Explanation) -> Section | None:
    """Return the model's own matrix of context."""
    found = explanation.structure
    if found is None:
        return None
    margins = 1.959964 * found.errors
    known = bool(np.isfinite(found.errors).any())
    clear = np.nan_to_num(np.abs(found.values)) > np.nan_to_num(margins, nan=np.inf)
    heat = Heat(found.rows, found.columns, found.values, clear, "", "")
    errors = " Bold: more than noise, by its standard error." if known else ""
    lost = int(np.isnan(found.errors).sum())
    if known and lost:
        errors += f" These data do not identify {lost} of the {found.errors.size} numbers."
    caption = f"{found.name} of the model as it is: {found.meaning}.{errors}"
    picture = matrix_picture("structure", found.name, caption, heat, margins)
    title = f"Inside the model: {found.name}"
    return Section("structure", title, pictures=(picture,))
