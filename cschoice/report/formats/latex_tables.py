"""Tables in LaTeX: booktabs, siunitx's ``0.942(8)``, the best in bold, footnotes for gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cschoice.report.compute.paper import Score
from cschoice.report.contents.table import Cell, Column, Gap, ScoreCell, Table, plain
from cschoice.report.formats.latex_escapes import escaped

_PREAMBLE = r"""% What the tables of a report need; \input it before \begin{document}.
\usepackage{booktabs}
\usepackage{longtable}
\usepackage{graphicx}
\usepackage{siunitx}
\usepackage{etoolbox}
\IfFileExists{multirow.sty}{\usepackage{multirow}}{}
\providecommand{\multirow}[3]{#3} % without it, labels stand in the first row of a group
\sisetup{table-align-uncertainty=true, separate-uncertainty=true, retain-zero-uncertainty=true,
  detect-weight=true, mode=text}
% Bold digits as wide as others, so that columns stay aligned.
\newrobustcmd{\bestentry}{\fontseries{b}\selectfont}
% Parentheses around standard errors, which move no digit.
\makeatletter
\@ifpackagelater{siunitx}{2021/05/17}
  {\sisetup{table-align-text-before=false, table-align-text-after=false}}
  {\sisetup{table-align-text-pre=false, table-align-text-post=false}}
\makeatother
% A table that is too large for the page is made smaller.
\newsavebox{\tablebox}
\newcommand{\fittedtable}{%
  \ifdim\dimexpr\ht\tablebox+\dp\tablebox\relax>0.85\textheight
    \sbox{\tablebox}{\resizebox*{!}{0.85\textheight}{\usebox{\tablebox}}}%
  \fi
  \ifdim\wd\tablebox>\linewidth
    \sbox{\tablebox}{\resizebox{\linewidth}{!}{\usebox{\tablebox}}}%
  \fi
  \usebox{\tablebox}}
"""
_DECIMAL = re.compile(
    r"(?P<before>\(?)(?P<sign>−?)(?P<whole>\d[\d,]*)(\.(?P<digits>\d+))?(?P<after>\)?\**)"
)


def preamble() -> str:
    """Return the packages and commands that the tables use."""
    return _PREAMBLE


def table_tex(table: Table) -> str:
    """Return a table to be put into a document."""
    return _long(table) if table.long else _float(table)


def _float(table: Table) -> str:
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{escaped(table.caption)}}}",
        rf"  \label{{tab:{table.name}}}",
        r"  \begin{lrbox}{\tablebox}",
        rf"    \begin{{tabular}}{{{_columns(table)}}}",
        r"      \toprule",
        f"      {_head(table)}",
        r"      \midrule",
        *(f"      {line}" for line in _body(table, multirow=True)),
        r"      \bottomrule",
        r"    \end{tabular}",
        r"  \end{lrbox}",
        r"  \fittedtable",
        *_notes(table),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _long(table: Table) -> str:
    lines = [
        r"{\footnotesize\setlength{\tabcolsep}{4pt}",
        rf"\begin{{longtable}}{{{_columns(table)}}}",
        rf"  \caption{{{escaped(table.caption)}}}\label{{tab:{table.name}}}\\",
        r"  \toprule",
        f"  {_head(table)}",
        r"  \midrule",
        r"  \endfirsthead",
        r"  \toprule",
        f"  {_head(table)}",
        r"  \midrule",
        r"  \endhead",
        r"  \bottomrule",
        r"  \endfoot",
        *(f"  {line}" for line in _body(table, multirow=False)),
        r"\end{longtable}",
        *_notes(table),
        "}",
    ]
    return "\n".join(lines) + "\n"


def _columns(table: Table) -> str:
    shown = list(table.rows())
    return "".join(
        _column(column, [row[place] for row in shown]) for place, column in enumerate(table.columns)
    )


def _column(column: Column, cells: Sequence[Cell]) -> str:
    """Return the kind of a column; numbers are aligned at their point, as wide as they come."""
    if column.decimal:
        return _decimal_column(cells)
    if not column.scores:
        return (
            r">{\raggedright\arraybackslash}p{5cm}"
            if column.wide
            else "r"
            if column.numeric
            else "l"
        )
    scores = [cell.score for cell in cells if isinstance(cell, ScoreCell)]
    sign = "-" if any(score.mean < 0 for score in scores) else ""
    digits = max((len(_deviation(score)) for score in scores if score.n_folds > 1), default=0)
    whole = max((len(f"{abs(score.mean):.0f}") for score in scores), default=1)
    return f"S[table-format={sign}{whole}.3{f'({max(1, digits)})' if digits else ''}]"


def _decimal_column(cells: Sequence[Cell]) -> str:
    """Return a column of numbers of any length, in parentheses or with stars."""
    found = [match for cell in cells if (match := _DECIMAL.fullmatch(plain(cell)))]
    sign = "-" if any(match["sign"] for match in found) else ""
    whole = max((len(match["whole"].replace(",", "")) for match in found), default=1)
    digits = max((len(match["digits"] or "") for match in found), default=0)
    after = max((match["after"] for match in found), key=len, default="")
    options = [f"table-format={sign}{whole}.{digits}" if digits else f"table-format={sign}{whole}"]
    options += [f"table-space-text-post={{{after}}}"] if after else []
    return f"S[{', '.join(options)}]"


def _decimal_cell(cell: Cell) -> str:
    """Return a cell of a column of numbers; any other cell is text.

    >>> _decimal_cell("(0.083)"), _decimal_cell("−1,278.5***"), _decimal_cell("fixed")
    ('{(}0.083{)}', '-1278.5{***}', '{fixed}')
    """
    match = _DECIMAL.fullmatch(plain(cell))
    if match is None:
        return f"{{{escaped(plain(cell))}}}"
    digits = f".{match['digits']}" if match["digits"] else ""
    value = f"{'-' if match['sign'] else ''}{match['whole'].replace(',', '')}{digits}"
    return "".join(
        [
            f"{{{match['before']}}}" if match["before"] else "",
            value,
            f"{{{match['after']}}}" if match["after"] else "",
        ]
    )


def _head(table: Table) -> str:
    labels = (escaped(column.label) for column in table.columns)
    return " & ".join(f"{{{label}}}" for label in labels) + r" \\"


def _body(table: Table, multirow: bool) -> Iterator[str]:
    gaps = table.gaps
    for place, group in enumerate(table.groups):
        if place:
            yield r"\midrule" if multirow else r"\addlinespace"
        for number, row in enumerate(group.rows):
            columns = table.columns[1:] if table.labelled else table.columns
            cells = [
                _decimal_cell(cell) if column.decimal else _cell(cell, gaps)
                for column, cell in zip(columns, row.cells, strict=True)
            ]
            if table.labelled:
                label = escaped(group.label) if number == 0 else ""
                if label and multirow and len(group.rows) > 1:
                    label = rf"\multirow{{{len(group.rows)}}}{{*}}{{{label}}}"
                cells.insert(0, label)
            is_last = number == len(group.rows) - 1
            yield " & ".join(cells) + (r" \\" if is_last or multirow else r" \\*")


def _cell(cell: Cell, gaps: Sequence[str]) -> str:
    if isinstance(cell, ScoreCell):
        return rf"\bestentry {uncertain(cell.score)}" if cell.best else uncertain(cell.score)
    if isinstance(cell, Gap):
        return rf"{{--\textsuperscript{{{gaps.index(cell.reason) + 1}}}}}"
    return escaped(plain(cell))


def uncertain(score: Score) -> str:
    """Write a mean with its deviation in units of the last digit.

    >>> uncertain(Score(0.9421, 0.0081, 5)), uncertain(Score(0.9421, 0.0, 1))
    ('0.942(8)', '0.942')
    """
    return f"{score.mean:.3f}" + (f"({_deviation(score)})" if score.n_folds > 1 else "")


def _deviation(score: Score) -> str:
    return str(round(score.std * 1000))


def _notes(table: Table) -> Iterator[str]:
    """Yield the notes below a table, and the footnotes with the reasons of its gaps."""
    notes = [escaped(note) for note in table.notes]
    notes += [
        rf"\textsuperscript{{{number}}}~{escaped(reason)}"
        for number, reason in enumerate(table.gaps, start=1)
    ]
    for note in notes:
        yield r"  \par\vspace{2pt}\noindent"
        yield rf"  \begin{{minipage}}{{\linewidth}}\footnotesize {note}\end{{minipage}}"
