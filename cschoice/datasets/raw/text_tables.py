"""Large text tables, read by column in bounded memory; errors name the line.

pyarrow reads fast, but its errors hardly locate a mistake: then the file is read again line by
line, slowly, up to the wrong line.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.files import RawFile
from cschoice.errors import DamagedData

Batch = dict[str, NDArray[Any]]
Row = dict[str, Any]
Problem = Callable[[Row], str | None]  # describes the mistake in a row, if it has one

_BYTES_AT_ONCE = 8 * 2**20


@dataclass(frozen=True)
class TableFile:
    """A text file with one row per line, and those of its columns that are wanted."""

    file: RawFile
    columns: Mapping[str, type]  # int, float or str
    names: Sequence[str] = ()  # of all columns; none: they stand in the first line
    delimiter: str = ","
    quote: str | None = '"'
    missing: Sequence[str] = ()  # texts that stand for a missing float

    def batches(self) -> Iterator[Batch]:
        """Yield some thousand rows at a time, column by column; missing numbers are NaN."""
        header, n_skipped = self._layout()
        with self.file.open() as stream:
            reader = self._reader(stream, header, n_skipped)
            while (batch := self._next(reader)) is not None:
                yield batch

    def first_error(self, problem: Problem | None = None) -> DamagedData:
        """Return the error for the first line that cannot be read, or has a ``problem``."""
        try:
            for line, row in self._rows():
                if problem and (mistake := problem(row)):
                    return self.file.malformed(line, mistake)
        except DamagedData as error:
            return error
        return DamagedData(f"{self.file} cannot be read: it must be UTF-8 text without NUL")

    def _layout(self) -> tuple[list[str], int]:
        """Return the names of all columns, and how many lines stand before the first row."""
        line, words = next(self._lines(), (0, []))
        if not line:
            raise DamagedData(f"{self.file} is empty: get it again")
        if not self.names:
            lacking = [name for name in self.columns if name not in words]
            if lacking:
                raise self.file.malformed(line, f"no column {', '.join(lacking)}")
            return words, line
        # Some copies have a line of names all the same.
        return list(self.names), line if words[0][:1].isalpha() else 0

    def _reader(self, stream: Any, header: list[str], n_skipped: int) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow

        types = {int: pa.int64(), float: pa.float32(), str: pa.string()}
        try:
            return arrow.open_csv(
                stream,
                arrow.ReadOptions(
                    block_size=_BYTES_AT_ONCE, column_names=header, skip_rows=n_skipped
                ),
                arrow.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char=self.quote or False,
                    newlines_in_values=str in self.columns.values(),  # slower: only in texts
                ),
                arrow.ConvertOptions(
                    column_types={name: types[kind] for name, kind in self.columns.items()},
                    include_columns=list(self.columns),
                    null_values=list(self.missing),
                ),
            )
        except pa.ArrowInvalid as error:
            raise self.first_error() from error

    def _next(self, reader: Any) -> Batch | None:
        import pyarrow as pa

        try:
            batch = reader.read_next_batch()
        except StopIteration:
            return None
        except pa.ArrowInvalid as error:
            raise self.first_error() from error
        arrays = {name: batch.column(name) for name in self.columns}
        values = {name: array.to_numpy(zero_copy_only=False) for name, array in arrays.items()}
        for name, array in arrays.items():
            n_missing = array.null_count
            if self.columns[name] is float:
                n_missing -= np.count_nonzero(~np.isfinite(values[name]))  # NaN and infinity
            if n_missing:
                raise self.first_error()
        return values

    def _rows(self) -> Iterator[tuple[int, Row]]:
        """Yield rows with their line numbers, as slowly and as exactly as possible."""
        header, n_skipped = self._layout()
        for line, words in self._lines():
            if line <= n_skipped:
                continue
            if len(words) != len(header):
                raise self.file.malformed(line, f"expected {len(header)} columns, got {len(words)}")
            texts = dict(zip(header, words, strict=True))
            yield line, {name: self._value(line, name, texts[name]) for name in self.columns}

    def _value(self, line: int, name: str, text: str) -> Any:
        kind = self.columns[name]
        if kind is str:
            return text
        if kind is float:
            return None if text in self.missing else self.file.number(line, name, text)
        try:
            return int(text)
        except ValueError:
            raise self.file.malformed(line, f"{name} must be an integer, got '{text}'") from None

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        for number, line in self.file.lines():
            text = line.decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")
            text = text.rstrip("\r\n")
            if self.quote is None:
                yield number, text.split(self.delimiter)
            else:
                (words,) = csv.reader([text], delimiter=self.delimiter, quotechar=self.quote)
                yield number, words


def repeated(*names: str) -> Problem:
    """Return a check that finds the first row with the same values as one before it."""
    seen = set()

    def problem(row: Row) -> str | None:
        values = tuple(row[name] for name in names)
        if values in seen:
            pairs = zip(names, values, strict=True)
            return f"{', '.join(f'{name} {value}' for name, value in pairs)} for the second time"
        seen.add(values)
        return None

    return problem
