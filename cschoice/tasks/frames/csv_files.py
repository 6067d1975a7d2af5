"""CSV files, block by block: of large ones only the needed columns are ever in memory.

The type of a column follows from the first block. Where a later one has other values, the column
gets a wider type (whole numbers, numbers, text) and the file is read again.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cschoice.errors import InvalidFile
from cschoice.tasks.frames.unpacking import explained, unpacked

_SEPARATORS = (",", ";", "\t")
_BLOCK = 4 << 20  # bytes
_LONGEST_LINE = 16 << 20
_COLUMN = re.compile(r"CSV column #(\d+):.*CSV conversion error")
_DECIMAL_COMMA = r"^[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?$"

Types = dict[str, Any]


def open_csv(
    path: Path,
) -> tuple[list[str], Callable[[Sequence[str], frozenset[str]], Any]]:
    """Return the names of the columns, and how to read some of them; see ``Opened``."""
    with unpacked(path) as file:
        start = file.readline(_LONGEST_LINE).decode("utf-8-sig")
    # Lines end as each system writes them, old ones by \r alone: then this was not one line.
    head = re.split(r"[\r\n]", start, maxsplit=1)[0]
    # Spreadsheets of half the world write semicolons, statistics packages tabs.
    separator = max(_SEPARATORS, key=head.count)
    try:
        names = next(csv.reader([head], delimiter=separator), [])
    except csv.Error as error:
        raise InvalidFile(f"{path} has no line of column names: {error}") from error

    def load(wanted: Sequence[str], measured: frozenset[str]) -> Any:
        with explained(path):
            table = _read(path, separator, names, list(wanted), measured)
        return table if separator == "," else _with_decimal_commas(table, measured)

    return names, load


def _read(
    path: Path, separator: str, names: list[str], wanted: list[str], measured: frozenset[str]
) -> Any:
    import pyarrow as pa

    with unpacked(path) as file, _reader(file, separator, wanted, {}) as reader:
        types = {
            field.name: pa.float32()
            for field in reader.schema
            if field.name in measured and _could_be_numbers(field.type)
        }
    while True:
        try:
            with unpacked(path) as file, _reader(file, separator, wanted, types) as reader:
                types = {field.name: field.type for field in reader.schema}
                return pa.Table.from_batches(reader, reader.schema)
        except pa.ArrowInvalid as error:
            found = _COLUMN.search(str(error))
            name = names[int(found[1])] if found else ""
            if name not in types or pa.types.is_string(types[name]):
                raise
            integer = pa.types.is_integer(types[name])
            types[name] = pa.float64() if integer else pa.string()


def _reader(file: Any, separator: str, wanted: list[str], types: Types) -> Any:
    import pyarrow.csv as pacsv

    return pacsv.open_csv(
        file,
        pacsv.ReadOptions(block_size=_BLOCK),
        pacsv.ParseOptions(delimiter=separator, newlines_in_values=True),
        pacsv.ConvertOptions(include_columns=wanted, column_types=types, strings_can_be_null=True),
    )


def _could_be_numbers(kind: Any) -> bool:
    """Tell whether a column looks like numbers, or is empty so far."""
    import pyarrow as pa

    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_number or pa.types.is_null(kind))


def _with_decimal_commas(table: Any, measured: frozenset[str]) -> Any:
    """Read texts such as 1,5 as numbers, as they are meant where a comma separates nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for k, field in enumerate(table.schema):
        if field.name not in measured or not pa.types.is_string(field.type):
            continue
        text = pc.utf8_trim_whitespace(table[field.name])
        if pc.all(pc.match_substring_regex(text, _DECIMAL_COMMA)).as_py():
            numbers = pc.cast(pc.replace_substring(text, ",", "."), pa.float32())
            table = table.set_column(k, field.name, numbers)
    return table
