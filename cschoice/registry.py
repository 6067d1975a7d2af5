"""Registries: plain tables from names to values, whose lookup suggests the name that was meant."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from cschoice.errors import UnknownName

Row = TypeVar("Row")


def unknown_name(noun: str, name: str, allowed: Iterable[str]) -> str:
    """Describe an unknown name: the one that was probably meant, and the known ones.

    >>> unknown_name("dataset", "mediod", ["medoid", "pareto2d"])
    "unknown dataset 'mediod': did you mean 'medoid'? Known: medoid, pareto2d"
    """
    known = list(allowed)
    return f"unknown {noun} '{name}': {nearest(name, known)}Known: {', '.join(known)}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Ask whether the known name that is most like this one was meant; empty if none is.

    >>> nearest("mediod", ["medoid", "pareto2d"])
    "did you mean 'medoid'? "
    """
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=1)
    return f"did you mean '{lower[near[0]]}'? " if near else ""


def load(target: str) -> Any:
    """Import and return an object given as ``module:attribute``."""
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


class Registry(Mapping[str, Row], Generic[Row]):
    """A read-only table from names to rows, in the order they were written.

    ``more`` returns the rows that users add; it is called at each use.
    """

    def __init__(
        self,
        noun: str,
        rows: Mapping[str, Row],
        more: Mapping[str, Row] | None = None,
    ) -> None:
        self.noun = noun
        self.written = dict(rows)
        self._more: Mapping[str, Row] = {} if more is None else more

    def __getitem__(self, name: str) -> Row:
        if name in self.written:
            return self.written[name]
        if name in self._more:
            return self._more[name]
        raise UnknownName(unknown_name(self.noun, name, self))

    def __contains__(self, name: object) -> bool:
        return name in self.written or name in self._more

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self.written, *self._more]))

    def __len__(self) -> int:
        return len(list(iter(self)))
