"""``cschoice generate``: write a generated dataset to Parquet files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from cschoice.datasets import DatasetSource, make_dataset
from cschoice.errors import FileAlreadyExists, FileNotUsable, InvalidParameter
from cschoice.io.files import explained, filling
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.parquet import items_path

from .console import answer_table, talk
from .options import DataFolder

N_FOLDS = 5
_FILES = ("train.parquet", "test.parquet")


def generate(
    dataset: Annotated[
        str, typer.Argument(help="A name from 'cschoice show datasets', for example medoid.")
    ],
    fold: Annotated[
        list[int] | None,
        typer.Option(min=0, help=f"Fold to write; repeatable. By default 0 to {N_FOLDS - 1}."),
    ] = None,
    n_train: Annotated[int | None, typer.Option(help="Training tasks per fold.")] = None,
    n_test: Annotated[int | None, typer.Option(help="Test tasks per fold.")] = None,
    n_objects: Annotated[int | None, typer.Option(help="Objects per task.")] = None,
    n_features: Annotated[int | None, typer.Option(help="Features per object.")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Another parameter of the dataset, for example centre=per-object; repeatable.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same bytes.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder to write to.")] = Path("data"),
    data: DataFolder = None,  # noqa: ARG001 - used by its callback
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist.")] = False,
) -> None:
    """Generate a dataset and write OUT/DATASET/fold-K/train.parquet and test.parquet.

    Sizes not given are the paper's. Files appear whole or not at all; existing ones are kept
    unless --force is given.
    """
    sizes = {"n_train": n_train, "n_test": n_test, "n_objects": n_objects, "n_features": n_features}
    parameters = {name: value for name, value in sizes.items() if value is not None}
    source = make_dataset(dataset, **_with_settings(parameters, set_ or []))
    folders = {
        k: out / dataset / f"fold-{k}"
        for k in (sorted(set(fold)) if fold else range(getattr(source, "n_folds", N_FOLDS)))
    }
    _check_targets(list(folders.values()), force)
    rows = []
    with _progress_bar() as progress:
        for k, folder in folders.items():
            rows += _write_fold(dataset, source, k, seed, folder, progress)
    answer_table(
        f"{dataset}: {len(rows)} files",
        ["file", "#tasks", "#objects", "#features", "#chosen", "#size"],
        rows,
        folding="file",
    )


def _with_settings(parameters: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """Add NAME=VALUE; values are JSON where they can be (true, 3), else text."""
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise InvalidParameter(f"--set takes NAME=VALUE, got '{setting}'")
        if name in parameters:
            raise InvalidParameter(f"{name} is given twice: by --set {setting} and before it")
        try:
            parameters[name] = json.loads(value)
        except (ValueError, RecursionError):
            parameters[name] = value
    return parameters


def _check_targets(folders: Sequence[Path], force: bool) -> None:
    """Refuse folders that cannot be written, and files that would be overwritten."""
    existing = []
    for folder in folders:
        with explained(folder):
            if folder.exists() and not folder.is_dir():
                raise FileNotUsable(f"cannot write {folder}: a file is in the way")
            for name in _FILES:
                path = folder / name
                for target in (path, items_path(path)):
                    if target.is_dir():
                        raise FileNotUsable(f"cannot write {target}: a folder is in the way")
                    existing += [target] * target.exists()
    if existing and not force:
        more = f" and {len(existing) - 1} more" if len(existing) > 1 else ""
        raise FileAlreadyExists(
            f"{existing[0]}{more} would be overwritten: give --force to replace, "
            "--fold for those still missing, or another --out"
        )


def _progress_bar() -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        console=talk,
        transient=True,
        disable=not talk.is_terminal,
    )


def _write_fold(
    dataset: str, source: DatasetSource, fold: int, seed: int, folder: Path, progress: Progress
) -> list[list[str]]:
    """Write the train and test tasks of one fold; return a row of the summary for each."""
    bar = progress.add_task(f"fold-{fold}: drawing", total=None)
    drawn = source.fold(fold, seed)
    n_entries = sum(tasks.n_entries for tasks in drawn)
    progress.update(bar, description=f"fold-{fold}: writing", total=n_entries)
    origin = {"dataset": dataset, "parameters": asdict(source), "seed": seed, "fold": fold}  # type: ignore[call-overload]
    with filling(folder) as temporary:
        for name, tasks in zip(_FILES, drawn, strict=True):
            tasks.to_parquet(temporary / name, origin, lambda n: progress.advance(bar, n))
    return [_summary(folder / name, tasks) for name, tasks in zip(_FILES, drawn, strict=True)]


def _summary(path: Path, tasks: ChoiceTasks) -> list[str]:
    sizes = tasks.sizes
    smallest, largest = int(sizes.min()), int(sizes.max())
    written = [file for file in (path, items_path(path)) if file.exists()]
    return [
        str(path),
        f"{len(tasks):,}",
        f"{smallest}" if smallest == largest else f"{smallest}–{largest}",
        f"{tasks.n_features:,}",
        f"{tasks.chosen.mean():.1%}".replace("%", " %"),
        decimal(sum(file.stat().st_size for file in written)),
    ]
