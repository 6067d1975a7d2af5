"""``cschoice explain``: one page about a fitted model and its data."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name

from .console import say, steps, talk, tell

_FORMATS = ("html", "latex", "all")


def explain(
    model: Annotated[
        Path, typer.Argument(help="Folder of a fitted model: models/DATASET-LEARNER.")
    ],
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            "-d",
            help="A dataset, a .parquet file of tasks, or a table like the imported one. By "
            "default the dataset that the folder of the model is named after.",
        ),
    ] = None,
    better: Annotated[
        str | None,
        typer.Option(
            metavar="FEATURE=WORD,…",
            help="Which values are better, 'price=low,quality=high': shows attraction, compromise "
            "and similarity.",
        ),
    ] = None,
    task: Annotated[
        list[int] | None,
        typer.Option(
            help="Explain this decision: the number of the task, from 0; repeatable. By default "
            "one in which rivals matter much."
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            help="Copies fitted without a part of the data, for intervals and for the comparison "
            "with the same model without context; 0: none, in seconds."
        ),
    ] = 5,
    max_tasks: Annotated[
        int | None, typer.Option(min=10, help="Tasks to use, drawn at random; by default all.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", help=f"One of {', '.join(_FORMATS)}.")
    ] = "html",
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; by default explained/MODEL.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of folds and of what is drawn.")] = 0,
) -> None:
    """Explain a fitted model: how much is context, who helps and who hurts whom, and why.

    cschoice explain models/trips-feta --better "cost=low,time=low" --task 17

    The page shows what context adds to predictions of tasks held out, what each object changes in
    the chances of the others, one decision as a sum of contributions, the effects of three
    objects, and what each feature is worth, with intervals. It opens without a network.
    """
    if format_ not in _FORMATS:
        raise InvalidParameter(unknown_name("format", format_, _FORMATS))
    declared = _directions(better)
    started = time.monotonic()
    from cschoice.explanations.explanation import explain as explained
    from cschoice.explanations.sources import at_most, dataset_of, tasks_of
    from cschoice.learners.saving import load
    from cschoice.report.formats.explanation import FORMATS, write

    with talk.status(f"reading {model}") as status:
        progress = steps(status, every=0)
        learner = load(model)
        name = dataset or dataset_of(model)
        tasks = at_most(tasks_of(name, learner), max_tasks, seed)
        found = explained(
            learner,
            tasks,
            dataset=Path(name).name,
            better=declared,
            decisions=task or (),
            folds=folds,
            seed=seed,
            progress=progress,
        )
        progress("drawing figures")
        folder = out or Path("explained") / model.resolve().name
        written = write(found, folder, FORMATS if format_ == "all" else [format_])
    for path in written:
        tell(path)
    say(f"{len(tasks):,} tasks explained in {time.monotonic() - started:.0f} s")


def _directions(better: str | None) -> dict[str, str] | None:
    """Read which values of features are better."""
    if better is None:
        return None
    pairs = [part.partition("=") for part in better.split(",")]
    wrong = [name for name, equals, _ in pairs if not equals]
    if wrong:
        raise InvalidParameter(
            f"--better takes FEATURE=high or FEATURE=low, separated by commas, got '{wrong[0]}'"
        )
    return {name.strip(): word.strip() for name, _, word in pairs}
