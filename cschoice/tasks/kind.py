"""The two kinds of choice."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a task asks for: one object, or any non-empty subset."""

    SINGLETON = "singleton"
    SUBSET = "subset"
