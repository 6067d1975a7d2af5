"""The Parquet tables of a results folder: reports read them, and they outlive run folders.

``folds``: one row per job; ``metrics``: one row per job and metric; ``trials``: one row per
trial; ``curves``: one row per point of a curve. The same records give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cschoice.datasets import DATASETS
from cschoice.errors import FileNotUsable, InvalidFile, UnknownName
from cschoice.io.documents import to_json
from cschoice.io.files import check_regular, read_regular, replacing, settle
from cschoice.registry import unknown_name
from cschoice.runs.environment import origin
from cschoice.runs.records import Curve, Job, JobName, Record, Rung, State, Trial, TrialState
from cschoice.runs.table_checksums import belong_together, fits, marked

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TABLES_VERSION = 1
FOLDER = "tables"
_JOB = [(name, "int64" if name == "fold" else "string") for name in JobName._fields]
SCHEMAS = {
    "folds": [
        *_JOB,
        ("kind", "string"),
        ("state", "string"),
        ("reason", "string"),
        ("params", "string"),  # JSON
        ("threshold", "double"),
        ("n_trials", "int64"),
        ("seconds", "double"),
        ("seed", "int64"),
        ("key", "string"),
        ("environment", "string"),  # JSON
        ("commit", "string"),  # these four again, to look for: see ``environment.origin``
        ("version", "string"),
        ("node", "string"),
        ("processor", "string"),
        ("n_train", "int64"),
        ("n_test", "int64"),
        ("n_features", "int64"),
        ("smallest", "int64"),
        ("largest", "int64"),
        ("sample", "string"),
    ],
    "metrics": [*_JOB, ("metric", "string"), ("value", "double")],
    "trials": [
        *_JOB,
        ("number", "int64"),
        ("rung", "string"),
        ("state", "string"),
        ("params", "string"),  # JSON
        ("loss", "double"),
        ("losses", "string"),  # JSON
        ("seconds", "double"),
        ("error", "string"),
    ],
    "curves": [
        *_JOB,
        ("axis", "string"),
        ("metric", "string"),
        ("x", "double"),
        ("value", "double"),
    ],
}
# The fold's tasks, as the record has them; results of earlier versions do not tell.
_OF_FOLD = ("n_train", "n_test", "n_features", "smallest", "largest", "sample")

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]  # by the name of their table


def rows_of(job: Job, record: Record, trials: Sequence[Trial]) -> dict[str, list[Row]]:
    """Return the rows of a finished job."""
    name = job.name._asdict()
    return {
        "folds": [name | fold_row(job, record)],
        "metrics": [name | {"metric": key, "value": record.metrics[key]} for key in record.metrics],
        "trials": [name | _trial_row(trial) for trial in trials],
        "curves": [name | row for row in _curve_rows(record)],
    }


def record_of(rows: Rows) -> Record:
    """Return the record that the rows of a job were made of."""
    row = rows["folds"][0]
    points: dict[tuple[str, str], list[Row]] = {}
    for point in rows["curves"]:
        points.setdefault((point["axis"], point["metric"]), []).append(point)
    return Record(
        key=row["key"],
        state=State(row["state"]),
        reason=row["reason"],
        kind=row["kind"],
        params=json.loads(row["params"]),
        threshold=row["threshold"],
        metrics={one["metric"]: one["value"] for one in rows["metrics"]},
        n_trials=row["n_trials"],
        seconds=row["seconds"],
        environment=json.loads(row["environment"]),
        **{column: row[column] for column in _OF_FOLD},
        curves=[
            Curve(*names, [point["x"] for point in some], [point["value"] for point in some])
            for names, some in points.items()
        ],
    )


def trials_of(rows: Rows) -> list[Trial]:
    """Return the trials that the rows of a job were made of."""
    return [
        Trial(
            number=row["number"],
            rung=Rung(row["rung"]),
            params=json.loads(row["params"]),
            losses=json.loads(row["losses"]),
            state=TrialState(row["state"]),
            seconds=row["seconds"],
            error=row["error"],
        )
        for row in rows["trials"]
    ]


def load_results(folder: str | Path = "results", table: str = "metrics") -> pd.DataFrame:
    """Return a table of a results folder: ``metrics``, ``folds``, ``trials`` or ``curves``."""
    if table not in SCHEMAS:
        raise UnknownName(unknown_name("table", table, SCHEMAS))
    return read(Path(folder), table)


def read(results: Path, name: str) -> pd.DataFrame:
    """Return one of the tables as a data frame."""
    frame: pd.DataFrame = read_arrow(results, name).to_pandas()
    return frame


def read_arrow(results: Path, name: str, *, alone: bool = False) -> pa.Table:
    """Return one of the tables as it is in its file: a missing value is None, not NaN.

    Its values must fit its checksum, and the other tables be those that were written with it,
    unless it is read ``alone``.
    """
    folder = results / FOLDER
    path = folder / f"{name}.parquet"
    with suppress(FileNotUsable):  # one may look without the right to write
        settle(folder)
    table = _verified(path)
    if not alone:
        _check_others(folder, name)
    return _with_added_columns(table) if name == "folds" else table


def _verified(path: Path) -> pa.Table:
    """Return the table in a file; refuse one that is damaged or of another version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        # Not by read_table, which loads pandas.
        source = pa.BufferReader(read_regular(path))
        table = pq.ParquetFile(source, page_checksum_verification=True).read()
        version = int((table.schema.metadata or {}).get(b"cschoice", b"0"))
        intact = fits(table)
    except FileNotFoundError:
        raise FileNotUsable(
            f"{path} is not there: run 'cschoice run' first, or 'cschoice collect' for old results"
        ) from None
    except (pa.ArrowException, OSError, ValueError, MemoryError, TypeError) as error:
        why = " ".join(str(error).split())[:200]
        raise InvalidFile(f"{path} cannot be read ({why}): run 'cschoice collect'") from error
    if version != TABLES_VERSION:
        raise InvalidFile(f"{path} is of version {version}, not {TABLES_VERSION}")
    if not intact:
        raise InvalidFile(f"{path} is damaged (its checksum does not fit): run 'cschoice collect'")
    return table


