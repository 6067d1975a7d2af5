"""Plain values as JSON, both ways."""

from __future__ import annotations

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cschoice.errors import InvalidFile

_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def to_json(value: Any) -> str:
    """Write a value the same way every time."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(kind: type, text: str, where: object) -> Any:
    """Read a value of that class; say where it came from if it is none."""
    adapter = _ADAPTERS.setdefault(kind, TypeAdapter(kind))
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"])
        raise InvalidFile(f"{where} is damaged ({at}: {first['msg']})") from error
