"""JSON documents: plain values both ways, and files that name their format and version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cschoice.errors import FileNotUsable, InvalidFile

_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def to_json(value: Any) -> str:
    """Return a value as JSON, the same text every time."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(kind: type, text: str | bytes, where: object) -> Any:
    """Return the value of a class that the text holds; ``where`` names its origin in errors."""
    try:
        return _adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"])
        raise InvalidFile(f"{where} is damaged ({at}: {first['msg']})") from error


def from_plain(kind: type, value: Any) -> Any:
    """Return the value of a class from nested plain values, as JSON would hold them."""
    return _adapter(kind).validate_python(value)


def _adapter(kind: type) -> TypeAdapter[Any]:
    return _ADAPTERS.setdefault(kind, TypeAdapter(kind))


@dataclass(frozen=True)
class Format:
    """A kind of document: the version that this program reads, and the way out if it cannot."""

    version: int
    remedy: str  # "generate it again"
    name: str | None = None  # under the key "format", where documents carry it

    def parse(self, text: str | bytes, where: object) -> dict[str, Any]:
        """Return the table that the text holds, after checking its format and version."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidFile(f"{where} is damaged ({error}): {self.remedy}") from error
        if not isinstance(content, dict):
            raise InvalidFile(f"{where} is damaged (it holds no table): {self.remedy}")
        if content.get("format") != self.name:
            expected = f"format '{self.name}'" if self.name else "no format"
            raise InvalidFile(f"{where} has another format ({expected} expected): {self.remedy}")
        version = content.get("version")
        if type(version) is not int or version < 1:
            raise InvalidFile(f"{where} is damaged (version {version!r}): {self.remedy}")
        if version > self.version:
            raise InvalidFile(
                f"{where} has format version {version}, this cschoice reads {self.version}: "
                "install a newer cschoice"
            )
        return content

    def read(self, path: Path) -> dict[str, Any]:
        """Return the table in a file."""
        try:
            return self.parse(path.read_bytes(), path)
        except OSError as error:
            raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
