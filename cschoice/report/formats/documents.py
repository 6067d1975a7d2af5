"""Documents of sections as one file: LaTeX, HTML, Markdown; their numbers as CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cschoice.io.spreadsheets import harmless
from cschoice.report.contents.outline import Section
from cschoice.report.formats.html import document as sections_html
from cschoice.report.formats.latex import HEAD
from cschoice.report.formats.latex_escapes import escaped
from cschoice.report.formats.latex_tables import preamble, table_tex
from cschoice.report.formats.text import section_markdown


@dataclass(frozen=True, eq=False)
class Document:
    """Sections under a title, and every number behind them, one row each."""

    title: str
    sections: Sequence[Section]
    rows: Sequence[Mapping[str, Any]]


def latex(document: Document) -> str:
    """Return a document for pdflatex; its tables can be put into another one."""
    lines = [rf"\title{{{escaped(document.title)}}}", r"\author{}", r"\date{}", r"\maketitle"]
    for section in document.sections:
        lines.append(rf"\section{{{escaped(section.title)}}}")
        lines += [f"{escaped(line)}\n" for line in section.text]
        lines += [table_tex(table) for table in section.every_table]
    head = HEAD.replace("\\input{report-preamble}\n", preamble())
    return head + "\n".join(lines) + "\n\\end{document}\n"


def html(document: Document) -> str:
    """Return one page that needs nothing else, with its figures."""
    return sections_html(document.title, "", document.sections)


def markdown(document: Document) -> str:
    """Return the tables in Markdown."""
    parts = [section_markdown(section, pictures=False) for section in document.sections]
    return "\n\n".join([f"# {document.title}", *parts]) + "\n"


def csv_text(document: Document) -> str:
    """Return every number in full precision, one row each."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    columns = list(dict.fromkeys(key for row in document.rows for key in row))
    writer.writerow(columns)
    for row in document.rows:
        values = (row.get(column) for column in columns)
        writer.writerow("" if value is None else harmless(value) for value in values)
    return file.getvalue()


def json_text(document: Document) -> str:
    """Return every number in full precision."""
    found = {"title": document.title, "rows": [dict(row) for row in document.rows]}
    return json.dumps(found, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


FORMATS = {
    "latex": latex,
    "html": html,
    "markdown": markdown,
    "csv": csv_text,
    "json": json_text,
}
