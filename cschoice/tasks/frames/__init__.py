"""Tables of choices, as people have them, to choice tasks.

``description``: what the columns mean, as the user says it. ``reading``: files and data frames to
Arrow tables. ``values``: columns as numbers, labels or flags. ``objects``: long and wide tables to
one row per object. ``arranging``: objects into tasks, and which of them are invalid.
``encoding``: what is learned at import (categories, fills) and applied again to every later
table, by ``learning`` and ``matrix``.
"""

from __future__ import annotations

from typing import Any

from cschoice.tasks.frames.description import Description, describe
from cschoice.tasks.frames.encoding import Encoding
from cschoice.tasks.frames.learning import Table, apply_encoding, learn_encoding

__all__ = ["Description", "Encoding", "Table", "describe", "encode", "learn"]


def learn(
    source: Any, description: Description, impute: Any = (), drop_invalid: bool = False
) -> tuple[Encoding, Table]:
    """Read a file or data frame and learn how to turn it into tasks; return both."""
    from cschoice.tasks.frames.reading import read

    return learn_encoding(read(source, description), description, impute, drop_invalid)


def encode(source: Any, encoding: Encoding) -> Table:
    """Read a file or data frame that is to be predicted: what was chosen need not be there."""
    from cschoice.tasks.frames.reading import read

    return apply_encoding(read(source, encoding.description, learning=False), encoding)
