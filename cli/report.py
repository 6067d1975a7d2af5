"""``cschoice report``: tables and figures from results."""

from __future__ import annotations

from typing import Annotated

import typer

from cschoice.errors import InvalidParameter
from cschoice.evaluation.metrics import TARGETS
from cschoice.report import ALL, FORMATS, TERMINAL
from cschoice.report.compute.summary import Summary, summarize
from cschoice.report.contents.curve_tables import curve_table
from cschoice.report.contents.headlines import headlines
from cschoice.report.contents.pictures import curves
from cschoice.report.contents.score_tables import comparison_table
from cschoice.report.contents.table import Table, plain
from cschoice.report.contents.winner_tables import winners_table
from cschoice.report.formats.writing import formats, write
from cschoice.tasks import Kind

from .console import answer_table, talk
from .options import DEFAULT_EXPERIMENT, DEFAULT_RESULTS, PROFILE, ExperimentName, ProfileName
from .options import Results as ResultsFolder


def report(
    format_: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join([TERMINAL, *FORMATS, ALL])}.")
    ] = TERMINAL,
    against: Annotated[
        str, typer.Option(help="paper: ours beside the paper's numbers; none: ours alone.")
    ] = "paper",
    profile: ProfileName = PROFILE,
    experiment: ExperimentName = DEFAULT_EXPERIMENT,
    results: ResultsFolder = DEFAULT_RESULTS,
) -> None:
    """Show the results beside the paper's, or write them to results/report/ as a document.

    html is one page to open in a browser; latex has one file per table and figure and a
    report.tex for pdflatex; markdown comes with its figures; csv has every number. Works on
    whatever is there and says what is missing; profiles are never mixed.
    """
    names = formats(format_)
    if against not in ("paper", "none"):
        raise InvalidParameter(f"--against must be paper or none, got '{against}'")
    summary = summarize(results, profile, experiment, against == "paper")
    if not names:
        _show(summary)
        return
    with talk.status("drawing figures"):
        written = write(summary, results / "report", names)
    for first, *others in written:
        typer.echo(first)
        if others:
            talk.print(f"{first.name}: with {len(others)} files beside it", highlight=False)


def _show(summary: Summary) -> None:
    """Print the target measures, the curves, the winners, the headlines and the missing parts."""
    for kind in Kind:
        if rows := summary.of_kind(kind):
            _print(comparison_table(rows, kind, TARGETS[kind], summary.against_paper), "Dataset")
    for picture in curves(summary):
        _print(curve_table(picture.content, picture.name), "Learner")
    if summary.contests:
        _print(winners_table(summary.contests, summary.results), "Verdict")
    for title, lines in (("Summary", headlines(summary)), ("Missing", summary.missing)):
        shown = [f"  {line}" for line in lines]
        if shown:
            typer.echo("\n".join([title, *shown, ""]))


def _print(table: Table, folding: str) -> None:
    columns = [
        f"#{column.label}" if column.numeric or column.scores else column.label
        for column in table.columns
    ]
    rows = [[plain(cell, table.gaps) for cell in row] for row in table.rows()]
    answer_table(table.caption, columns, rows, folding)
    notes = [f"[{number}] {reason}" for number, reason in enumerate(table.gaps, start=1)]
    if any(entry.endswith("*") for row in rows for entry in row):
        notes.insert(0, "* best on its dataset")
    typer.echo("\n".join([*notes, *table.notes, ""]))
