"""The Parquet tables of a results folder: reports read them, and they outlive run folders.

``folds``: one row per job; ``metrics``: one row per job and metric; ``trials``: one row per
trial; ``curves``: one row per point of a curve. The same records give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cschoice.datasets import DATASETS
from cschoice.errors import FileNotUsable, InvalidFile, UnknownName
from cschoice.io.documents import to_json
from cschoice.io.files import replacing
from cschoice.registry import unknown_name
from cschoice.runs.environment import origin
from cschoice.runs.records import Curve, Job, JobName, Record, State, Trial

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
        "folds": [name | _fold_row(job, record)],
        "metrics": [name | {"metric": key, "value": record.metrics[key]} for key in record.metrics],
        "trials": [name | _trial_row(trial) for trial in trials],
        "curves": [name | row for row in _curve_rows(record)],
    }


def name_of(row: Row) -> JobName:
    """Return the name of the job that a row belongs to."""
    return JobName(*(row[field] for field in JobName._fields))


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


class StoredTables:
    """The tables of a results folder, each read when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._by_job: dict[str, dict[JobName, list[Row]]] = {}

    @property
    def exist(self) -> bool:
        """Return whether there are any."""
        return any((self.root / FOLDER / f"{name}.parquet").exists() for name in SCHEMAS)

    @cached_property
    def done(self) -> dict[JobName, str]:
        """Return the key of every job that the tables say is done; none if they cannot be read."""
        try:
            folds = self.by_job("folds") if self.exist else {}
        except (FileNotUsable, InvalidFile):
            return {}
        found = {name: rows[0] for name, rows in folds.items()}
        return {name: row["key"] for name, row in found.items() if row["state"] == State.DONE}

    def record(self, name: JobName) -> Record:
        """Return the record of a job that is in the tables."""
        return record_of(self.rows(name))

    def rows(self, name: JobName) -> dict[str, list[Row]]:
        """Return the rows of a job in all tables."""
        return {table: self.by_job(table).get(name, []) for table in SCHEMAS}

    def by_job(self, table: str) -> dict[JobName, list[Row]]:
        """Return the rows of a table, grouped by job."""
        if table not in self._by_job:
            grouped: dict[JobName, list[Row]] = {}
            for row in read_arrow(self.root, table).to_pylist():
                grouped.setdefault(name_of(row), []).append(row)
            self._by_job[table] = grouped
        return self._by_job[table]


def load_results(folder: str | Path = "results", table: str = "metrics") -> pd.DataFrame:
    """Return a table of a results folder: ``metrics``, ``folds``, ``trials`` or ``curves``."""
    if table not in SCHEMAS:
        raise UnknownName(unknown_name("table", table, SCHEMAS))
    return read(Path(folder), table)


def read(results: Path, name: str) -> pd.DataFrame:
    """Return one of the tables as a data frame."""
    frame: pd.DataFrame = read_arrow(results, name).to_pandas()
    return frame


def read_arrow(results: Path, name: str) -> pa.Table:
    """Return one of the tables as it is in its file: a missing value is None, not NaN."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = results / FOLDER / f"{name}.parquet"
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise FileNotUsable(
            f"{path} is not there: run 'cschoice run' first, or 'cschoice collect' for old results"
        ) from None
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidFile(f"{path} cannot be read ({error}): run 'cschoice collect'") from error
    version = (table.schema.metadata or {}).get(b"cschoice", b"0")
    if int(version) != TABLES_VERSION:
        raise InvalidFile(f"{path} is of version {int(version)}, not {TABLES_VERSION}")
    return _with_added_columns(table) if name == "folds" else table


def _with_added_columns(folds: pa.Table) -> pa.Table:
    """Return the folds with columns that earlier tables lack; what they do not tell is unknown."""
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


def write(results: Path, rows: Rows) -> None:
    """Write all tables, or none of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = [results / FOLDER / f"{name}.parquet" for name in SCHEMAS]
    with replacing(*paths) as temporaries:
        for name, temporary in zip(SCHEMAS, temporaries, strict=True):
            fields = [(column, pa.type_for_alias(kind)) for column, kind in SCHEMAS[name]]
            schema = pa.schema(fields, metadata={"cschoice": str(TABLES_VERSION)})
            table = pa.Table.from_pylist(list(rows[name]), schema=schema)
            pq.write_table(table, temporary, compression="zstd")


def _fold_row(job: Job, record: Record) -> Row:
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
