"""The two kinds of choice."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """The choice that a task asks for: one object, or any non-empty subset."""

    SINGLETON = "singleton"
    SUBSET = "subset"
