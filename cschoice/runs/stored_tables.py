"""The tables of a results folder by job; results in them outlive run folders."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cschoice.errors import CschoiceError, InvalidFile
from cschoice.runs.records import JobName, Record, State
from cschoice.runs.table_checksums import checksum_of_all
from cschoice.runs.tables import FOLDER, SCHEMAS, Row, read_arrow, record_of

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


class StoredTables:
    """The tables of a results folder, each read when it is first asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.damage = ""  # why they could not be read, if so
        self._tables: dict[str, pa.Table] = {}
        self._numbers: dict[str, Mapping[JobName, NDArray[np.int64]]] = {}

    @property
    def exist(self) -> bool:
        """Return whether there are any."""
        return any((self.root / FOLDER / f"{name}.parquet").exists() for name in SCHEMAS)

    def check(self) -> None:
        """Refuse tables of which one is missing, damaged or not of the others."""
        for name in SCHEMAS:
            self.table(name)

    @cached_property
    def done(self) -> dict[JobName, str]:
        """Return the key of every job that the tables say is done; none if they cannot be read."""
        try:
            keys = self.keys() if self.exist else {}
        except CschoiceError as error:
            self.damage = str(error)
            return {}
        return {name: key for name, (key, state) in keys.items() if state == State.DONE}

    def keys(self) -> dict[JobName, tuple[str, str]]:
        """Return the key and the state of every job."""
        rows = self.table("folds").select([*JobName._fields, "key", "state"]).to_pydict().values()
        return {JobName(*name): (key, state) for *name, key, state in zip(*rows, strict=True)}

    def checksum(self) -> str | None:
        """Return the checksum of all tables, after verifying them; None if they have none."""
        self.check()
        return checksum_of_all(self.table("folds").schema)

    def record(self, name: JobName) -> Record:
        """Return the record of a job that is in the tables."""
        return record_of(self.rows(name))

    def rows(self, name: JobName) -> dict[str, list[Row]]:
        """Return the rows of a job in all tables."""
        found: dict[str, list[Row]] = {}
        for table in SCHEMAS:
            numbers = self._numbers_of(table).get(name)
            found[table] = [] if numbers is None else self.table(table).take(numbers).to_pylist()
        return found

    def names(self, table: str) -> Collection[JobName]:
        """Return the jobs that have rows in a table, which may be the only one that is intact."""
        return _grouped(self._read(table, alone=True)).keys()

    def table(self, name: str) -> pa.Table:
        """Return a table as it is in its file."""
        if name not in self._tables:
            self._tables[name] = self._read(name)
        return self._tables[name]

    def _read(self, name: str, *, alone: bool = False) -> pa.Table:
        table = read_arrow(self.root, name, alone=alone)
        columns = [column for column, _ in SCHEMAS[name]]
        if missing := [column for column in columns if column not in table.column_names]:
            path = self.root / FOLDER / f"{name}.parquet"
            raise InvalidFile(f"{path} has no column {', '.join(missing)}")
        return table.select(columns)

    def _numbers_of(self, table: str) -> Mapping[JobName, NDArray[np.int64]]:
        """Return the numbers of the rows of each job."""
        if table not in self._numbers:
            self._numbers[table] = _grouped(self.table(table))
        return self._numbers[table]


def positions(table: pa.Table, names: Sequence[JobName | None]) -> NDArray[np.float64]:
    """Return the place of each row's job among the names; NaN for other jobs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    labels = pa.array([None if name is None else _label(name) for name in names], pa.string())
    found: NDArray[np.float64] = pc.index_in(_labels(table), value_set=labels).to_numpy()
    return found.astype(float)


def _grouped(table: pa.Table) -> dict[JobName, NDArray[np.int64]]:
    """Return the numbers of the rows of each job, in order."""
    import numpy as np
    import pyarrow as pa

    encoded = pa.array(_labels(table).to_pylist(), pa.string()).dictionary_encode()
    codes = encoded.indices.to_numpy()
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    names = [_name(label) for label in encoded.dictionary.to_pylist()]
    return dict(zip(names, np.split(order, ends[:-1]), strict=True)) if names else {}


def _labels(table: pa.Table) -> Any:
    """Return the label of each row's job."""
    import pyarrow.compute as pc

    parts = [pc.fill_null(table[field].cast("string"), "") for field in JobName._fields]
    return pc.binary_join_element_wise(*parts, "\n")


def _label(name: JobName) -> str:
    return "\n".join(str(part) for part in name)


def _name(label: str) -> JobName:
    profile, experiment, dataset, learner, fold = label.split("\n")
    return JobName(profile, experiment, dataset, learner, int(fold))
