"""Parquet tables to run folders: go on with a study of which only the tables are at hand.

Everything that planning and tables need comes back; models and predictions are not in tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cschoice.records import Curve, Job, Record, Rung, State, Trial, TrialState
from cschoice.store import ResultStore
from cschoice.tables import JOB, SCHEMAS, read_arrow

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]  # of one job, by the name of their table
At = tuple[Any, ...]  # the values that name a job


def read_tables(store: ResultStore) -> Mapping[At, Rows]:
    """Return the rows of every job in the tables."""
    jobs: dict[At, dict[str, list[Row]]] = {}
    for table in SCHEMAS:
        for row in read_arrow(store.root, table).to_pylist():
            at = tuple(row.pop(name) for name, _ in JOB)
            jobs.setdefault(at, {name: [] for name in SCHEMAS})[table].append(row)
    return jobs


def restore(store: ResultStore, jobs: Iterable[Job], tables: Mapping[At, Rows]) -> int:
    """Write the folders of jobs that the tables have and the store has not; return how many.

    The key tells whether rows are of exactly this job.
    """
    n_restored = 0
    for job in jobs:
        rows = tables.get(tuple(getattr(job, name) for name, _ in JOB))
        if rows is None or store.record(job) is not None:
            continue
        record = _record(rows)
        if record.key != job.key or record.state is not State.DONE:
            continue
        store.begin(job)
        for row in rows["trials"]:
            store.append(job, _trial(row))
        store.finish(job, record)
        n_restored += 1
    return n_restored


def _record(rows: Rows) -> Record:
    (row,) = rows["folds"]
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
        curves=[
            Curve(*names, [point["x"] for point in some], [point["value"] for point in some])
            for names, some in points.items()
        ],
    )


def _trial(row: Row) -> Trial:
    return Trial(
        number=row["number"],
        rung=Rung(row["rung"]),
        params=json.loads(row["params"]),
        losses=json.loads(row["losses"]),
        state=TrialState(row["state"]),
        seconds=row["seconds"],
        error=row["error"],
    )
