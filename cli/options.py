"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cschoice.config import DEFAULT_PROFILE

Learner = Annotated[
    list[str] | None,
    typer.Option("--learner", "-l", help="Learner, or a glob such as 'feta*'; repeatable."),
]
Dataset = Annotated[
    list[str] | None,
    typer.Option("--dataset", "-d", help="Dataset, or a glob such as 'mnist-*'; repeatable."),
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
    typer.Option(min=1, help="Outer folds, if not the profile's; never more than imported with."),
]
Trials = Annotated[int | None, typer.Option(min=0, help="Trials per job, if not the profile's.")]
Results = Annotated[Path, typer.Option("--results", help="Folder of the results.")]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="The study. By default experiments.yaml in this folder, else the built-in one.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

DEFAULT_EXPERIMENT = "study"
DEFAULT_RESULTS = Path("results")
PROFILE = DEFAULT_PROFILE
