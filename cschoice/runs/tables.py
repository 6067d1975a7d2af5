"""Run folders to Parquet tables: what reports read, and nothing else.

``folds``: one row per job; ``metrics``: one row per job and metric; ``trials``: one row per
trial; ``curves``: one row per point of a curve. The same records give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cschoice.datasets import DATASETS
from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.io.files import replacing
from cschoice.runs.records import Job, JobName, Record, Trial, to_json
from cschoice.runs.store import ResultStore

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

TABLES_VERSION = 1
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


def collect(store: ResultStore, jobs: Iterable[Job]) -> dict[str, int]:
    """Write the tables of these jobs; return how many rows each has.

    Jobs that are not finished have no rows; neither has what another configuration left.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in SCHEMAS}
    damaged: list[str] = []
    ordered = sorted(jobs, key=lambda job: (job.profile, job.experiment, job.label))
    for job in ordered:
        record = store.record(job)
        if record is None:
            continue
        names = job.name._asdict()
        rows["folds"].append(names | _fold_row(job, record))
        rows["metrics"] += [
            names | {"metric": name, "value": value} for name, value in record.metrics.items()
        ]
        rows["curves"] += [names | row for row in _curve_rows(record)]
        try:
            rows["trials"] += [names | _trial_row(trial) for trial in store.trials(job)]
        except InvalidFile as error:
            damaged.append(str(error))
    for name in SCHEMAS:
        _write(store.root / "tables" / f"{name}.parquet", name, rows[name])
    if damaged:
        raise InvalidFile(f"{'; '.join(damaged)}: the tables were written without these trials")
    return {name: len(table) for name, table in rows.items()}


def read(results: Path, name: str) -> pd.DataFrame:
    """Read one of the tables."""
    frame: pd.DataFrame = read_arrow(results, name).to_pandas()
    return frame


def read_arrow(results: Path, name: str) -> pa.Table:
    """Read one of the tables as it is in its file: what is missing is None, not NaN."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = results / "tables" / f"{name}.parquet"
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
    return table


def _fold_row(job: Job, record: Record) -> dict[str, Any]:
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
    }


def _trial_row(trial: Trial) -> dict[str, Any]:
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


def _curve_rows(record: Record) -> Iterator[dict[str, Any]]:
    for curve in record.curves:
        for x, value in zip(curve.x, curve.values, strict=True):
            yield {"axis": curve.axis, "metric": curve.metric, "x": x, "value": value}


def _write(path: Path, name: str, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [(column, pa.type_for_alias(kind)) for column, kind in SCHEMAS[name]]
    schema = pa.schema(fields, metadata={"cschoice": str(TABLES_VERSION)})
    with replacing(path) as (temporary,):
        pq.write_table(pa.Table.from_pylist(rows, schema=schema), temporary, compression="zstd")