def _check_others(folder: Path, name: str) -> None:
    """Refuse a table beside others that were not written together with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schemas = {}
    for other in SCHEMAS:
        with suppress(pa.ArrowException, OSError, ValueError):  # that is said when it is read
            check_regular(folder / f"{other}.parquet")
            schemas[other] = pq.read_schema(folder / f"{other}.parquet")
    for other, schema in schemas.items():
        if name in schemas and not belong_together([schemas[name], schema]):
            raise InvalidFile(
                f"{folder / name}.parquet and {other}.parquet were not written together: "
                "run 'cschoice collect'"
            )


def _with_added_columns(folds: pa.Table) -> pa.Table:
    """Return the folds with columns that earlier tables lack, unknown where nothing tells them."""
    import pyarrow as pa

    if "environment" not in folds.column_names:
        return folds
    texts = folds["environment"].to_pylist()
    origins = [origin(json.loads(text or "{}")) for text in texts]
    for column in ("commit", "version", "node", "processor"):
        if column not in folds.column_names:
            folds = folds.append_column(column, pa.array([one[column] for one in origins]))
    kinds = dict(SCHEMAS["folds"])
    for column in _OF_FOLD:
        if column not in folds.column_names:
            nothing = pa.nulls(len(folds), pa.type_for_alias(kinds[column]))
            folds = folds.append_column(column, nothing)
    return folds


def as_table(name: str, rows: Sequence[Row]) -> pa.Table:
    """Return rows as one of the tables."""
    import pyarrow as pa

    fields = [(column, pa.type_for_alias(kind)) for column, kind in SCHEMAS[name]]
    return pa.Table.from_pylist(list(rows), schema=pa.schema(fields))


def write(results: Path, tables: Mapping[str, pa.Table]) -> None:
    """Write all tables, or none of them."""
    import pyarrow.parquet as pq

    paths = [results / FOLDER / f"{name}.parquet" for name in SCHEMAS]
    with_checksums = marked(tables, {"cschoice": str(TABLES_VERSION)})
    with replacing(*paths) as temporaries:
        for name, temporary in zip(SCHEMAS, temporaries, strict=True):
            table = with_checksums[name]
            pq.write_table(table, temporary, compression="zstd", write_page_checksum=True)


def fold_row(job: Job, record: Record) -> Row:
    """Return the row of a finished job in ``folds``, without its name."""
    return {
        "kind": record.kind or str(DATASETS[job.dataset].kind),
        "state": str(record.state),
        "reason": record.reason,
        "params": to_json(record.params),
        "threshold": record.threshold,
        "n_trials": record.n_trials,
        "seconds": record.seconds,
        "seed": job.seed,
        "key": record.key,
        "environment": to_json(record.environment),
        **origin(record.environment),
        **{column: getattr(record, column) for column in _OF_FOLD},
    }


def _trial_row(trial: Trial) -> Row:
    return {
        "number": trial.number,
        "rung": str(trial.rung),
        "state": str(trial.state),
        "params": to_json(trial.params),
        "loss": trial.loss,
        "losses": to_json(trial.losses),
        "seconds": trial.seconds,
        "error": trial.error,
    }


def _curve_rows(record: Record) -> Iterator[Row]:
    for curve in record.curves:
        for x, value in zip(curve.x, curve.values, strict=True):
            yield {"axis": curve.axis, "metric": curve.metric, "x": x, "value": value}
