"""Registries: plain tables from names to values, whose lookup suggests the name that was meant.

Other packages add rows of their own by entry points. They stand in their pyproject.toml::

    [project.entry-points."cschoice.learners"]
    my-learner = "mypackage.learners:MyLearner"

Nothing of theirs is imported before a name is asked for or a registry is listed. Whatever cannot
be used is named in a warning and left out of lists; asked for by name, it is an error.
"""

from __future__ import annotations

import difflib
import importlib
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, TypeVar

from cschoice.errors import CschoiceError, InvalidPlugin, UnknownName

Row = TypeVar("Row")

_TARGET = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class LeftOutWarning(UserWarning):
    """A row that cannot be used, and why: it is left out of its registry."""


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


def load_foreign(target: str) -> Any:
    """Import an object that is not ours; modules may also lie in the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # behind everything that is installed
    importlib.invalidate_caches()
    return load(target)


def is_target(name: object) -> bool:
    """Return whether a name is the place of an object.

    >>> is_target("mypackage.learners:MyLearner"), is_target("feta")
    (True, False)
    """
    return isinstance(name, str) and _TARGET.fullmatch(name) is not None


def leave_out(error: CschoiceError) -> None:
    """Warn of a row that is left out of a list."""
    warnings.warn(f"{' '.join(str(error).split())}; it is left out", LeftOutWarning, stacklevel=2)


class Plugins(Mapping[str, Row], Generic[Row]):
    """The rows that other packages declare, and those named by their place, ``module:name``.

    ``group`` is that of the entry points; ``row`` makes a row of a name, an object and its place,
    and raises TypeError for an object that is none; ``taken`` returns the names that are ours.
    """

    def __init__(
        self,
        noun: str,
        group: str,
        row: Callable[[str, Any, str], Row],
        taken: Callable[[], Iterable[str]],
    ) -> None:
        self.noun, self.group, self._row, self._taken = noun, group, row, taken
        self._rows: dict[str, Row] = {}  # by their place

    def target(self, name: str) -> str:
        """Return the place of a row."""
        return name if is_target(name) else self._declared()[name].value

    def __getitem__(self, name: str) -> Row:
        if name not in self:
            raise KeyError(name)
        target = self.target(name)
        if target not in self._rows:
            self._rows[target] = self._made(name, target)
        return self._rows[target]

    def __contains__(self, name: object) -> bool:
        return is_target(name) or name in self._declared()

    def __iter__(self) -> Iterator[str]:
        taken = set(self._taken())
        for name in self._declared():
            try:
                if name in taken:
                    raise InvalidPlugin(f"{self._about(name)}: the name is taken")
                self[name]
            except InvalidPlugin as error:
                leave_out(error)
            else:
                yield name

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _declared(self) -> dict[str, EntryPoint]:
        return _declared(self.group, tuple(sys.path))

    def _about(self, name: str) -> str:
        declared = self._declared().get(name)
        package = declared.dist if declared else None
        return f"{self.noun} '{name}'" + (
            f" of {package.name} {package.version}" if package else ""
        )

    def _made(self, name: str, target: str) -> Row:
        try:
            return self._row(name, load_foreign(target), target)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise InvalidPlugin(f"{self._about(name)} cannot be used: {reason}") from error


@cache
def _declared(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:  # noqa: ARG001
    """Return the entry points of a group by name, once per search path; the first one counts."""
    found: dict[str, EntryPoint] = {}
    for one in entry_points(group=group):
        found.setdefault(one.name, one)
    return found


class Registry(Mapping[str, Row], Generic[Row]):
    """A read-only table from names to rows, in the order they were written.

    ``more`` are tables of the rows that users and other packages add, looked up at each use.
    """

    def __init__(
        self, noun: str, rows: Mapping[str, Row], more: Sequence[Mapping[str, Row]] = ()
    ) -> None:
        self.noun = noun
        self.written = dict(rows)
        self._more = tuple(more)

    def __getitem__(self, name: str) -> Row:
        for rows in (self.written, *self._more):
            if name in rows:
                return rows[name]
        raise UnknownName(unknown_name(self.noun, name, self))

    def __contains__(self, name: object) -> bool:
        return any(name in rows for rows in (self.written, *self._more))

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for rows in (self.written, *self._more) for name in rows))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def foreign(self, name: str) -> str | None:
        """Return the place of a row that another package brings; None for all others."""
        if name in self.written:
            return None
        found = (rows for rows in self._more if isinstance(rows, Plugins) and name in rows)
        return next((rows.target(name) for rows in found), None)
