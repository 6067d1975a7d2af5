"""Reports as plain text: Markdown with figures, and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from cschoice.io.spreadsheets import harmless
from cschoice.report.compute.summary import Summary
from cschoice.report.contents.outline import TITLE, Section, outline
from cschoice.report.contents.table import (
    NO_RESULT,
    Cell,
    Column,
    Gap,
    NumberCell,
    ScoreCell,
    Table,
    plain,
)
from cschoice.report.figures.drawing import drawn, on_white

Files = dict[str, bytes]


def markdown(summary: Summary) -> Files:
    """Return the report as Markdown, and its figures beside it."""
    sections = outline(summary)
    text = "\n\n".join([f"# {TITLE}", *(section_markdown(section) for section in sections)])
    pictures = [picture for section in sections for picture in section.pictures]
    return {
        "report.md": f"{text}\n".encode(),
        **{f"{picture.file}.svg": on_white(drawn(picture, "svg")) for picture in pictures},
    }


def section_markdown(section: Section, *, pictures: bool = True) -> str:
    """Return a section with its tables, and links to its figures unless they have no files."""
    parts = [f"## {section.title}"]
    if len(section.text) > 2:
        parts.append("\n".join(f"- {escaped(line)}" for line in section.text))
    else:
        parts += [escaped(line) for line in section.text]
    parts += [markdown_table(table) for table in section.every_table]
    parts += [
        f"![{escaped(picture.caption)}]({picture.file}.svg)\n\n*{escaped(picture.caption)}*"
        for picture in (section.pictures if pictures else ())
    ]
    return "\n\n".join(parts)


def markdown_table(table: Table) -> str:
    """Return a table with its caption and notes."""
    head = [escaped(column.label) for column in table.columns]
    rules = ["---:" if column.numeric or column.scores else "---" for column in table.columns]
    rows = [[_cell(cell, table.gaps) for cell in row] for row in table.rows()]
    lines = [f"| {' | '.join(row)} |" for row in [head, rules, *rows]]
    notes = [escaped(note) for note in table.notes]
    notes += [f"[{number}] {escaped(gap)}" for number, gap in enumerate(table.gaps, start=1)]
    return "\n\n".join([f"**{escaped(table.caption)}**", "\n".join(lines), *notes])


def _cell(cell: Cell, gaps: Sequence[str]) -> str:
    if isinstance(cell, ScoreCell) and cell.best:
        return f"**{cell.score}**"
    if isinstance(cell, Gap):
        return f"{NO_RESULT} [{gaps.index(cell.reason) + 1}]"
    return escaped(plain(cell))


def escaped(text: str) -> str:
    r"""Escape the characters that Markdown would interpret.

    >>> escaped("a|b_c <d>")
    'a\\|b\\_c \\<d\\>'
    """
    return "".join(f"\\{letter}" if letter in r"\`*_|<>[]$~" else letter for letter in text)


def csv_files(summary: Summary) -> Files:
    """Return every measure of every cell, every pair and rank, and each table of the report."""
    tables = [table for section in outline(summary) for table in section.every_table]
    return {
        "results.csv": _csv(_RESULTS, _results(summary)),
        "pairs.csv": _csv(_PAIRS, _pairs(summary)),
        "ranks.csv": _csv(_RANKS, _ranks(summary)),
        "tables.csv": _csv(_TABLES, ((_file(table), table.caption) for table in tables)),
        **{_file(table): table_csv(table) for table in tables},
    }


def table_csv(table: Table) -> bytes:
    """Return a table as CSV: numbers in full, a score as mean, deviation and number of folds."""
    head: list[str] = []
    for column in table.columns:
        head += [column.label, *(f"{column.label} {it}" for it in _OF_SCORE if column.scores)]
    rows = []
    for group in table.groups:
        for row in group.rows:
            cells = (*((group.label,) if table.labelled else ()), *row.cells)
            parts = zip(table.columns, cells, strict=True)
            rows.append([value for column, cell in parts for value in _values(column, cell)])
    return _csv(head, rows)


_OF_SCORE = ("std", "folds")


def _values(column: Column, cell: Cell) -> list[object]:
    """Return the values of a cell, in as many columns of the file as its column has."""
    if isinstance(cell, ScoreCell):
        return [cell.score.mean, cell.score.std, cell.score.n_folds]
    value: object = cell
    if isinstance(cell, Gap):
        value = ""
    elif isinstance(cell, NumberCell) and "[" in cell.text:  # a range says more than its number
        value = cell.text
    elif isinstance(cell, NumberCell):
        value = int(cell.value) if float(cell.value).is_integer() else cell.value
    return [value, *([""] * len(_OF_SCORE) if column.scores else [])]


def _file(table: Table) -> str:
    return f"table-{table.name}.csv"


_TABLES = ("file", "caption")
_RESULTS = (
    "profile", "experiment", "dataset", "learner", "metric", "mean", "std", "n_folds", "best",
    "paper_mean", "paper_std", "difference", "verdict", "cpu_seconds", "state", "reason",
)  # fmt: skip
_PAIRS = ("dataset", "metric", "better", "other", "difference", "low", "high", "effect", "p",
          "p_adjusted", "n_comparisons", "n_folds")  # fmt: skip
_RANKS = ("problem", "learner", "mean_rank", "n_datasets", "n_best", "median_gap", "friedman_p",
          "kendall_w", "critical_difference")  # fmt: skip


def _results(summary: Summary) -> Iterable[Sequence[object]]:
    names = summary.inputs.profile, summary.inputs.experiment
    for result in summary.results:
        why = "" if set(result.states) == {"done"} else result.reason
        for metric, one in result.comparisons.items():
            ours = (one.ours.mean, one.ours.std, one.ours.n_folds) if one.ours else ("",) * 3
            printed = (one.paper.mean, one.paper.std) if one.paper else ("",) * 2
            difference = "" if one.difference is None else one.difference
            yield (*names, result.dataset, result.learner, metric, *ours, int(one.best), *printed,
                   difference, one.verdict, result.seconds, result.state, why)  # fmt: skip


def _pairs(summary: Summary) -> Iterable[Sequence[object]]:
    for contest in (*summary.contests, *summary.on_likelihood):
        for pair in contest.every_pair:
            if (found := pair.difference) is not None:
                yield (contest.dataset, contest.metric, pair.better, pair.other, found.mean,
                       found.low, found.high, found.effect, found.p, found.adjusted,
                       contest.n_comparisons, found.n_folds)  # fmt: skip


def _ranks(summary: Summary) -> Iterable[Sequence[object]]:
    for ranking in summary.rankings:
        test = ranking.test
        for k, learner in enumerate(ranking.learners):
            yield (ranking.name, learner, test.ranks[k], len(ranking.datasets), ranking.n_best[k],
                   ranking.median_gap[k], test.p, test.agreement,
                   test.critical_difference)  # fmt: skip


def _csv(head: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(map(harmless, head))
    writer.writerows(map(harmless, row) for row in rows)
    return file.getvalue().encode()
