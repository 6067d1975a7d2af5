"""Files and data frames to Arrow tables: columnar, and only the columns that are needed."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import os
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cschoice.errors import FileNotUsable, InvalidFile, InvalidTable
from cschoice.tasks.frames.columns import Table
from cschoice.tasks.frames.description import Description

_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_SEPARATORS = (",", ";", "\t")


def read_table(source: Any, description: Description, learning: bool = True) -> Table:
    """Return the needed columns of a CSV file, a Parquet file or a pandas data frame."""
    return Table(_read(source, description, learning))


def _read(source: Any, description: Description, learning: bool) -> Any:
    if not isinstance(source, str | os.PathLike):
        return _from_frame(source, description, learning)
    path = Path(source)
    with _explained(path):
        with path.open("rb") as file:
            start = file.read(4)
        if start == b"PAR1":
            return _from_parquet(path, description, learning)
        if start == b"PK\x03\x04":
            raise InvalidFile(f"{path} is a zip archive or an Excel file: save it as CSV")
        return _from_csv(path, description, learning)


def _from_csv(path: Path, description: Description, learning: bool) -> Any:
    import pyarrow.csv as pacsv

    with _opened(path) as file:
        head = file.readline().decode("utf-8-sig").rstrip("\r\n")
    # Spreadsheets of half the world write semicolons, statistics packages tabs.
    separator = max(_SEPARATORS, key=head.count)
    names = next(csv.reader([head], delimiter=separator), [])
    wanted = _unambiguous(description.columns(names, learning), names)
    with _opened(path) as file:
        return _usable(
            pacsv.read_csv(
                file,
                parse_options=pacsv.ParseOptions(delimiter=separator, newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(
                    include_columns=wanted, strings_can_be_null=True
                ),
            )
        )


def _from_parquet(path: Path, description: Description, learning: bool) -> Any:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    wanted = _unambiguous(description.columns(names, learning), names)
    return _usable(file.read(columns=wanted))


def _from_frame(frame: Any, description: Description, learning: bool) -> Any:
    import pyarrow as pa

    names = [str(name) for name in frame.columns]
    wanted = _unambiguous(description.columns(names, learning), names)
    return _usable(
        pa.table({name: _from_series(frame.iloc[:, names.index(name)]) for name in wanted})
    )


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


def _unambiguous(wanted: list[str], names: Sequence[str]) -> list[str]:
    twice = [name for name in wanted if names.count(name) > 1]
    if twice:
        raise InvalidTable([f"the table has more than one column '{name}'" for name in twice])
    return wanted


def _usable(table: Any) -> Any:
    import pyarrow as pa

    if not table.num_rows:
        raise InvalidTable(["the table has no rows"])
    for field in table.schema:
        if pa.types.is_binary(field.type) or pa.types.is_nested(field.type):
            raise InvalidTable([f"column '{field.name}' holds neither numbers nor UTF-8 text"])
    return table


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with _COMPRESSED.get(path.suffix.lower(), open)(path, "rb") as file:
        yield file


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn a library's error about an unreadable file into one line that names the file."""
    import pyarrow as pa

    try:
        yield
    except (InvalidTable, InvalidFile):
        raise
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path} is not UTF-8 text: save it as CSV in UTF-8") from error
    except (pa.ArrowException, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).split())[:200]
        raise InvalidFile(f"{path} cannot be read as a table: {reason}") from error
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
