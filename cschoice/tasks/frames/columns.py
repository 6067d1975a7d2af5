"""Columns as numbers, labels or flags; a value that does not fit is named by column and row."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

YES, NO = ("true", "yes", "y", "t", "1"), ("false", "no", "n", "f", "0")
COMMAS = (
    "write numbers with points and without thousands separators; decimal commas are read where "
    "columns are separated by semicolons or tabs"
)
_WITH_COMMA = re.compile(r"[+-]?[\d.' ]*,[\d,.' ]*\d")
_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Table:
    """The columns that were read of a table; where rows were left out, those kept have numbers."""

    data: Any  # an Arrow table
    rows: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return int(self.data.num_rows)

    @property
    def numbers(self) -> NDArray[np.int64]:
        """Return the number of each row in the source."""
        return np.arange(len(self)) if self.rows is None else self.rows

    def only(self, names: Collection[str]) -> Table:
        """Return the table with these columns only; the memory of the others is given back."""
        kept = [name for name in self.data.column_names if name in names]
        return Table(self.data.select(kept), self.rows)

    def column(self, name: str) -> Column:
        """Return a column of a long table, or one that all alternatives of a wide one share."""
        return Column(name, ((name, self.data[name]),), self.rows)


@dataclass(frozen=True)
class Column:
    """A column of a long table, or the columns of all alternatives of a wide one, stacked."""

    name: str
    pieces: tuple[tuple[str, Any], ...]  # the column's name and its values, an Arrow array
    rows: NDArray[np.int64] | None = None  # their numbers, where not all were kept

    def row(self, position: int) -> str:
        """Name the row at a position of a piece."""
        return row(position if self.rows is None else int(self.rows[position]))

    @property
    def categorical(self) -> bool:
        """Whether these are categories by their type, or words of which none is a number."""
        import pyarrow as pa

        if any(pa.types.is_dictionary(column.type) for _, column in self.pieces):
            return True
        known = [_words(column) for _, column in self.pieces if column.null_count < len(column)]
        return bool(known) and all(
            words is not None and not any(number is not None for number in words.values())
            for words in known
        )

    def numbers(self) -> NDArray[np.floating]:
        """Return numbers, NaN where they are missing; ``ValueError`` names a value that is none."""
        return np.concatenate([_numbers(name, column, self.row) for name, column in self.pieces])

    def labels(self) -> tuple[NDArray[np.int64], list[str]]:
        """Return the number of each value's label, -1 where it is missing, and the labels."""
        encoded = [_encoded(column) for _, column in self.pieces]
        names = sorted({text for texts, _ in encoded for text in texts if text is not None})
        rank: dict[str | None, int] = {name: k for k, name in enumerate(names)}
        codes = [
            np.array([*(rank.get(text, -1) for text in texts), -1], dtype=np.int64)[numbers]
            for texts, numbers in encoded
        ]
        return codes[0] if len(codes) == 1 else np.concatenate(codes), names

    def flags(self) -> NDArray[np.int8] | None:
        """Return 1 for yes, 0 for no, -1 where it is missing; None if there are other values."""
        codes, names = self.labels()
        meaning = [1 if name.lower() in YES else 0 if name.lower() in NO else 2 for name in names]
        if 2 in meaning:
            return None
        return np.array([*meaning, -1], dtype=np.int8)[codes]

    def some(self) -> str:
        """Return the first labels, as a message shows them."""
        labels = self.labels()[1]
        shown = ", ".join(f"'{label}'" for label in labels[:3])
        return shown + (", …" if len(labels) > 3 else "")


def free_unused() -> None:
    """Give the memory of tables that are gone back to the system: a large one's is needed."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def row(number: int) -> str:
    """Name a row as people count them, the header apart."""
    return f"row {number + 1}"


def has_commas(words: Iterable[str]) -> bool:
    """Tell whether some words look like numbers with a comma."""
    return any(_WITH_COMMA.fullmatch(word) for word in words)


def _words(column: Any) -> dict[str, float | None] | None:
    """Return the different texts of a column, each as a number if it is one; None if no text."""
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind):
        return None
    if pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return None
    return {word: _parsed(word) for word in _as_text(column).unique().to_pylist() if word}


def _parsed(word: str) -> float | None:
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _numbers(name: str, column: Any, row: Callable[[int], str]) -> NDArray[np.floating]:
    import pyarrow as pa
    import pyarrow.compute as pc

    words = _words(column)
    if words is not None:
        junk = [word for word, number in words.items() if number is None]
        if junk:
            text = _as_text(column)
            first = int(pc.index_in(text, value_set=pa.array(junk)).is_valid().to_numpy().argmax())
            hint = f": {COMMAS}" if has_commas(junk) else ""
            raise ValueError(
                f"column '{name}' must hold numbers, {row(first)} has '{text[first]}'{hint}"
            )
        known = pa.chunked_array(
            [pa.array([words.get(word) for word in _as_text(column).to_pylist()], pa.float64())]
        )
    else:
        known = _decoded(column)
        if not pa.types.is_float32(known.type):
            known = pc.cast(known, pa.float64())
    numbers: NDArray[np.floating] = known.to_numpy()
    infinite = np.abs(numbers) > _LARGEST
    if infinite.any():
        first = int(infinite.argmax())
        raise ValueError(
            f"column '{name}': {row(first)} has {numbers[first]:g}, which is too large"
        )
    return numbers


def _encoded(column: Any) -> tuple[list[str | None], NDArray[np.int32]]:
    """Return the different values of a column as texts, and the number of each value's, or -1.

    Only the different ones ever become texts, which are large. Two may have the same text.
    """
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(_decoded(column)).combine_chunks()
    texts = _as_text(encoded.dictionary).to_pylist()
    return texts, encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)


def _as_text(column: Any) -> Any:
    """Return a column as text, whole numbers without a point: 1, 1.0 and '1' are one label."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _decoded(column)
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        if pc.all(pc.equal(column, pc.round(column))).as_py() is not False:
            column = pc.cast(column, pa.int64(), safe=False)
    text = pc.cast(column, pa.string())
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def _decoded(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not isinstance(column, pa.ChunkedArray):
        column = pa.chunked_array([column])
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    return column
