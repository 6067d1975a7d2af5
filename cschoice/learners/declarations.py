"""The declarations of learners, to be read without loading the learners: torch takes seconds.

They are kept in a file of the cache that belongs to exactly this source and this Python.
Without it, or in any doubt, the classes themselves are asked.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cschoice import space
from cschoice.datasets.raw.folders import cache_folder
from cschoice.errors import CschoiceError
from cschoice.io.documents import digest, seal, unseal
from cschoice.io.files import read_regular, replacing
from cschoice.space import Limit
from cschoice.tasks import Kind

if TYPE_CHECKING:
    from cschoice.learners.learner import Learner

_FILE = "learners.json"


@dataclass(frozen=True)
class Declaration:
    """The kinds of choice that a learner learns, its parameters, and whether any is tuned."""

    kinds: frozenset[Kind]
    limits: Mapping[str, Limit | None]  # of each parameter; None where a package declares none
    tuned: bool

    @classmethod
    def of(cls, learner: type[Learner]) -> Declaration:
        """Return the declaration of a class."""
        names: list[str] = learner._get_param_names()
        limits = {name: learner.limits.get(name) for name in names}
        return cls(learner.kinds, limits, bool(learner.search_space))


@cache
def kept() -> Mapping[str, Declaration]:
    """Return the declarations in the cache by the places of their classes; none in doubt."""
    path = cache_folder() / _FILE
    with suppress(OSError, CschoiceError, LookupError, TypeError, ValueError, AttributeError):
        content = unseal(read_regular(path), path)
        if content["source"] == _source():
            return {place: _declaration(one) for place, one in content["learners"].items()}
    return {}


def keep(declarations: Mapping[str, Declaration]) -> None:
    """Write declarations into the cache, if it can be written."""
    learners = {place: _plain_declaration(one) for place, one in declarations.items()}
    path = cache_folder() / _FILE
    with suppress(OSError, CschoiceError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as (temporary,):
            text = seal({"source": _source(), "learners": learners})
            temporary.write_text(text + "\n", encoding="utf-8")
    kept.cache_clear()


@cache
def _source() -> str:
    """Return a checksum of everything that declarations may follow from."""
    package = Path(__file__).parent.parent
    parts = [
        f"{path.relative_to(package).as_posix()} {digest(path.read_bytes())}"
        for path in sorted(package.rglob("*.py"))
    ]
    return digest("\n".join([sys.version, *parts]).encode())


def _plain_declaration(declaration: Declaration) -> dict[str, Any]:
    return {
        "kinds": sorted(declaration.kinds),
        "limits": [[name, _plain(limit)] for name, limit in declaration.limits.items()],
        "tuned": declaration.tuned,
    }


def _declaration(plain: Mapping[str, Any]) -> Declaration:
    kinds = frozenset(Kind(kind) for kind in plain["kinds"])
    limits = {name: _from_plain(limit) for name, limit in plain["limits"]}
    return Declaration(kinds, limits, plain["tuned"])


def _plain(value: Any) -> Any:
    """Return a limit as plain values: its class, then its fields."""
    if not isinstance(value, Limit):
        return list(value) if isinstance(value, tuple) else value
    named = {field.name: _plain(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type]
    return {"class": type(value).__name__, **named}


def _from_plain(plain: Any) -> Any:
    if isinstance(plain, dict):
        named = {name: _from_plain(one) for name, one in plain.items() if name != "class"}
        return getattr(space, plain["class"])(**named)
    return tuple(plain) if isinstance(plain, list) else plain
