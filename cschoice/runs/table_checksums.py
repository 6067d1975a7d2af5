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
        digest.update(pc.is_null(column).to_numpy().tobytes())
        if pa.types.is_string(column.type):
            texts = pc.fill_null(column, "")
            digest.update(pc.binary_length(texts).to_numpy().tobytes())
            for chunk in texts.chunks:
                digest.update("".join(chunk.to_pylist()).encode())
        else:
            digest.update(pc.fill_null(column, 0).to_numpy().tobytes())
    return digest.hexdigest()


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
