"""Run folders to tables, and nothing lost that only the tables have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from cschoice.errors import CschoiceError, InvalidFile
from cschoice.runs.records import Job, JobName
from cschoice.runs.store import ResultStore
from cschoice.runs.tables import FOLDER, SCHEMAS, Row, StoredTables, rows_of, write


class Collected(NamedTuple):
    """The numbers of rows in the tables, and of jobs that only the tables have."""

    n_rows: Mapping[str, int]
    n_kept: int


def collect(store: ResultStore, jobs: Iterable[Job]) -> Collected:
    """Write the tables of these jobs.

    Jobs that are not finished have no rows. Rows of earlier tables stay where no run folder can
    make them again, until a newer result of the same job takes their place.
    """
    rows: dict[JobName, Mapping[str, Sequence[Row]]] = {}
    damaged: list[str] = []
    for job in jobs:
        record = store.record(job)
        if record is None:
            continue
        try:
            trials = store.trials(job)
        except InvalidFile as error:
            damaged.append(str(error))
            trials = []
        rows[job.name] = rows_of(job, record, trials)
    kept = _only_in_tables(store, rows)
    rows |= kept
    ordered = sorted(rows, key=lambda name: (name.profile, name.experiment, name.label))
    content = {table: [row for name in ordered for row in rows[name][table]] for table in SCHEMAS}
    write(store.root, content)
    if damaged:
        raise InvalidFile(f"{'; '.join(damaged)}: the tables were written without these trials")
    return Collected({table: len(content[table]) for table in SCHEMAS}, len(kept))


def check_tables(store: ResultStore) -> None:
    """Refuse to go on where new tables would lose rows of old ones that cannot be read."""
    _only_in_tables(store, {})


def _only_in_tables(
    store: ResultStore, collected: Mapping[JobName, object]
) -> dict[JobName, dict[str, list[Row]]]:
    """Return the rows of jobs without a newer result and without a folder to make them from."""
    tables = StoredTables(store.root)
    if not tables.exist:
        return {}
    try:
        names = [
            name
            for name, key in _keys(tables).items()
            if name not in collected and not store.can_give(name, key)
        ]
        return {name: tables.rows(name) for name in names}
    except CschoiceError as error:
        folder = store.root / FOLDER
        raise InvalidFile(
            f"{error}. New tables would lose the rows of jobs that have no run folder: bring the "
            f"file back (from git or a copy), or move {folder} away to do without them"
        ) from error


def _keys(tables: StoredTables) -> dict[JobName, str | None]:
    """Return the jobs in the tables with their keys; with None where the keys cannot be read."""
    try:
        return {name: rows[0]["key"] for name, rows in tables.by_job("folds").items()}
    except CschoiceError:
        others = [name for name in SCHEMAS if name != "folds"]
        return {name: None for table in others for name in tables.by_job(table)}
