"""``cschoice data``: the raw files behind the paper's datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from cschoice.datasets import DATASETS
from cschoice.datasets.raw.catalogue import RAW_DATA, RawData
from cschoice.datasets.raw.folders import data_folders
from cschoice.errors import DamagedData, DataUnavailable, InvalidParameter, UnknownName
from cschoice.registry import unknown_name

from .console import answer_json, answer_table, complain, talk, tell
from .options import DataFolder, Json

app = typer.Typer(
    help="Raw data of the paper's datasets: what is there, is it right, where to get it.\n\n"
    "Files are found as they were downloaded or unpacked, in any folder below the one given; "
    "plain, .gz, .xz or in their .zip archive."
)


@app.callback(invoke_without_command=True)
def data(context: typer.Context) -> None:
    """Show the help when no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("list")
def list_(folder: DataFolder = None, as_json: Json = False) -> None:  # noqa: ARG001
    """List the sets of raw data: whether they are there, where to get them, on which terms."""
    rows = [_about(name, raw) for name, raw in RAW_DATA.items()]
    if as_json:
        answer_json({"searched": [str(path) for path in data_folders()], "data": rows})
        return
    tell("Raw data are looked for below (DATA is any of these):")
    for path in data_folders():
        tell(f"  {path}{'' if path.is_dir() else ' (not there)'}")
    for row in rows:
        tell(f"\n{row['name']}: {'present' if row['present'] else 'missing'}")
        for word, text in _lines(row):
            tell(f"  {word:<6} {text}")


def _about(name: str, raw: RawData) -> dict[str, Any]:
    try:
        files = {key: str(file) for key, file in raw.find().items()}
    except DataUnavailable:
        files = {}
    return {
        "name": name,
        "present": bool(files),
        "datasets": [dataset for dataset, info in DATASETS.items() if info.raw == name],
        "files": files,
        "wanted": [[one.names[0] for one in layout.values()] for layout in raw.layouts],
        "home": raw.home,
        "terms": raw.terms,
        "steps": raw.steps,
        "fetch": [download.url for download in raw.downloads],
    }


def _lines(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the lines about a set of raw data: labels and texts."""
    lines = [("for", ", ".join(row["datasets"]))]
    if row["present"]:
        lines += [("at" if k == 0 else "", path) for k, path in enumerate(row["files"].values())]
    else:
        wanted = " or ".join(", ".join(names) for names in row["wanted"])
        by_program = f"'cschoice data fetch {row['name']}', or " if row["fetch"] else ""
        lines += [("needs", wanted), ("get it", f"{by_program}{row['steps']}")]
    return [*lines, ("from", row["home"]), ("terms", row["terms"])]


@app.command()
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Raw data or datasets. By default everything that is there."),
    ] = None,
    folder: DataFolder = None,  # noqa: ARG001
    as_json: Json = False,
) -> None:
    """Compare raw data with their checksums, and counts taken of them with the paper's.

    Reads everything once and keeps it in the cache, where 'cschoice run' finds it. Exit code 1
    if something is damaged or wrong; a difference with a known reason comes with that reason.
    """
    from cschoice.datasets.raw import checks

    chosen = [_raw_name(name) for name in names or ()]
    present = [name for name in RAW_DATA if RAW_DATA[name].present()]
    done: list[checks.Check] = []
    failed = False
    for name in dict.fromkeys(chosen or present):
        try:
            with talk.status(f"checking {name}"):
                done += checks.check(name)
        except DamagedData as error:  # the others may be right
            complain(str(error))
            failed = True
    failed = failed or any(one.verdict is checks.Verdict.WRONG for one in done)
    _show(done, as_json)
    if absent := [name for name in RAW_DATA if name not in present and not chosen]:
        talk.print(f"not there: {', '.join(absent)}; see 'cschoice data list'", soft_wrap=True)
    raise typer.Exit(1 if failed else 0)


def _show(checks: Sequence[Any], as_json: bool) -> None:
    if as_json:
        answer_json([asdict(one) for one in checks])
    elif checks:
        answer_table(
            "Raw data and what is read from them",
            ["data", "what", "found", "expected", "verdict", "why"],
            [
                [one.data, one.what, one.found, one.expected, str(one.verdict), one.note]
                for one in checks
            ],
            folding="why",
        )


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="Raw data, or a dataset that is made of them.")],
    folder: DataFolder = None,
) -> None:
    """Download raw data, where their terms allow it; go on where a download was interrupted.

    They go to the user's cache folder, or to the folder given. Every file is verified.
    """
    from cschoice.datasets.raw.download import fetch as fetch_data

    raw_name = _raw_name(name)
    if RAW_DATA[raw_name].present():
        tell(f"{raw_name} is there already: see 'cschoice data list'")
        return
    with _progress_bar() as progress:
        bars = {}

        def show_progress(file: str, so_far: int, total: int) -> None:
            if file not in bars:
                bars[file] = progress.add_task(file, total=total or None)
            progress.update(bars[file], completed=so_far)

        paths = fetch_data(raw_name, folder, show_progress)
    for path in paths:
        tell(path)


def _progress_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
        console=talk,
        disable=not talk.is_terminal,
    )


def _raw_name(name: str) -> str:
    """Return the raw data of that name, or those that the dataset of that name is made of."""
    if name in RAW_DATA:
        return name
    if name not in DATASETS:
        known = [*RAW_DATA, *(one for one in DATASETS if one not in RAW_DATA)]
        raise UnknownName(unknown_name("raw data", name, known))
    raw = DATASETS[name].raw
    if raw is None:
        raise InvalidParameter(f"dataset '{name}' is made without raw data: nothing to do")
    return raw
