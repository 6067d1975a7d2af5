"""Marks beside names in every table: learners that the paper has not, and stale results."""

from __future__ import annotations

from dataclasses import replace

from cschoice.learners import LEARNERS
from cschoice.report.compute.labels import is_the_papers, learner_label
from cschoice.report.compute.summary import Summary
from cschoice.report.contents.table import Row, RowGroup, Table

OTHER, STALE = "†", "‡"
_OTHER_NOTE = f"{OTHER} not among the paper's learners"
_STALE_NOTE = (
    f"{STALE} stale: results of another configuration or version than the present one of the study"
)


def other_learners(summary: Summary) -> frozenset[str]:
    """Return the labels of learners that are not the paper's; none where it is not compared."""
    if not summary.against_paper:
        return frozenset()
    names = {result.learner for result in summary.results} | set(LEARNERS.written)
    return frozenset(learner_label(name) for name in names if not is_the_papers(name))


def marked(table: Table, others: frozenset[str]) -> Table:
    """Return the table with its marks, and notes that explain those it has.

    >>> from cschoice.report.contents.table import Column
    >>> rows = (Row(("Mine", "0.9"), stale=True), Row(("FETA-Net", "0.8")))
    >>> table = Table("t", "", (Column("Learner"), Column("")), (RowGroup("", rows),))
    >>> found = marked(table, frozenset({"Mine"}))
    >>> [row[0] for row in found.rows()], len(found.notes)
    (['Mine † ‡', 'FETA-Net'], 2)
    """

    def named(text: str) -> str:
        return f"{text} {OTHER}" if text in others else text

    def row(one: Row) -> Row:
        cells = [named(cell) if isinstance(cell, str) else cell for cell in one.cells]
        if one.stale:
            cells[0] = f"{cells[0]} {STALE}"
        return replace(one, cells=tuple(cells))

    groups = tuple(
        RowGroup(named(group.label), tuple(row(one) for one in group.rows))
        for group in table.groups
    )
    texts = [cell for group in groups for one in group.rows for cell in one.cells]
    texts += [group.label for group in groups]
    words = {word for text in texts if isinstance(text, str) for word in text.split()}
    notes = [note for note in (_OTHER_NOTE, _STALE_NOTE) if note[0] in words]
    return replace(table, groups=groups, notes=(*table.notes, *(f"{note}." for note in notes)))
