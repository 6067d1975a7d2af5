"""The Parquet format of choice tasks: plain columns that pandas and DuckDB read as they are.

One row per entry (an object in a task), in order: ``task`` (0, 1, 2, …), ``chosen`` (0 or 1;
a number, because SQL averages numbers and not booleans) and one float column per feature,
``x0``, ``x1``, … Where objects occur in many tasks, repeating their features would cost
gigabytes: then the rows carry ``item`` instead, and the features stand once per item in a second
file, ``NAME.items.parquet`` beside ``NAME.parquet``. The schema's metadata holds one JSON object
under the key ``cschoice``: format version, kind, and what the writer says of the data's origin.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT_VERSION = 1
_KEY = b"cschoice"
_ROWS_PER_GROUP = 250_000

Progress = Callable[[int], None]


@dataclass(frozen=True)
class TaskColumns:
    """What the file holds, as arrays; ``items`` is None where each entry has its own features."""

    kind: str
    task: NDArray[np.int64]
    chosen: NDArray[np.bool_]
    table: NDArray[np.float32]
    items: NDArray[np.int64] | None
    origin: Mapping[str, Any]


def items_path(path: Path) -> Path:
    """Return where the features of shared items stand for the tasks in ``path``."""
    return path.with_suffix(".items.parquet")


def write(path: Path, columns: TaskColumns, progress: Progress | None = None) -> None:
    """Write the file, or both files, whole or not at all; ``progress`` is told rows written."""
    if columns.items is None:
        with replacing(path) as (temporary,):
            _write_table(temporary, _entries(columns), columns, progress)
        # An older version of this file may have had shared items.
        items_path(path).unlink(missing_ok=True)
    else:
        with replacing(items_path(path), path) as (items_temporary, temporary):
            _write_table(items_temporary, _features(columns.table), columns, None)
            _write_table(temporary, _entries(columns), columns, progress)


def read(path: Path) -> TaskColumns:
    """Read what ``write`` wrote; refuse anything else, saying why."""
    file, metadata = _open(path)
    names = file.schema_arrow.names
    if "item" in names:
        table = _feature_matrix(*_open(items_path(path))[:1], items_path(path))
        items = _column(file, "item", path).astype(np.int64)
    else:
        table, items = _feature_matrix(file, path), None
    return TaskColumns(
        kind=str(metadata["kind"]),
        task=_column(file, "task", path).astype(np.int64),
        chosen=_column(file, "chosen", path).astype(np.bool_),
        table=table,
        items=items,
        origin=dict(metadata.get("origin", {})),
    )


def _entries(columns: TaskColumns) -> dict[str, NDArray[Any]]:
    first = {"task": columns.task}
    chosen = {"chosen": columns.chosen.astype(np.int8)}
    if columns.items is None:
        return first | chosen | _features(columns.table)
    return first | {"item": columns.items} | chosen


def _features(table: NDArray[np.float32]) -> dict[str, NDArray[Any]]:
    return {f"x{k}": table[:, k] for k in range(table.shape[1])}


def _write_table(
    path: Path, arrays: Mapping[str, NDArray[Any]], columns: TaskColumns, progress: Progress | None
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    about = {"version": FORMAT_VERSION, "kind": columns.kind, "origin": dict(columns.origin)}
    schema = pa.schema(
        [(name, pa.from_numpy_dtype(array.dtype)) for name, array in arrays.items()],
        metadata={_KEY: json.dumps(about, sort_keys=True).encode()},
    )
    floats = {name: "BYTE_STREAM_SPLIT" for name in arrays if name.startswith("x")}
    n_rows = len(next(iter(arrays.values())))
    with pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[name for name in arrays if name not in floats],
        column_encoding=floats,
    ) as writer:
        for start in range(0, n_rows, _ROWS_PER_GROUP):
            stop = min(start + _ROWS_PER_GROUP, n_rows)
            group = [pa.array(np.ascontiguousarray(array[start:stop])) for array in arrays.values()]
            writer.write_table(pa.Table.from_arrays(group, schema=schema))
            if progress is not None:
                progress(stop - start)


def _open(path: Path) -> tuple[Any, dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise InvalidFile(
            f"{path} is not a complete Parquet file ({reason}): generate it again"
        ) from error
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    metadata = (file.schema_arrow.metadata or {}).get(_KEY)
    if metadata is None:
        raise InvalidFile(
            f"{path} is a Parquet file that cschoice did not write (no 'cschoice' entry in its "
            "metadata): allowed are files made by 'cschoice generate' or ChoiceTasks.to_parquet"
        )
    about: dict[str, Any] = json.loads(metadata)
    if about["version"] > FORMAT_VERSION:
        raise InvalidFile(
            f"{path} has format version {about['version']}, this cschoice reads up to "
            f"{FORMAT_VERSION}: install a newer cschoice"
        )
    return file, about


def _column(file: Any, name: str, path: Path) -> NDArray[Any]:
    return _columns(file, [name], path)[name]


def _feature_matrix(file: Any, path: Path) -> NDArray[np.float32]:
    names = [name for name in file.schema_arrow.names if name.startswith("x")]
    table = np.empty((file.metadata.num_rows, len(names)), dtype=np.float32)
    for k, name in enumerate(names):
        table[:, k] = _column(file, name, path)
    return table


def _columns(file: Any, names: list[str], path: Path) -> dict[str, NDArray[Any]]:
    import pyarrow as pa

    try:
        read: pa.Table = file.read(columns=names)
        return {name: read.column(name).to_numpy() for name in names}
    except (pa.ArrowException, OSError, KeyError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidFile(f"{path} is damaged ({reason}): generate it again") from error
