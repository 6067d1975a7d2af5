"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from cschoice.datasets.raw.folders import DATA_VARIABLE
from cschoice.study.config import DEFAULT_PROFILE
from cschoice.study.settings import MOST_FOLDS, MOST_TRIALS

Learner = Annotated[
    list[str] | None,
    typer.Option(
        "--learner", "-l", help="Learner, a glob such as 'feta*', or module:Class; repeatable."
    ),
]
Dataset = Annotated[
    list[str] | None,
    typer.Option(
        "--dataset", "-d", help="Dataset, a glob such as 'mnist-*', or module:Class; repeatable."
    ),
]
ProfileName = Annotated[
    str, typer.Option("--profile", help="How much to spend: smoke, demo, laptop, paper, …")
]
ExperimentName = Annotated[
    str,
    typer.Option("--experiment", help="Which one: study, generalization, unique-stream, …"),
]
Folds = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_FOLDS,
        help="Outer folds, if not the profile's; never more than imported with.",
    ),
]
Trials = Annotated[
    int | None, typer.Option(min=0, max=MOST_TRIALS, help="Trials per job, if not the profile's.")
]
Results = Annotated[Path, typer.Option("--results", help="Folder of the results.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="The study. By default experiments.yaml in this folder, else the built-in one.",
    ),
]


def _use_data(folder: Path | None) -> Path | None:
    """Look for raw data there, in this process and in those it starts."""
    if folder is not None:
        os.environ[DATA_VARIABLE] = str(folder.resolve())
    return folder


DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        exists=True,
        file_okay=False,
        callback=_use_data,
        help=f"Folder of raw data, instead of those that {DATA_VARIABLE} names.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

DEFAULT_EXPERIMENT = "study"
DEFAULT_RESULTS = Path("results")
PROFILE = DEFAULT_PROFILE
