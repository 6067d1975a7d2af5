"""Tables as HTML: sortable, with a button for the details behind a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from cschoice.report.contents.table import (
    NO_RESULT,
    Cell,
    Column,
    Gap,
    NumberCell,
    Row,
    ScoreCell,
    Table,
    plain,
)


def html_table(table: Table) -> str:
    """Return a table with its caption, notes and footnotes."""
    name = f"table-{table.name}"
    head = "".join(_head(column, table.sortable) for column in table.columns)
    return "\n".join(
        [
            f'<div class="scroll" role="region" tabindex="0" aria-labelledby="{name}-caption">',
            f'<table id="{name}">',
            f'<caption id="{name}-caption">{escape(table.caption)}</caption>',
            f"<thead><tr>{head}</tr></thead>",
            "<tbody>",
            *_body(table),
            "</tbody></table></div>",
            *_notes(table),
        ]
    )


def _head(column: Column, sortable: bool) -> str:
    label = escape(column.label)
    kind = ' class="number"' if column.numeric or column.scores else ""
    if not label:
        return f"<th{kind}></th>"
    if not sortable:
        return f'<th scope="col"{kind}>{label}</th>'
    # On paper the label is shown instead of the button: a heading with buttons is not repeated.
    return (
        f'<th scope="col" aria-sort="none" data-label="{escape(column.label, quote=True)}"{kind}>'
        f'<button type="button">{label}</button></th>'
    )


def _body(table: Table) -> Iterator[str]:
    for group in table.groups:
        for place, row in enumerate(group.rows):
            first = place == 0
            cells = list(_cells(table, row))
            if table.labelled:
                again = "" if first else ' class="again"'
                cells.insert(0, f"<td{again}><span>{escape(group.label)}</span></td>")
            start = '<tr class="first">' if first else "<tr>"
            yield f"{start}{''.join(cells)}</tr>"


def _cells(table: Table, row: Row) -> Iterator[str]:
    columns = table.columns[1:] if table.labelled else table.columns
    gaps = table.gaps
    for place, (column, cell) in enumerate(zip(columns, row.cells, strict=True)):
        shown, value = _shown(cell, gaps)
        if place == 0:
            yield f'<th scope="row">{_more(row)}{shown}</th>'
            continue
        yield f"<td{_kind(column, cell)}{value}>{shown}</td>"


def _kind(column: Column, cell: Cell) -> str:
    names = [
        name
        for name, applies in (
            ("number", column.numeric or column.scores),
            ("wide", column.wide),
            ("best", isinstance(cell, ScoreCell) and cell.best),
        )
        if applies
    ]
    joined = " ".join(names)
    return f' class="{joined}"' if names else ""


def _more(row: Row) -> str:
    """Return the button that shows the details behind a row."""
    if row.key is None:
        return ""
    key = escape(row.key, quote=True)
    return (
        f'<button type="button" class="more" aria-expanded="false" data-key="{key}" '
        f'aria-label="Details: {key}"></button>'
    )


def _shown(cell: Cell, gaps: Sequence[str]) -> tuple[str, str]:
    """Return a cell as HTML, and the attribute by which it is sorted."""
    if isinstance(cell, Gap):
        reason = escape(cell.reason, quote=True)
        return (
            f'<span title="{reason}">{NO_RESULT}<sup>{gaps.index(cell.reason) + 1}</sup></span>',
            "",
        )
    if isinstance(cell, ScoreCell):
        mean, _, std = str(cell.score).partition(" ± ")
        deviation = f"<small> ± {std}</small>" if std else ""
        shown = f"<strong>{mean}</strong>" if cell.best else mean
        return f"{shown}{deviation}", f' data-value="{cell.score.mean:.6g}"'
    if isinstance(cell, NumberCell):
        return escape(cell.text), f' data-value="{cell.value:.6g}"'
    return escape(plain(cell)), ""


def _notes(table: Table) -> Iterator[str]:
    yield from (f'<p class="note">{escape(note)}</p>' for note in table.notes)
    for number, reason in enumerate(table.gaps, start=1):
        yield f'<p class="note"><sup>{number}</sup> {escape(reason)}</p>'
