"""Tables of choices, as people have them, to choice tasks.

``words``: what the user says of a table, to its ``description``. ``patterns``: ranges and globs of
columns to the columns of a table. ``arrow_tables``: files and data
frames to Arrow tables. ``columns``: columns as numbers, labels or flags. ``objects``: long and wide
tables to one row per object. ``task_entries``: the objects on offer task by task, and invalid
tasks. ``missing_values``: gaps and how they are filled. ``encoding``: categories, fills and
constants, learned at import and applied again to every later table by ``encoder``;
``feature_matrix`` lays them out.
"""

from __future__ import annotations

from typing import Any

from cschoice.tasks.frames.description import Description
from cschoice.tasks.frames.encoder import EncodedTable, apply_encoding, learn_encoding
from cschoice.tasks.frames.encoding import Encoding
from cschoice.tasks.frames.patterns import resolved
from cschoice.tasks.frames.words import describe

__all__ = ["Description", "EncodedTable", "Encoding", "describe", "encode", "learn"]


def learn(
    source: Any, description: Description, impute: Any = (), drop_invalid: bool = False
) -> tuple[Encoding, EncodedTable]:
    """Read a file or data frame; return the encoding learned of it, and the table encoded."""
    from cschoice.tasks.frames.arrow_tables import opened

    table = opened(source, description)
    description = resolved(description, table.names)
    return learn_encoding(table.read(description), description, impute, drop_invalid)


def encode(source: Any, encoding: Encoding) -> EncodedTable:
    """Read a file or data frame to be predicted; it needs no column of choices."""
    from cschoice.tasks.frames.arrow_tables import opened

    table = opened(source, encoding.description)
    return apply_encoding(table.read(encoding.description, learning=False), encoding)
