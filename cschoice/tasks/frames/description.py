"""The meaning of the columns of a table, as the user gives it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cschoice.errors import InvalidParameter, InvalidTable
from cschoice.registry import unknown_name
from cschoice.tasks.kind import Kind

Names = str | Sequence[str]

HOLE = "{}"  # stands for the alternative's name in a column of a wide table
FILLED = "filled"  # as ``available``: an alternative is on offer where its features are filled in


@dataclass(frozen=True)
class Description:
    """The meaning of columns; a table with ``alternatives`` is wide, one row per task.

    In a wide table columns are patterns: ``{}_COST`` is TRAIN_COST for the alternative TRAIN, and
    ``{}_COST|0`` is 0 for alternatives that have no such column.
    """

    features: Mapping[str, str]  # name -> column
    chosen: str
    task: tuple[str, ...] = ()
    object: str | None = None
    alternatives: Mapping[str, str] | None = None  # name -> its code in ``chosen``
    available: str | None = None
    group: str | None = None
    context: tuple[str, ...] = ()  # of the chooser, appended to the features of each object
    cross: tuple[str, ...] = ()  # of the chooser, multiplied with the features of each object
    categorical: tuple[str, ...] = ()
    constants: bool = False
    kind: Kind = Kind.SINGLETON

    @property
    def of_chooser(self) -> tuple[str, ...]:
        """Return the columns that are the same for all objects of a task."""
        return tuple(dict.fromkeys([*self.context, *self.cross]))

    def columns(self, known: Sequence[str], learning: bool = True) -> list[str]:
        """Return the columns to read from a table with the ``known`` ones; refuse missing ones."""
        needed: dict[str, None] = {}
        problems = []
        for option, column, optional in self._needed(learning):
            if column in known:
                needed[column] = None
            elif not optional:
                problems.append(_missing(option, column, known, self.alternatives is not None))
        if self.alternatives is not None and not problems:
            problems += self._columns_of_nobody(known)
        if problems:
            raise InvalidTable(list(dict.fromkeys(problems)))
        return list(needed)

    def _needed(self, learning: bool) -> Iterator[tuple[str, str, bool]]:
        """Yield the option, the column, and whether a table may lack it."""
        plain = [("task", name) for name in self.task]
        plain += [("context or cross", name) for name in self.of_chooser]
        if self.object:
            plain.append(("object", self.object))
        if learning and self.group:
            plain.append(("group", self.group))
        yield from ((option, name, False) for option, name in plain)
        patterns = [("features", pattern) for pattern in self.features.values()]
        if self.available and self.available != FILLED:
            patterns.append(("available", self.available))
        if learning:
            patterns.append(("chosen", self.chosen))
        for option, pattern in patterns:
            for column in self.of_alternatives(pattern):
                yield option, column, self.default(pattern) is not None

    def of_alternatives(self, pattern: str) -> list[str]:
        """Return the column of each alternative; in a long table the one column."""
        if self.alternatives is None:
            return [pattern]
        column = pattern if self.default(pattern) is None else pattern.rpartition("|")[0]
        if HOLE not in column:
            return [column]
        return [column.replace(HOLE, name) for name in self.alternatives]

    def default(self, pattern: str) -> float | None:
        """Return the value of an alternative that does not have the column, if one is given."""
        _, bar, value = pattern.rpartition("|")
        if self.alternatives is None or not bar:
            return None
        try:
            return float(value)
        except ValueError:
            return None

    def _columns_of_nobody(self, known: Sequence[str]) -> Iterator[str]:
        """Find patterns whose default hides that no alternative has such a column."""
        for name, pattern in self.features.items():
            if not set(self.of_alternatives(pattern)) & set(known):
                yield f"no alternative has a column '{pattern}' (feature {name})"


def describe(
    *,
    features: Names | Mapping[str, str],
    chosen: str,
    task: Names = (),
    alternatives: Names | Mapping[str, str] | None = None,
    context: Names = (),
    cross: Names = (),
    categorical: Names = (),
    kind: str = Kind.SINGLETON,
    **others: Any,
) -> Description:
    """Make a description from lists, or from text such as ``"cost,time"``.

    >>> describe(features="cost,time", chosen="chosen", task="trip").features
    {'cost': 'cost', 'time': 'time'}
    >>> wide = describe(features="time={}_TT,{}_CO", chosen="CHOICE", alternatives="TRAIN=1,CAR=3")
    >>> wide.features, wide.alternatives
    ({'time': '{}_TT', 'CO': '{}_CO'}, {'TRAIN': '1', 'CAR': '3'})
    """
    allowed = [field.name for field in fields(Description)]
    for name in others:
        if name not in allowed:
            raise InvalidParameter(unknown_name("part of a table", name, allowed))
    if kind not in list(Kind):
        raise InvalidParameter(f"kind must be singleton or subset, got {kind!r}")
    wide = alternatives is not None
    described = Description(
        features=_named(features, wide),
        chosen=chosen,
        task=_names(task),
        alternatives=None if alternatives is None else _codes(alternatives),
        context=_names(context),
        cross=_names(cross),
        categorical=_names(categorical),
        kind=Kind(kind),
        **others,
    )
    problems = list(_contradictions(described))
    if problems:
        raise InvalidParameter("; ".join(problems))
    return described


def _contradictions(described: Description) -> Iterator[str]:
    if not described.features and not described.constants:
        yield "features: name at least one column"
    if described.alternatives is None:
        if not described.task:
            yield "task: name the column that says which rows belong together"
        if described.constants and not described.object:
            yield "constants need the column that names the alternative: give object"
    else:
        if len(described.alternatives) < 2:
            yield f"alternatives: name at least two, got {', '.join(described.alternatives)}"
        if described.object:
            yield "object is for long tables: in a wide one the alternatives are named already"
        for name, pattern in described.features.items():
            if HOLE not in pattern:
                yield (
                    f"feature '{name}' has no {{}}: if it is the same for all alternatives, "
                    "it is a context or cross column"
                )
    for name in described.categorical:
        known = [*described.features, *described.of_chooser]
        if name not in known:
            yield unknown_name("categorical feature", name, known)


def _missing(option: str, column: str, known: Sequence[str], wide: bool) -> str:
    text = unknown_name("column", column, known).replace(f"'{column}'", f"'{column}' ({option})", 1)
    hint = " (an alternative without it: write the pattern as '{}_NAME|0')"
    return text + (hint if wide and option in ("features", "available") else "")


def _names(given: Names) -> tuple[str, ...]:
    parts = given.split(",") if isinstance(given, str) else given
    names = tuple(part.strip() for part in parts if part.strip())
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidParameter(f"'{twice[0]}' is named twice in {', '.join(names)}")
    return names


def _named(given: Names | Mapping[str, str], wide: bool) -> dict[str, str]:
    """Return name and column of each feature; in a wide table a pattern may carry a name."""
    if isinstance(given, Mapping):
        return dict(given)
    if not wide:
        return {name: name for name in _names(given)}
    return _unique(_pair(part) for part in _names(given))


def _pair(part: str) -> tuple[str, str]:
    name, equals, pattern = part.partition("=")
    if equals:
        return name.strip(), pattern.strip()
    return part.partition("|")[0].replace(HOLE, "").strip(" _-.") or part, part


def _codes(given: Names | Mapping[str, str]) -> dict[str, str]:
    if isinstance(given, Mapping):
        return {name: str(code) for name, code in given.items()}
    pairs = [part.partition("=") for part in _names(given)]
    return _unique(
        (name.strip(), (code if equals else name).strip()) for name, equals, code in pairs
    )


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in pairs:
        if name in found:
            raise InvalidParameter(f"'{name}' is named twice: {found[name]} and {value}")
        found[name] = value
    return found
