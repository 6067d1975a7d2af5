"""One decision: contributions as steps, checked to sum."""

from __future__ import annotations

from cschoice.explanations.decisions import Contribution, Decision
from cschoice.explanations.explanation import Explanation
from cschoice.report.contents.drawings import Steps
from cschoice.report.contents.explanation.matrices import listed
from cschoice.report.contents.outline import Section
from cschoice.report.contents.pictures import Picture
from cschoice.report.contents.table import Column, Row, RowGroup, Table, number, signed
from cschoice.tasks.frames.description import CONSTANTS

_MOST = 24  # steps of a picture


def decisions_section(explanation: Explanation) -> Section:
    """Return why one object is before another, for each of the tasks asked for."""
    unit = explanation.about.unit
    text = [line for one in explanation.decisions for line in _text(one, unit)]
    pictures = tuple(_picture(one, unit) for one in explanation.decisions)
    return Section("decision", "One decision", tuple(text), pictures=pictures)


def _text(one: Decision, unit: str) -> list[str]:
    chosen = f"{listed(one.chosen)} was chosen" if one.chosen else "nothing was chosen"
    alone = "is before" if one.alone > 0 else "is behind"
    text = [
        f"Task {one.task} of {one.n_objects} objects: the model puts {one.first} before "
        f"{one.second} by {one.total:.2f} {unit}; {chosen}.",
        f"As a pair by themselves, {one.first} {alone} {one.second} "
        f"({signed(f'{one.alone:+.2f}')}); the rivals change that by "
        f"{signed(f'{one.total - one.alone:+.2f}')}.",
    ]
    worst = max((c.error for c in one.contributions), default=0.0)
    how = "exact" if one.exact else f"drawn at random, with standard errors up to {worst:.3f}"
    text.append(
        f"Contributions are Shapley values, {how}; they sum to {one.total - one.gap:.4f}, the "
        f"{unit} of the model are {one.total:.4f}."
    )
    return text


def _picture(one: Decision, unit: str) -> Picture:
    shown = sorted(one.contributions, key=lambda c: (c.is_rival, -abs(c.value)))
    if len(shown) > _MOST:
        shown = sorted(shown, key=lambda c: -abs(c.value))
        rest = shown[_MOST:]
        shown = sorted(shown[:_MOST], key=lambda c: (c.is_rival, -abs(c.value)))
        shown.append(
            Contribution(f"{len(rest)} smaller ones", False, sum(c.value for c in rest), 0.0)
        )
    content = Steps(
        [_label(c) for c in shown],
        [c.value for c in shown],
        f"{one.first} before {one.second}",
        f"contribution to the {unit}",
    )
    caption = (
        f"Task {one.task}: why {one.first} is before {one.second}. First the features in which "
        "the two differ, as if they were alone; then what each rival changes. Every step starts "
        "where the one before it ends."
    )
    return Picture(f"decision-{one.task}", caption, "contributions:draw", content, _table(one))


def _label(c: Contribution) -> str:
    if c.is_rival:
        return f"rival: {c.name}"
    if c.first:
        return f"{c.name}: {c.first[0]:.4g} against {c.second[0]:.4g}"
    return "which alternative it is" if c.name == CONSTANTS else c.name


def _table(one: Decision) -> Table:
    rows = [
        Row((_label(c), number(c.value, "+.4f"), number(c.error or None, ".4f")))
        for c in one.contributions
    ]
    rows.append(Row(("Sum", number(sum(c.value for c in one.contributions), "+.4f"), "")))
    columns = (
        Column("Contribution"),
        Column("Value", numeric=True),
        Column("Std. error", numeric=True),
    )
    caption = f"Task {one.task}: the numbers."
    name = f"decision-{one.task}-numbers"
    return Table(name, caption, columns, (RowGroup("", tuple(rows)),), sortable=False)
