"""The Parquet format of choice tasks: plain columns that pandas and DuckDB read as they are.

One row per entry (an object in a task), in order: ``task`` (0, 1, 2, …), ``chosen`` (0 or 1;
a number, because SQL averages numbers and not booleans) and one float column per feature,
``x0``, ``x1``, … Where it is known who chose, ``group`` is the chooser's number; where tasks do not
count alike, ``weight`` is the task's. Where objects
occur in many tasks, repeating their features would cost gigabytes: then the rows carry ``item``
instead, and the features stand once per item in a second file, ``NAME.items.parquet`` beside
``NAME.parquet``. The schema's metadata holds one JSON object under the key ``cschoice``: format
version, kind, the origin of the data as the writer knows it and, for people's tables, their
``encoding``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.io.files import check_regular, replacing
from cschoice.io.large_arrays import closed, room

FORMAT_VERSION = 1
_KEY = b"cschoice"
_ROWS_PER_GROUP = 250_000
_NAMED = ("task", "group", "weight", "item", "chosen")  # the others are features

Progress = Callable[[int], None]


@dataclass(frozen=True)
class TaskColumns:
    """The columns of the file, as arrays; no ``items``: each entry has its own features."""

    kind: str
    task: NDArray[np.int64]
    chosen: NDArray[np.bool_]
    table: NDArray[np.float32]
    items: NDArray[np.int64] | None
    origin: Mapping[str, Any]
    groups: NDArray[np.int64] | None = None  # one per entry, where it is known who chose
    encoding: Mapping[str, Any] | None = None  # of the table that the tasks come from
    weights: NDArray[np.float64] | None = None  # one per entry, where tasks do not count alike

    @property
    def starts(self) -> NDArray[np.int64]:
        """Return where each task's entries start."""
        return np.flatnonzero(np.diff(self.task, prepend=-1))

    def arrays(self) -> dict[str, Any]:
        """Return the arguments of ``ChoiceTasks``; nothing is checked yet."""
        return {
            "table": self.table,
            "items": np.arange(len(self.task)) if self.items is None else self.items,
            "offsets": np.append(self.starts, len(self.task)),
            "chosen": self.chosen,
            "kind": self.kind,
            "groups": None if self.groups is None else self.groups[self.starts],
            "encoding": self.encoding,
            "weights": None if self.weights is None else self.weights[self.starts],
        }


def items_path(path: Path) -> Path:
    """Return where the features of shared items stand for the tasks in ``path``."""
    return path.with_suffix(".items.parquet")


def write(path: Path, columns: TaskColumns, progress: Progress | None = None) -> None:
    """Write the file, or both files, whole or not at all; ``progress`` is told rows written."""
    if columns.items is None:
        with replacing(path) as (temporary,):
            _write_table(temporary, _entries(columns), columns, progress)
        _remove_old_items(items_path(path))
    else:
        with replacing(items_path(path), path) as (items_temporary, temporary):
            _write_table(items_temporary, _features(columns.table), columns, None)
            _write_table(temporary, _entries(columns), columns, progress)


def _remove_old_items(path: Path) -> None:
    """Remove the items of an older version of the file, if cschoice wrote them."""
    if path.exists():
        try:
            _open(path)
        except (InvalidFile, FileNotUsable):
            return
        path.unlink()


def read(path: Path) -> TaskColumns:
    """Read a file that ``write`` wrote; refuse any other with the reason."""
    file, about = _open(path)
    if "item" in file.schema_arrow.names:
        beside = items_path(path)
        features, about_items = _open(beside)
        if about_items != about:
            raise InvalidFile(f"{beside} does not belong to {path}: generate both again")
        table, items = _feature_matrix(features, beside), _column(file, "item", path, "iu")
    else:
        table, items = _feature_matrix(file, path), None
    chosen = _column(file, "chosen", path, "iub")
    if not np.isin(chosen, (0, 1)).all():
        raise _damaged(path, "chosen has values other than 0 and 1")
    names = file.schema_arrow.names
    groups = _column(file, "group", path, "iu") if "group" in names else None
    weights = _column(file, "weight", path, "iuf") if "weight" in names else None
    columns = TaskColumns(
        kind=about["kind"],
        task=_column(file, "task", path, "iu").astype(np.int64),
        chosen=chosen.astype(np.bool_),
        table=table,
        items=None if items is None else items.astype(np.int64),
        groups=None if groups is None else groups.astype(np.int64),
        origin=about["origin"],
        encoding=about["encoding"],
        weights=None if weights is None else weights.astype(np.float64),
    )
    numbers = columns.task[columns.starts]
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise InvalidFile(f"{path} is damaged (task numbers are not 0, 1, 2, …)")
    return columns


