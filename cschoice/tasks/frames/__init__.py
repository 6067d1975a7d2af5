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

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cschoice.tasks.frames.description import Description
from cschoice.tasks.frames.encoder import EncodedTable, RawTable, learn_encoding, read_raw
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.patterns import resolved
from cschoice.tasks.frames.words import describe

__all__ = [
    "Description",
    "EncodedTable",
    "Encoding",
    "RawTable",
    "describe",
    "encode",
    "learn",
    "plain",
    "read",
]


def plain(names: Sequence[str], kind: str) -> Encoding:
    """Return the encoding of tasks whose features were numbers from the beginning."""
    described = describe(task="task", chosen="chosen", features=names, kind=kind)
    return Encoding(described, tuple(Feature(name) for name in names))


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
    return read(source, encoding, choices=False).encoded()


def read(source: Any, encoding: Encoding, *, choices: bool = True) -> RawTable:
    """Read a file or data frame like the first one, without encoding it.

    What was chosen, by whom and what it weighs is read where the table has the columns.
    """
    from cschoice.tasks.frames.arrow_tables import opened

    table = opened(source, encoding.description)
    there = encoding.description.among(table.names)
    learning = choices and set(there.answers) <= set(table.names)
    return read_raw(
        table.read(there, learning=learning), replace(encoding, description=there), learning
    )
