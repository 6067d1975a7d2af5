"""``cschoice import``: a table of choices becomes a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cschoice.datasets import DATASETS
from cschoice.datasets.imported import (
    FOLDER,
    DatasetDescription,
    check_name,
    is_imported,
    store_dataset,
)
from cschoice.errors import FileAlreadyExists, InvalidParameter
from cschoice.tasks import ChoiceTasks, frames

from .console import answer_table, say, talk, tell

N_FOLDS = 5
_TABLE, _MEANING, _ESTIMATES = "The table", "Features", "What 'cschoice estimate' takes"


def import_table(
    table: Annotated[
        Path, typer.Argument(help="CSV (also .gz, .bz2, .xz; comma, semicolon or tab) or Parquet.")
    ],
    name: Annotated[str, typer.Option(help="Name of the dataset from now on.")],
    chosen: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            show_default=False,
            help="What was chosen: 0 and 1, true and false, or the name of the alternative. With "
            "--wide also a pattern, '{}_CHOSEN'.",
            rich_help_panel=_TABLE,
        ),
    ] = "",
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns that describe an object: 'cost,time', 'f1-f45', 'ic.*'. With --wide "
            "patterns in which {} is the alternative: 'cost={}_COST,time={}_TIME'; '{}_FREQ|0' is "
            "0 where an alternative has no such column.",
            rich_help_panel=_MEANING,
        ),
    ] = None,
    task: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS",
            help="Rows with the same value here are one task; several columns: 'person,question'.",
            rich_help_panel=_TABLE,
        ),
    ] = "",
    object_: Annotated[
        str | None,
        typer.Option(
            "--object",
            metavar="COLUMN",
            help="The name of the alternative, if it has one.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    wide: Annotated[
        bool,
        typer.Option(
            "--wide",
            help="One row per task, columns per alternative; needs --alternatives.",
            rich_help_panel=_TABLE,
        ),
    ] = False,
    alternatives: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="With --wide: 'train,bus,car', or 'TRAIN=1,CAR=3' if --chosen has codes.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    available: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Whether an object is on offer, 0 or 1; with --wide a pattern, '{}_AV'. 'filled': "
            "where its features are filled in.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Who chose: nobody's choices are both learned from and tested on.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="How much a task counts, a positive number; by default all count alike.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    context: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS",
            help="Features of the chooser, appended to those of each object. For networks: in "
            "a logit what is the same for all objects cancels.",
            rich_help_panel=_MEANING,
        ),
    ] = "",
    cross: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS",
            help="Features of the chooser, multiplied with each feature of each object: 'income'; "
            "with one of them: 'income:cost'; with the constants: 'income:constants'.",
            rich_help_panel=_MEANING,
        ),
    ] = "",
    chosen_at_least: Annotated[
        float | None,
        typer.Option(
            metavar="GRADE",
            help="--chosen has grades, such as 0, 1 and 2: from this one on they mean chosen.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    categorical: Annotated[
        str,
        typer.Option(
            metavar="FEATURES",
            help="Features whose numbers are codes. Texts are categories anyway.",
            rich_help_panel=_MEANING,
        ),
    ] = "",
    constants: Annotated[
        bool,
        typer.Option(
            "--constants",
            help="Give each alternative but the reference a constant of its own.",
            rich_help_panel=_MEANING,
        ),
    ] = False,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The alternative without a constant, to which the others are compared. By "
            "default the first one.",
            rich_help_panel=_MEANING,
        ),
    ] = None,
    specific: Annotated[
        str,
        typer.Option(
            metavar="FEATURES",
            help="Features that count differently in each alternative: one coefficient for each.",
            rich_help_panel=_MEANING,
        ),
    ] = "",
    impute: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOW",
            help="What fills gaps: mean, median, most-frequent, or FEATURE=VALUE; repeatable. "
            "Without it a gap is an error.",
            rich_help_panel=_MEANING,
        ),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A specification, YAML as of 'cschoice estimate': kept with the dataset.",
            rich_help_panel=_ESTIMATES,
        ),
    ] = None,
    fix: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EQUATION",
            help="A coefficient that is not estimated: 'freq = 0.1'; repeatable.",
            rich_help_panel=_ESTIMATES,
        ),
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(metavar="BOUND", help="'cost <= 0'; repeatable.", rich_help_panel=_ESTIMATES),
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EQUATION",
            help="Where searches start: 'cost = -1'; repeatable.",
            rich_help_panel=_ESTIMATES,
        ),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="singleton: one object is chosen; subset: one or more.")
    ] = "singleton",
    drop_invalid: Annotated[
        bool,
        typer.Option(
            "--drop-invalid",
            help="Leave out tasks without a choice, with gaps and the like, and say how many.",
        ),
    ] = False,
    folds: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Into how many outer folds the tasks, or groups, are split.",
            show_default="5",
        ),
    ] = None,
    fold: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The fold in which a task is tested, instead of folds dealt out by a seed. Where "
            "it holds train and test, there is one fold.",
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH",
            help="first or last: of rows that are alike in --by only this one, as where a person "
            "changed the answer.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS",
            help="Columns in which rows are alike, for --keep: 'person,question'. By default "
            "those of --task.",
            rich_help_panel=_TABLE,
        ),
    ] = "",
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="svmlight: lines such as '2 qid:7 1:0.5 3:1', as LETOR's. Its columns are label, "
            "qid, f1, f2, …. By default CSV or Parquet, whichever the file is.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the dataset of that name.")
    ] = False,
) -> None:
    """Import a table of choices, so that everything works on it like on a built-in dataset.

    Long tables have one row per object, wide ones one per task:

    cschoice import trips.csv --name trips --task trip --chosen chosen --features cost,time

    cschoice import survey.csv --name survey --wide --alternatives train,car --chosen mode
    --features 'cost={}_cost,time={}_time'

    The dataset goes to data/NAME, where 'cschoice run --dataset NAME' finds it.
    Numbers are taken as they are (each fold scales them by its training tasks).
    Texts become one feature per category.
    """
    check_name(name, DATASETS.written)
    if not force and is_imported(name):
        raise FileAlreadyExists(f"{FOLDER / name} is there already: give --force to replace it")
    if wide != (alternatives is not None):
        raise InvalidParameter("--wide and --alternatives go together: give both, or neither")
    if fold and folds:
        raise InvalidParameter("give --fold or --folds, not both")
    described = frames.describe(
        features=",".join(features or ()),
        chosen=chosen,
        task=task,
        object=object_,
        alternatives=alternatives,
        available=available,
        group=group,
        weight=weight,
        context=context,
        cross=cross,
        categorical=categorical,
        constants=constants,
        reference=reference,
        specific=specific,
        kind=kind,
        chosen_at_least=chosen_at_least,
        fold=fold,
        keep=keep,
        by=by,
        format=format_,
    )
    with talk.status(f"reading {table}"):
        encoding, encoded = frames.learn(table, described, impute or (), drop_invalid)
        tasks = ChoiceTasks.from_table(encoded, described.kind)
        written = _specification(tasks, spec, fixed=fix, bounds=bound, start=start)
        known = store_dataset(
            name, tasks, encoding, folds or N_FOLDS, table.name, encoded.folds, written
        )
    for problem, count in encoded.dropped.items():
        say(f"left out: {count:,} tasks {problem}")
    if encoded.dropped:
        n_tasks = len(encoded.objects.keys)
        say(f"{known.n_tasks:,} of {n_tasks:,} tasks kept")
    if encoded.n_copies:
        say(f"note: {encoded.n_copies:,} objects equal another object of their task")
    _show(name, known, tasks)


def _specification(tasks: ChoiceTasks, path: Path | None, **words: list[str] | None) -> str:
    """Return the specification to keep with the dataset, if one was given."""
    if path is None and not any(words.values()):
        return ""
    from cschoice.estimates.kept import text_to_keep

    return text_to_keep(tasks, path, **words)


def _show(name: str, known: DatasetDescription, tasks: ChoiceTasks) -> None:
    sizes = "–".join(str(size) for size in sorted({known.smallest, known.largest}))
    groups = "–" if tasks.groups is None else f"{len(set(tasks.groups.tolist())):,}"
    answer_table(
        f"{name}: {known.kind} choice, {known.n_folds} fold{'s' * (known.n_folds != 1)}",
        ["#tasks", "#objects", "#groups", "#features", "names of features"],
        [[f"{known.n_tasks:,}", sizes, groups, f"{known.n_features}", ", ".join(known.features)]],
        folding="names of features",
    )
    tell(f"{FOLDER / name} is ready. Next: cschoice run --dataset {name}")
