"""``cschoice predict``: apply a fitted model to a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cschoice.errors import InvalidParameter
from cschoice.io.files import replacing
from cschoice.io.spreadsheets import harmless

from .console import talk, tell
from .documents import check_free

_SUFFIXES = (".csv", ".parquet")


def predict(
    table: Annotated[
        Path, typer.Argument(help="CSV or Parquet, with the columns of the imported table.")
    ],
    model: Annotated[
        Path,
        typer.Option(help="Folder of a fitted model: models/trips-feta, or results/runs/…/model."),
    ],
    out: Annotated[Path, typer.Option(help="Where to write: .csv or .parquet.")] = Path(
        "predictions.csv"
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Predict choices from a table like the imported one; it needs no column of choices.

    Writes one row per object on offer: the columns that name the task and the object, its
    utility, its probability where the learner defines one, and whether it is chosen (1 or 0). In a
    CSV file, texts that a spreadsheet would take for formulas get an apostrophe in front.
    """
    if out.suffix not in _SUFFIXES:
        raise InvalidParameter(f"--out must end in {' or '.join(_SUFFIXES)}, got '{out}'")
    check_free("--out", out, force)
    from cschoice.models.predictor import Predictor

    with talk.status(f"predicting {table}"):
        predicted = Predictor.load(model).predict(table)
        with replacing(out) as (temporary,):
            if out.suffix == ".csv":
                texts = predicted.rename(columns=harmless)
                texts.map(harmless).to_csv(temporary, index=False)
            else:
                predicted.to_parquet(temporary, index=False)
    tell(f"{out}: {len(predicted):,} objects, {predicted['chosen'].sum():,} chosen")
