"""Files and data frames to Arrow tables: columnar, and only the columns that are needed."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cschoice.errors import InvalidFile, InvalidTable
from cschoice.io.files import check_regular
from cschoice.tasks.frames.columns import Table
from cschoice.tasks.frames.csv_files import open_csv
from cschoice.tasks.frames.description import SVMLIGHT, Description
from cschoice.tasks.frames.names import kept_rows
from cschoice.tasks.frames.svmlight import open_svmlight
from cschoice.tasks.frames.unpacking import explained


@dataclass(frozen=True)
class Opened:
    """A table before it is read: the names of its columns, and how to get some of them.

    ``load`` is told which columns, and which of these are read as numbers of 4 bytes if they can.
    """

    names: list[str]
    load: Callable[[list[str], frozenset[str]], Any]

    def read(self, description: Description, learning: bool = True) -> Table:
        """Return the columns that a description needs."""
        wanted = description.columns(self.names, learning)
        twice = [name for name in wanted if self.names.count(name) > 1]
        if twice:
            raise InvalidTable([f"the table has more than one column '{name}'" for name in twice])
        table = Table(_usable(self.load(wanted, description.measured)))
        return table if description.keep is None else kept_rows(table, description)


def opened(source: Any, description: Description) -> Opened:
    """Open a CSV, Parquet or svmlight file or a pandas data frame."""
    if not isinstance(source, str | os.PathLike):
        return _open_frame(source)
    path = Path(source)
    with explained(path):
        check_regular(path)
        with path.open("rb") as file:
            start = file.read(4)
        if start == b"PAR1":
            return _open_parquet(path)
        if start == b"PK\x03\x04":
            raise InvalidFile(f"{path} is a zip archive or an Excel file: save it as CSV")
        if description.format == SVMLIGHT:
            return Opened(*open_svmlight(path, list(description.features)))
        return Opened(*open_csv(path))


def _open_parquet(path: Path) -> Opened:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)

    def load(wanted: Sequence[str], measured: frozenset[str]) -> Any:
        with explained(path):
            schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
            for k, field in enumerate(schema):
                if field.name in measured and _is_number(field.type):
                    schema = schema.set(k, pa.field(field.name, pa.float32()))
            batches = file.iter_batches(columns=list(wanted))
            return pa.Table.from_batches(
                (batch.select(wanted).cast(schema, safe=False) for batch in batches), schema
            )

    return Opened(file.schema_arrow.names, load)


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _open_frame(frame: Any) -> Opened:
    import pyarrow as pa

    names = [str(name) for name in frame.columns]

    def load(wanted: Sequence[str], measured: frozenset[str]) -> Any:  # noqa: ARG001
        return pa.table({name: _from_series(frame.iloc[:, names.index(name)]) for name in wanted})

    return Opened(names, load)


def _from_series(series: Any) -> Any:
    """Return a column; one of mixed types becomes text, whose words are checked later."""
    import pyarrow as pa

    try:
        return pa.array(series, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        missing = series.isna()
        return pa.array(
            [None if gone else str(value) for value, gone in zip(series, missing, strict=True)],
            type=pa.string(),
        )


def _usable(table: Any) -> Any:
    import pyarrow as pa

    if not table.num_rows:
        raise InvalidTable(["the table has no rows"])
    for field in table.schema:
        if pa.types.is_binary(field.type) or pa.types.is_nested(field.type):
            raise InvalidTable([f"column '{field.name}' holds neither numbers nor UTF-8 text"])
    return table
