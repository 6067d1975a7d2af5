"""The whole report in LaTeX: one file per table and figure, and one that puts them together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cschoice.report.compute.summary import Summary
from cschoice.report.contents.outline import TITLE, Section, outline
from cschoice.report.figures.drawing import drawn
from cschoice.report.formats.latex_escapes import escaped
from cschoice.report.formats.latex_tables import preamble, table_tex
from cschoice.report.formats.text import Files

HEAD = r"""\documentclass[10pt]{article}
\usepackage[a4paper, margin=2cm]{geometry}
\usepackage[hidelinks]{hyperref}
\input{report-preamble}
\usepackage{float}
\usepackage{caption}
\captionsetup[table]{skip=6pt}
\floatplacement{table}{H}
\floatplacement{figure}{H}
\setlength{\LTcapwidth}{\linewidth}
\begin{document}
"""
_SIZE = r"width=\linewidth, height=0.85\textheight, keepaspectratio"


def latex(summary: Summary) -> Files:
    """Return tables, figures and ``report.tex``, which pdflatex compiles as it stands."""
    return document("report", TITLE, outline(summary))


def document(name: str, title: str, sections: Sequence[Section]) -> Files:
    """Return a document of sections, with a file for each of its tables and figures."""
    files = {
        f"{name}.tex": _document(title, sections).encode(),
        "report-preamble.tex": preamble().encode(),
    }
    for section in sections:
        for table in section.every_table:
            files[f"table-{table.name}.tex"] = table_tex(table).encode()
        for picture in section.pictures:
            files[f"{picture.file}.pdf"] = drawn(picture, "pdf")
    return files


def _document(title: str, sections: Sequence[Section]) -> str:
    lines = [rf"\title{{{escaped(title)}}}", r"\author{}", r"\date{}", r"\maketitle"]
    for section in sections:
        lines += _section(section)
    return HEAD + "\n".join(lines) + "\n\\end{document}\n"


def _section(section: Section) -> Iterator[str]:
    yield rf"\section{{{escaped(section.title)}}}"
    if len(section.text) > 2:
        yield r"\begin{itemize}"
        yield from (rf"  \item {escaped(line)}" for line in section.text)
        yield r"\end{itemize}"
    else:
        yield from (f"{escaped(line)}\n" for line in section.text)
    floats = [table for table in section.every_table if not table.long]
    yield from (rf"\input{{table-{table.name}}}" for table in floats)
    for picture in section.pictures:
        yield r"\begin{figure}"
        yield r"  \centering"
        yield rf"  \includegraphics[{_SIZE}]{{{picture.file}}}"
        yield rf"  \caption{{{escaped(picture.caption)}}}"
        yield rf"  \label{{fig:{picture.name}}}"
        yield r"\end{figure}"
    long = [table for table in section.every_table if table.long]
    yield from (rf"\input{{table-{table.name}}}" for table in long)
