"""JSON documents: plain values both ways, with a checksum, and a format and version in files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from cschoice.errors import FileNotUsable, InvalidFile
from cschoice.io.files import read_regular

_DIGEST = "digest"


def to_json(value: Any) -> str:
    """Return a value as JSON, the same text every time."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def from_json(kind: type, text: str | bytes, where: object) -> Any:
    """Return the value of a class that the text holds; ``where`` names its origin in errors."""
    try:
        return adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        at = ".".join(str(part) for part in first["loc"])
        raise InvalidFile(f"{where} is damaged ({at}: {first['msg']})") from error


def seal(content: Mapping[str, Any]) -> str:
    """Return a table as JSON that carries its own checksum.

    >>> unseal(seal({"a": 1}), "it")
    {'a': 1}
    """
    return to_json(sealed(content))


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table together with its checksum, which does not depend on how it is written."""
    return {**content, _DIGEST: digest(to_json(content).encode())}


def unseal(text: str | bytes, where: object) -> dict[str, Any]:
    """Return the table in a JSON text, without its checksum, which must fit.

    Documents of earlier versions have none and are taken as they are.
    """
    try:
        content = json.loads(text)
        if not isinstance(content, dict):
            raise InvalidFile(f"{where} is damaged (it holds no table)")
        json.dumps(content, ensure_ascii=False).encode()  # half of a character is no text
        expected = content.pop(_DIGEST, None)
        fits = expected in (None, digest(to_json(content).encode()))
    except (ValueError, RecursionError) as error:
        raise InvalidFile(f"{where} is damaged ({error})") from error
    if not fits:
        raise InvalidFile(f"{where} is damaged (its checksum does not fit)")
    return content


def digest(content: bytes) -> str:
    """Return the checksum of some bytes, as everything here is verified with."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def from_plain(kind: type, value: Any) -> Any:
    """Return the value of a class from nested plain values, as JSON would hold them."""
    return adapter(kind).validate_python(value)


def from_sealed(kind: type, text: str | bytes, where: object) -> Any:
    """Return the value of a class that a text with a checksum holds."""
    try:
        return from_plain(kind, unseal(text, where))
    except ValidationError as error:
        raise InvalidFile(f"{where} is damaged ({error.errors()[0]['msg']})") from error


@cache  # making one takes milliseconds
def adapter(kind: type) -> TypeAdapter[Any]:
    """Return the adapter that reads and checks values of a class."""
    return TypeAdapter(kind)


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
            return self.parse(read_regular(path), path)
        except OSError as error:
            raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
