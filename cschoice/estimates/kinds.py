"""The kinds of standard errors, by name."""

from __future__ import annotations

from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name

CLASSICAL, ROBUST, CLUSTERED, BOOTSTRAP = "classical", "robust", "clustered", "bootstrap"
KINDS = (CLASSICAL, ROBUST, CLUSTERED, BOOTSTRAP)


def check_kind(kind: str) -> None:
    """Refuse a kind of standard errors that does not exist."""
    if kind not in KINDS:
        raise InvalidParameter(unknown_name("kind of standard errors", kind, KINDS))