def _entries(columns: TaskColumns) -> dict[str, NDArray[Any]]:
    first: dict[str, NDArray[Any]] = {"task": columns.task}
    if columns.groups is not None:
        first["group"] = columns.groups
    if columns.weights is not None:
        first["weight"] = columns.weights
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
    if columns.encoding is not None:
        about["encoding"] = dict(columns.encoding)
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
        write_page_checksum=True,
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
        check_regular(path)
        file = pq.ParquetFile(path, page_checksum_verification=True)
        metadata = (file.schema_arrow.metadata or {}).get(_KEY)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        raise InvalidFile(
            f"{path} is not a complete Parquet file ({reason}): generate it again"
        ) from error
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    if metadata is None:
        raise InvalidFile(
            f"{path} is a Parquet file that cschoice did not write (no 'cschoice' entry in its "
            "metadata): allowed are files made by 'cschoice generate' or ChoiceTasks.to_parquet"
        )
    return file, _about(path, metadata)


def _about(path: Path, metadata: bytes) -> dict[str, Any]:
    """Return kind and origin from the metadata, after checking them."""
    try:
        about = json.loads(metadata)
        version = about["version"]
        if type(version) is int and version > FORMAT_VERSION:  # the rest may be anything
            raise InvalidFile(
                f"{path} has format version {version}, this cschoice reads up to "
                f"{FORMAT_VERSION}: install a newer cschoice"
            )
        kind, origin = about["kind"], about["origin"]
        encoding = about.get("encoding")
    except (ValueError, TypeError, KeyError) as error:
        raise _damaged(path, f"metadata without {error}") from error
    if type(version) is not int or version < 1:
        raise _damaged(path, f"format version {version!r}")
    if not (
        isinstance(kind, str) and isinstance(origin, dict) and isinstance(encoding, dict | None)
    ):
        raise _damaged(path, "metadata of other types")
    return {"kind": kind, "origin": origin, "encoding": encoding}


def _feature_matrix(file: Any, path: Path) -> NDArray[np.float32]:
    """Read the columns x0, x1, …, which must be all columns but the named ones."""
    names = [name for name in file.schema_arrow.names if name not in _NAMED]
    if not names or names != [f"x{k}" for k in range(len(names))]:
        raise _damaged(path, f"features must be x0, x1, …, got {', '.join(names) or 'none'}")
    table = room((max(0, file.metadata.num_rows), len(names)), np.float32)
    for k, name in enumerate(names):
        table[:, k] = _column(file, name, path, "f")
    return closed(table)


def _column(file: Any, name: str, path: Path, kinds: str) -> NDArray[Any]:
    """Read one column of these kinds of numbers, none of them missing."""
    import pyarrow as pa

    try:
        column = file.read(columns=[name]).column(name)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise _damaged(path, str(error).splitlines()[0]) from error
    if len(column) != file.metadata.num_rows:
        raise _damaged(path, f"{len(column)} of {file.metadata.num_rows} values of {name}")
    if column.null_count:
        raise _damaged(path, f"{column.null_count} values of {name} are missing")
    values: NDArray[Any] = column.to_numpy()
    if values.dtype.kind not in kinds:
        raise _damaged(path, f"{name} is of type {column.type}")
    return values


def _damaged(path: Path, why: str) -> InvalidFile:
    return InvalidFile(f"{path} is damaged ({why}): generate it again")
