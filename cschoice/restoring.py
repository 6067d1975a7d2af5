"""Parquet tables to run folders: go on with a study of which only the tables are at hand.

Everything that planning and tables need comes back; models and predictions are not in tables.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from cschoice.claims import claim
from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.pipeline import asked_like
from cschoice.records import Curve, Job, JobName, Record, Rung, State, Trial, TrialState
from cschoice.store import ResultStore
from cschoice.study import Study
from cschoice.tables import SCHEMAS, read_arrow

Row = dict[str, Any]
Rows = Mapping[str, Sequence[Row]]  # of one job, by the name of their table


def restore(study: Study, store: ResultStore, but: Collection[Job] = ()) -> Counter[str]:
    """Write the folders of jobs that the tables have and the runs have not.

    The key tells whether rows are of exactly what the study asks for. Returns how many jobs of
    the tables were "restored", were "there" already, or are neither: "other".
    """
    tables = _read_tables(store)
    store.open()
    counts: Counter[str] = Counter()
    left = set(tables) - {job.name for job in but}
    # An experiment may build on what another one found: plan again until nothing more comes back.
    n_left = -1
    while n_left != len(left):
        n_left = len(left)
        for job in list(asked_like(study, store, left)):
            record = _record(tables[job.name]) if job.name in left else None
            if record is not None and record.key == job.key and record.state is State.DONE:
                trials = [_trial(row) for row in tables[job.name]["trials"]]
                counts["restored" if _write(store, job, trials, record) else "there"] += 1
                left.remove(job.name)
    counts["other"] = len(left)
    return counts


def _write(store: ResultStore, job: Job, trials: Sequence[Trial], record: Record) -> bool:
    """Write a job's folder, unless someone else has begun it: files know more than rows."""
    folder = store.folder(job)
    folder.mkdir(parents=True, exist_ok=True)
    with claim(folder) as mine:
        if mine is None or (folder / "job.json").exists():
            return False
        store.begin(job)
        for trial in trials:
            store.append(job, trial)
        store.finish(job, record)
    return True


def _read_tables(store: ResultStore) -> Mapping[JobName, Rows]:
    """Return the rows of every job in the tables."""
    jobs: dict[JobName, dict[str, list[Row]]] = {}
    for table in SCHEMAS:
        try:
            rows = read_arrow(store.root, table).to_pylist()
        except (FileNotUsable, InvalidFile) as error:  # these say how to write tables anew
            raise InvalidFile(
                f"{store.root / 'tables' / table}.parquet is not there or damaged: to restore "
                f"takes {', '.join(SCHEMAS)}.parquet; --results names another folder"
            ) from error
        for row in rows:
            name = JobName(*(row.pop(field) for field in JobName._fields))
            if table == "folds":
                jobs[name] = {one: [] for one in SCHEMAS}
            if name in jobs:
                jobs[name][table].append(row)
    return jobs


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
