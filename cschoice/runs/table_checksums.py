"""Checksums of the values in a table, and of the tables that were written together.

They stand in each file's own metadata, so that files may be copied and committed as they are. What
was read is verified, whatever part of the file was damaged; tables of earlier versions have none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cschoice.io.documents import to_json

if TYPE_CHECKING:
    import pyarrow as pa

_OWN, _TOGETHER = "checksum", "together"


def checksum(table: pa.Table) -> str:
    """Return a checksum of names, types and values, however they are stored."""
    import pyarrow as pa
    import pyarrow.compute as pc

    described = [[field.name, str(field.type)] for field in table.schema]
    digest = hashlib.blake2b(to_json([described, table.num_rows]).encode(), digest_size=16)
    for column in table.columns:
        digest.update(_values(pc.is_null(column).cast(pa.uint8())))
        if pa.types.is_string(column.type):
            texts = _filled(column)
            digest.update(_values(pc.binary_length(texts)))
            for chunk in texts.chunks:
                digest.update("".join(chunk.to_pylist()).encode())
        else:
            digest.update(_values(_filled(column)))
    return digest.hexdigest()


def _filled(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column with zeros or empty texts in place of nothing; a scalar loads pandas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    zeros = pa.py_buffer(bytes(8 * (len(column) + 1)))
    parts = [None, zeros, zeros] if pa.types.is_string(column.type) else [None, zeros]
    return pc.coalesce(column, pa.Array.from_buffers(column.type, len(column), parts))


def _values(column: pa.ChunkedArray) -> bytes:
    """Return the bytes of numbers, none of them missing."""
    parts = []
    for chunk in column.chunks:
        width, values = chunk.type.bit_width // 8, chunk.buffers()[1]
        parts.append(values.slice(chunk.offset * width, len(chunk) * width).to_pybytes())
    return b"".join(parts)


def marked(tables: Mapping[str, pa.Table], metadata: Mapping[str, str]) -> dict[str, pa.Table]:
    """Return tables that are written together, with this metadata and their checksums."""
    own = {name: checksum(table) for name, table in tables.items()}
    together = hashlib.blake2b(to_json(own).encode(), digest_size=16).hexdigest()
    return {
        name: table.replace_schema_metadata({**metadata, _OWN: own[name], _TOGETHER: together})
        for name, table in tables.items()
    }


def checksum_of_all(schema: pa.Schema) -> str | None:
    """Return the checksum of the tables that were written together; None if there is none."""
    found: bytes | None = (schema.metadata or {}).get(_TOGETHER.encode())
    return None if found is None else found.decode("ascii", "replace")


def fits(table: pa.Table) -> bool:
    """Return whether the values are those that were written, as far as there is a checksum."""
    expected: bytes | None = (table.schema.metadata or {}).get(_OWN.encode())
    return expected is None or expected == checksum(table).encode()


def belong_together(schemas: Iterable[Any]) -> bool:
    """Return whether the tables of these schemas were written together, as far as they tell."""
    return len({checksum_of_all(schema) for schema in schemas}) < 2
