"""Run folders to tables, and nothing lost that only the tables have."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cschoice.errors import CschoiceError, InvalidFile
from cschoice.io.documents import seal, unseal
from cschoice.io.files import read_regular, replacing
from cschoice.runs.records import Job, JobName
from cschoice.runs.store import ResultStore
from cschoice.runs.stored_tables import StoredTables, positions
from cschoice.runs.tables import FOLDER, SCHEMAS, Row, as_table, rows_of, write

if TYPE_CHECKING:
    import pyarrow as pa


INDEX = "index.json"  # beside the tables' folder; nothing is lost with it but time


class Collected(NamedTuple):
    """The numbers of rows in the tables, and of jobs that only the tables have."""

    n_rows: Mapping[str, int]
    n_kept: int


def collect(store: ResultStore, jobs: Iterable[Job]) -> Collected:
    """Write the tables of these jobs.

    Jobs that are not finished have no rows. Rows of earlier tables stay where no run folder can
    make them again, until a newer result of the same job takes their place; and, to save time,
    where the index says that they were made of the record in the run folder.
    """
    tables = StoredTables(store.root)
    index = _read_index(store, tables)
    old: set[JobName] = set()
    new: dict[JobName, Mapping[str, Sequence[Row]]] = {}
    for job in jobs:
        if not store.can_give(job.name, job.key):
            continue
        if index.get(_label(job.name)) == store.checksum(job.name):
            old.add(job.name)
        elif result := store.result(job):
            new[job.name] = rows_of(job, *result)
    kept = _only_in_tables(store, {*old, *new})
    old |= kept
    names = sorted({*old, *new}, key=lambda name: (name.profile, name.experiment, name.label))
    content: dict[str, pa.Table] = {}
    for table in SCHEMAS:
        fresh = as_table(table, [row for rows in new.values() for row in rows[table]])
        parts = [(tables.table(table), old)] if old else []
        content[table] = _in_order([*parts, (fresh, set(new))], names)
    write(store.root, content)
    store.forget_tables()
    _write_index(store, {*names} - kept)
    return Collected({table: len(content[table]) for table in SCHEMAS}, len(kept))


def check_tables(store: ResultStore) -> None:
    """Refuse to go on where new tables would lose rows of old ones that cannot be read."""
    _only_in_tables(store, {})


def _in_order(
    parts: Sequence[tuple[pa.Table, Collection[JobName]]], names: Sequence[JobName]
) -> pa.Table:
    """Return the rows of these jobs in each part, sorted as their names are."""
    import numpy as np
    import pyarrow as pa

    chosen, places = [], []
    for table, wanted in parts:
        place = positions(table, [name if name in wanted else None for name in names])
        numbers = np.flatnonzero(place >= 0)
        chosen.append(table.take(numbers))
        places.append(place[numbers])
    order = np.argsort(np.concatenate(places), kind="stable")
    return pa.concat_tables(chosen).take(order).combine_chunks()


def _read_index(store: ResultStore, tables: StoredTables) -> dict[str, str]:
    """Return the checksums of the records that the tables were made of; none in doubt."""
    try:
        index = unseal(read_regular(store.root / INDEX), store.root / INDEX)
        return dict(index["records"]) if index["tables"] == tables.checksum() else {}
    except (OSError, CschoiceError, LookupError, TypeError, ValueError):
        return {}


def _write_index(store: ResultStore, names: Iterable[JobName]) -> None:
    """Remember the checksums of the records that the tables were made of."""
    records = {_label(name): store.checksum(name) for name in names}
    text = seal({"tables": store.tables.checksum(), "records": records})
    with replacing(store.root / INDEX) as (temporary,):
        temporary.write_text(text + "\n", encoding="utf-8")


def _label(name: JobName) -> str:
    return f"{name.profile}/{name.experiment}/{name.label}"


def _only_in_tables(store: ResultStore, collected: Collection[JobName]) -> set[JobName]:
    """Return the jobs without a newer result and without a folder to make their rows from."""
    tables = StoredTables(store.root)
    if not tables.exist:
        return set()
    try:
        names = {
            name
            for name, key in _keys(tables).items()
            if name not in collected and not store.can_give(name, key)
        }
        if names:
            tables.check()
    except CschoiceError as error:
        folder = store.root / FOLDER
        raise InvalidFile(
            f"{error}. New tables would lose the rows of jobs that have no run folder: bring the "
            f"file back (from git or a copy), or move {folder} away to do without them"
        ) from error
    return names


def _keys(tables: StoredTables) -> dict[JobName, str | None]:
    """Return the jobs in the tables with their keys; with None where the keys cannot be read."""
    try:
        return {name: key for name, (key, _) in tables.keys().items()}
    except CschoiceError as error:
        found: dict[JobName, str | None] = {}
        n_readable = 0
        for table in SCHEMAS:
            try:
                found |= dict.fromkeys(tables.names(table))
                n_readable += 1
            except CschoiceError:
                continue
        if not n_readable:
            raise error
        return found
