"""Parquet tables to run folders: go on with a study of which only the tables are at hand.

Everything that planning and tables need comes back; models and predictions are not in tables.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.io.locks import claim
from cschoice.runs.records import Curve, Job, JobName, Record, Rung, State, Trial, TrialState
from cschoice.runs.store import ResultStore
from cschoice.runs.tables import SCHEMAS, read_arrow
from cschoice.study.plan import asked_like
from cschoice.study.settings import Study

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]  # of one job, by the name of their table


class Restored(NamedTuple):
    """What became of the jobs in the tables."""

    jobs: Sequence[Job]  # whose folders were written
    n_there: int  # that have a folder, which knows more than rows
    n_other: int  # that failed, or of which the study asks for something else


def restore(study: Study, store: ResultStore) -> Restored:
    """Write the folders of jobs that the tables have and the runs have not.

    The key tells whether rows are of exactly what the study asks for.
    """
    names = _names(store)
    left = {name for name in names if not store.has(name)}
    n_there = len(names) - len(left)
    tables = _read_tables(store, left) if left else {}
    restored: list[Job] = []
    # An experiment may build on what another one found: plan again until nothing more comes back.
    n_left = -1
    while n_left != len(left):
        n_left = len(left)
        for job in list(asked_like(study, store, left)):
            record = _record(tables[job.name]) if job.name in left else None
            if record is not None and record.key == job.key and record.state is State.DONE:
                left.remove(job.name)
                if _write(store, job, [_trial(row) for row in tables[job.name]["trials"]], record):
                    restored.append(job)
                else:
                    n_there += 1
    return Restored(restored, n_there, len(left))


def _write(store: ResultStore, job: Job, trials: Sequence[Trial], record: Record) -> bool:
    """Write a job's folder, unless someone else has begun it."""
    store.open()
    folder = store.folder(job)
    folder.mkdir(parents=True, exist_ok=True)
    with claim(folder) as mine:
        if mine is None or store.has(job):
            return False
        try:
            store.begin(job)
            for trial in trials:
                store.append(job, trial)
            store.finish(job, record)
        except BaseException:  # half a folder would be taken for a job that someone has begun
            (folder / "job.json").unlink(missing_ok=True)
            raise
    return True


def _names(store: ResultStore) -> list[JobName]:
    """Return the jobs in the tables."""
    return [_name(row) for row in _rows(store, "folds")]


def _read_tables(store: ResultStore, names: Collection[JobName]) -> Mapping[JobName, Rows]:
    """Return the rows of some jobs."""
    jobs: dict[JobName, dict[str, list[Row]]] = {
        name: {table: [] for table in SCHEMAS} for name in names
    }
    for table in SCHEMAS:
        for row in _rows(store, table):
            name = _name(row)
            if name in jobs:
                jobs[name][table].append(row)
    return jobs


def _rows(store: ResultStore, table: str) -> list[Row]:
    try:
        rows: list[Row] = read_arrow(store.root, table).to_pylist()
    except (FileNotUsable, InvalidFile) as error:  # these say how to write tables anew
        raise InvalidFile(
            f"{store.root / 'tables' / table}.parquet is not there, damaged or of another version: "
            f"to restore takes {', '.join(SCHEMAS)}.parquet; --results names another folder"
        ) from error
    return rows


def _name(row: Row) -> JobName:
    return JobName(*(row[field] for field in JobName._fields))


def _record(rows: Rows) -> Record:
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
