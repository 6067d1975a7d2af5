"""A table before it is LaTeX, HTML, Markdown or text: every format shows the same cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from cschoice.report.compute.paper import Score

NO_RESULT = "–"


@dataclass(frozen=True)
class ScoreCell:
    """A score; the best of its dataset is set off."""

    score: Score
    best: bool = False


@dataclass(frozen=True)
class Gap:
    """A cell without a result, and why: a dash with a footnote."""

    reason: str


@dataclass(frozen=True)
class NumberCell:
    """A number: the text that is shown and the value by which it is sorted."""

    text: str
    value: float


Cell = str | NumberCell | ScoreCell | Gap


@dataclass(frozen=True)
class Row:
    """One row of cells; ``key`` names the details behind it: dataset/learner, or dataset."""

    cells: tuple[Cell, ...]
    key: str | None = None
    stale: bool = False  # made of results of another configuration


@dataclass(frozen=True)
class RowGroup:
    """Rows that belong together under one label, which stands in the first column."""

    label: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Column:
    """The label of a column and the type of its cells."""

    label: str
    numeric: bool = False
    scores: bool = False
    wide: bool = False  # sentences, which may be broken
    decimal: bool = False  # numbers of any length, aligned at their point where a format can


@dataclass(frozen=True)
class Table:
    """Groups of rows; the first column shows the labels of the groups, if they have any."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    groups: tuple[RowGroup, ...]
    notes: tuple[str, ...] = field(default=())
    long: bool = False  # may take several pages
    sortable: bool = True  # a row means something without the one above it

    @property
    def labelled(self) -> bool:
        """Tell whether the first column holds the labels of the groups."""
        return any(group.label for group in self.groups)

    @property
    def gaps(self) -> list[str]:
        """Return the reasons of all gaps, each once, in order: the footnotes."""
        cells = (cell for group in self.groups for row in group.rows for cell in row.cells)
        return list(dict.fromkeys(cell.reason for cell in cells if isinstance(cell, Gap)))

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """Yield the cells under all columns; a group's label stands in its first row only."""
        for group in self.groups:
            for place, row in enumerate(group.rows):
                label = (group.label if place == 0 else "",) if self.labelled else ()
                yield (*label, *row.cells)


def plain(cell: Cell, gaps: Sequence[str] = ()) -> str:
    """Return the text of a cell; gaps are numbered by the footnotes.

    >>> plain(ScoreCell(Score(0.5, 0.01, 5), best=True)), plain(Gap("failed"), ["failed"])
    ('0.500 ± 0.010 *', '– [1]')
    """
    if isinstance(cell, ScoreCell):
        return f"{cell.score}{' *' if cell.best else ''}"
    if isinstance(cell, Gap):
        mark = f" [{gaps.index(cell.reason) + 1}]" if cell.reason in gaps else ""
        return f"{NO_RESULT}{mark}"
    return cell.text if isinstance(cell, NumberCell) else cell


def number(value: float | None, form: str = ",.0f") -> Cell:
    """Return a number as a cell; nothing if there is none.

    >>> number(1234.5), number(None), number(-0.0001, "+.3f").text
    (NumberCell(text='1,234', value=1234.5), '', '0.000')
    """
    if value is None:
        return ""
    text = format(value, form)
    return NumberCell(signed(text) if text.strip("+-0.") else text.lstrip("+-"), value)


def signed(text: str) -> str:
    """Return a number's text with a typographic minus sign."""
    return text.replace("-", "−")


def probability(p: float) -> NumberCell:
    """Return a p-value with three digits, or as below 0.001.

    >>> probability(0.0123).text, probability(0.00001).text
    ('0.012', '< 0.001')
    """
    return NumberCell("< 0.001" if p < 0.001 else f"{p:.3f}", p)


def cpu_time(seconds: float) -> NumberCell:
    """Return a CPU time in its natural unit.

    >>> cpu_time(0.25).text, cpu_time(42).text, cpu_time(7_200).text, cpu_time(300_000).text
    ('0.2 s', '42 s', '2.0 h', '83 h')
    """
    if seconds < 10:
        return NumberCell(f"{seconds:.1f} s", seconds)
    if seconds < 100:
        return NumberCell(f"{seconds:.0f} s", seconds)
    if seconds < 6_000:
        return NumberCell(f"{seconds / 60:.0f} min", seconds)
    hours = seconds / 3_600
    return NumberCell(f"{hours:.1f} h" if hours < 10 else f"{hours:,.0f} h", seconds)
