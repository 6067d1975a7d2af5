"""Tables for reading: on the terminal, in Markdown, and as CSV."""

from __future__ import annotations

import csv as csv_module
import io
from collections.abc import Sequence

from cschoice.datasets import DATASETS
from cschoice.report.views import COLUMNS, Cell, Row, learner_label, of_kind
from cschoice.tasks import Kind

_HEAD = ["dataset", "learner", "ours", "paper", "difference", "", "CPU time", ""]


def terminal(rows: Sequence[Row]) -> str:
    """Return aligned tables of the target metrics, ours beside the paper's."""
    return "\n\n".join(
        _aligned(f"{kind.capitalize()} choice, {COLUMNS[kind][0]}", _table(found, kind))
        for kind in Kind
        if (found := of_kind(rows, kind))
    )


def markdown(rows: Sequence[Row]) -> str:
    """Return the same tables in Markdown."""
    parts = []
    for kind in Kind:
        if found := of_kind(rows, kind):
            lines = [_HEAD, ["---"] * len(_HEAD), *_table(found, kind)]
            table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
            parts.append(f"### {kind.capitalize()} choice, {COLUMNS[kind][0]}\n\n{table}")
    return "\n\n".join(parts)


def csv(rows: Sequence[Row]) -> str:
    """Return every metric of every cell, one line each."""
    file = io.StringIO()
    writer = csv_module.writer(file, lineterminator="\n")
    writer.writerow(
        ["dataset", "learner", "metric", "mean", "std", "n_folds", "paper_mean", "paper_std"]
    )
    for row in rows:
        for metric, cell in row.cells.items():
            ours = (cell.ours.mean, cell.ours.std, cell.ours.n_folds) if cell.ours else ("",) * 3
            paper = (cell.paper.mean, cell.paper.std) if cell.paper else ("",) * 2
            writer.writerow([row.dataset, row.learner, metric, *ours, *paper])
    return file.getvalue().rstrip("\n")


def _table(rows: Sequence[Row], kind: Kind) -> list[list[str]]:
    target = COLUMNS[kind][0]
    lines, before = [], ""
    for row in rows:
        name = DATASETS[row.dataset].label if row.dataset != before else ""
        lines.append([name, learner_label(row.learner), *_compared(row.cells[target]),
                      f"{row.seconds:,.0f} s", row.states])  # fmt: skip
        before = row.dataset
    return lines


def _compared(cell: Cell) -> list[str]:
    ours = "–" if cell.ours is None else f"{cell.ours}{' *' if cell.best else ''}"
    paper = "–" if cell.paper is None else str(cell.paper)
    difference = "" if cell.difference is None else f"{cell.difference:+.3f}"
    return [ours, paper, difference, cell.verdict]


def _aligned(title: str, lines: list[list[str]]) -> str:
    widths = [max(len(line[k]) for line in [_HEAD, *lines]) for k in range(len(_HEAD))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in [_HEAD, ["─" * width for width in widths], *lines]
    ]
    return "\n".join([title, *shown, "* best on its dataset"])
