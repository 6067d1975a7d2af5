"""``cschoice report``: tables and figures from results."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from cschoice.errors import FileNotUsable, InvalidParameter
from cschoice.report import ALL, FORMATS, TERMINAL
from cschoice.report.compute.summary import Summary, summarize
from cschoice.report.contents.outline import outline
from cschoice.report.formats.writing import formats, write
from cschoice.runs.store import ResultStore
from cschoice.study.config import load
from cschoice.study.run import collect_finished

from .console import print_table, talk, tell
from .options import (
    DEFAULT_EXPERIMENT,
    DEFAULT_RESULTS,
    PROFILE,
    Config,
    ExperimentName,
    ProfileName,
)
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
    config: Config = None,
) -> None:
    """Show the results beside the paper's, or write them to results/report/ as a document.

    html is one page to open in a browser; latex has one file per table and figure and a
    report.tex for pdflatex; markdown comes with its figures; csv has every number. Works on
    whatever is done, also during a run, and says what is missing; profiles are never mixed.
    Results of another configuration than the study's file has now are marked as stale.
    """
    names = formats(format_)
    if against not in ("paper", "none"):
        raise InvalidParameter(f"--against must be paper or none, got '{against}'")
    study = load(config)
    with talk.status("reading results"):
        with suppress(FileNotUsable):  # one may look without the right to write
            collect_finished(study, ResultStore(results))
        summary = summarize(results, profile, experiment, against == "paper", study)
    if not names:
        _show(summary)
        return
    with talk.status("drawing figures"):
        written = write(summary, results / "report", names)
    for first, *others in written:
        tell(first)
        if others:
            talk.print(f"{first.name}: with {len(others)} files beside it", highlight=False)


def _show(summary: Summary) -> None:
    """Print the sections, those of sentences last: the end of a terminal's output is read."""
    sections = outline(summary)
    for section in sections:
        for table in (*section.tables, *section.behind_pictures):
            print_table(table)
    for section in sections:
        if section.text and not section.pictures:
            lines = (f"  {line}" for line in section.text)
            tell("\n".join([section.title, *lines, ""]))
