"""The commands by name, each loaded when it is asked for: the command line starts fast."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup


class Place(NamedTuple):
    """The module of a command, its function or group of commands, and its line in the help."""

    module: str
    attribute: str
    summary: str


COMMANDS = {
    "run": Place("run", "run", "Run a study, or the part of it that you name."),
    "status": Place(
        "status",
        "status",
        "Show how many jobs are done, running, queued, failed, stale or to do.",
    ),
    "collect": Place(
        "status",
        "collect",
        "Write results/tables/{folds,metrics,trials,curves}.parquet from the finished jobs.",
    ),
    "report": Place(
        "report",
        "report",
        "Show the results beside the paper's, or write them to results/report/ as a document.",
    ),
    "evaluate": Place(
        "evaluate",
        "evaluate",
        "Compute metrics on the predictions that 'cschoice run --keep-predictions' kept.",
    ),
    "generate": Place(
        "generate",
        "generate",
        "Generate a dataset and write OUT/DATASET/fold-K/train.parquet and test.parquet.",
    ),
    "import": Place(
        "importing",
        "import_table",
        "Import a table of choices, so that everything works on it like on a built-in dataset.",
    ),
    "fit": Place(
        "fit",
        "fit",
        "Fit one model on all tasks of a dataset, for 'cschoice predict' and for Python.",
    ),
    "predict": Place(
        "predict",
        "predict",
        "Predict choices from a table like the imported one; it needs no column of choices.",
    ),
    "estimate": Place(
        "estimate",
        "estimate",
        "Estimate logit models by maximum likelihood and print tables to publish.",
    ),
    "whatif": Place(
        "whatif",
        "whatif",
        "Ask a fitted model how choices would change if the data were different.",
    ),
    "explain": Place(
        "explain",
        "explain",
        "Explain a fitted model: how much is context, who helps and who hurts whom, and why.",
    ),
    "test": Place("testing", "app", "Test hypotheses about the choices of a dataset."),
    "show": Place(
        "show",
        "app",
        "List the datasets, learners, metrics and executors of cschoice and of other packages.",
    ),
    "data": Place(
        "data",
        "app",
        "Raw data of the paper's datasets: what is there, is it right, where to get it.",
    ),
}


class Loaded(Mapping[str, TyperCommand | TyperGroup]):
    """The commands by name, made when they are looked up."""

    def __init__(self) -> None:
        self._commands: dict[str, TyperCommand | TyperGroup] = {}

    def __getitem__(self, name: str) -> TyperCommand | TyperGroup:
        if name not in self._commands:
            self._commands[name] = _command(name, COMMANDS[name])
        return self._commands[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def summaries() -> dict[str, TyperCommand]:
    """Return commands that can only be listed, with nothing loaded."""
    return {name: TyperCommand(name, help=place.summary) for name, place in COMMANDS.items()}


def _command(name: str, place: Place) -> TyperCommand | TyperGroup:
    found: Any = getattr(import_module(f".{place.module}", __package__), place.attribute)
    if isinstance(found, typer.Typer):
        group = typer.main.get_group(found)
        group.name = name
        return group
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich")
    alone.command(name)(found)
    command: Any = typer.main.get_command(alone)
    return command  # type: ignore[no-any-return]
