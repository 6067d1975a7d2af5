"""``cschoice report``: tables from results."""

from __future__ import annotations

from typing import Annotated

import typer

from cschoice.files import replacing
from cschoice.registry import load
from cschoice.report import FORMATS, SUFFIXES
from cschoice.report.views import rows

from .options import DEFAULT_EXPERIMENT, DEFAULT_RESULTS, PROFILE, ExperimentName, ProfileName
from .options import Results as ResultsFolder


def report(
    format_: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(FORMATS)}.")
    ] = "terminal",
    profile: ProfileName = PROFILE,
    experiment: ExperimentName = DEFAULT_EXPERIMENT,
    results: ResultsFolder = DEFAULT_RESULTS,
) -> None:
    """Show the results beside the paper's, or write them to results/report/ as a document.

    Works on whatever is there; profiles are never mixed.
    """
    render = load(FORMATS[format_])
    text = render(rows(results, profile, experiment))
    if format_ == "terminal":
        typer.echo(text)
        return
    path = results / "report" / f"results{SUFFIXES[format_]}"
    with replacing(path) as (temporary,):
        temporary.write_text(text + "\n", encoding="utf-8")
    typer.echo(path)
