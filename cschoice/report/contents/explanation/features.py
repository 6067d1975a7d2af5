"""Features: the loss without each, and how chances depend on them."""

from __future__ import annotations

import numpy as np

from cschoice.explanations.explanation import Curve, Explanation
from cschoice.report.compute.labels import metric_label
from cschoice.report.contents.drawings import Curves, Intervals, Panel
from cschoice.report.contents.outline import Section
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.table import Column, Row, RowGroup, Table, number


def features_section(explanation: Explanation) -> Section:
    """Return the importance of features and the curves of partial dependence."""
    pictures = [_importance(explanation)] if explanation.importance is not None else []
    pictures += [_curve(curve, explanation) for curve in explanation.curves]
    text = (
        "A feature matters twice: for the object that has it, and for its rivals, as a part of "
        "their context. A model without context has nothing but noise in the second."
    )
    return Section("features", "Features", (text,), pictures=tuple(pictures))


def _importance(explanation: Explanation) -> Picture:
    found = explanation.importance
    assert found is not None
    order = np.argsort(-found.values.sum(1), kind="stable")
    measure = metric_label(explanation.loss)
    names = [explanation.features[k] for k in order]
    what = (
        f"increase of {measure.lower()}" if explanation.loss == "log-loss" else f"loss of {measure}"
    )
    content = Intervals(
        names, ("the object's own", "its rivals'"), found.values[order], found.margins[order], what
    )
    where = "tasks held out" if explanation.about.folds else "the tasks learned from"
    caption = (
        f"Permutation importance: the {what} on {where} when a feature is another object's, for "
        "the object itself or for its rivals; lines are 95 % intervals."
    )
    return Picture("importance", caption, "intervals:draw", content, _importance_table(content))


def _importance_table(content: Intervals) -> Table:
    rows = []
    for k, name in enumerate(content.rows):
        cells = []
        for value, margin in zip(content.values[k], content.margins[k], strict=True):
            known = bool(np.isfinite(margin))
            cells.append(number(float(value), "+.4f"))
            cells.append(number(float(margin) if known else None, ".4f"))
        rows.append(Row((name, *cells)))
    columns = (
        Column("Feature"),
        *(Column(label, numeric=True) for label in ("Own", "± 95 %", "Rivals'", "± 95 %")),
    )
    caption = "Permutation importance: the numbers."
    return Table("importance-numbers", caption, columns, (RowGroup("", tuple(rows)),))


def _curve(curve: Curve, explanation: Explanation) -> Picture:
    objects, feature = explanation.objects, curve.grid.group.name
    names = objects.names if objects.have_identity else ("all objects",)
    chance = "chance" if explanation.about.probabilistic else "share chosen"
    content = Curves(
        feature,
        curve.grid.values,
        names,
        (
            Panel(f"Own {feature}", curve.own.values, curve.own.margins),
            Panel(f"{feature} of a rival", curve.rival.values, curve.rival.margins),
        ),
        chance,
    )
    of = f"each {objects.sort}" if objects.have_identity else "an object"
    caption = (
        f"Partial dependence on {feature}: the mean {chance} of {of} as its own {feature} (left) "
        f"or that of one of its rivals (right) is set to a value in every set. Bands are 95 % "
        "intervals."
    )
    name = f"dependence-{_slug(feature)}"
    return Picture(name, caption, "dependence:draw", content, _curve_table(name, content))


def _curve_table(name: str, content: Curves) -> Table:
    rows = [
        Row(
            (
                number(float(x), ".4g"),
                *(
                    number(float(panel.values[place, k]), ".3f")
                    for panel in content.panels
                    for k in range(len(content.names))
                ),
            )
        )
        for place, x in enumerate(content.x)
    ]
    columns = [Column(content.feature, numeric=True)]
    columns += [
        Column(f"{who}: {role}", numeric=True)
        for role in ("own", "rival's")
        for who in content.names
    ]
    caption = f"Dependence on {content.feature}: the numbers."
    return Table(f"{name}-numbers", caption, tuple(columns), (RowGroup("", tuple(rows)),))


def _slug(name: str) -> str:
    """Return a name that a file can have.

    >>> _slug("travel time (h)")
    'travel-time--h-'
    """
    return "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name)
