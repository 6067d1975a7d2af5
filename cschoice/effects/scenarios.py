"""Scenarios: the words of a person for other data, applied to choice situations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cschoice.effects.formulas import evaluated, formula, known_names, split_name
from cschoice.effects.situations import Situations, listed
from cschoice.errors import InvalidParameter
from cschoice.estimates.specification import texts_of
from cschoice.io.plain_yaml import read_yaml
from cschoice.registry import unknown_name
from cschoice.tasks.frames.missing_values import RawFeature

LIKE = "like"
_SECTIONS = ("change", "remove", "add")
_EQUALS = re.compile(r"(?<![<>=!])=(?!=)")


@dataclass(frozen=True)
class Scenario:
    """Other data: alternatives are added, then columns changed in order, then some taken away.

    A change is ``train.time * 0.8`` (a column, of one alternative or of all, and how it is
    computed), or ``train.time = 30``. An alternative that is added has its columns as formulas;
    those not given are those of the one that it is ``like``.
    """

    name: str
    change: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    add: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, given: Any) -> Scenario:
        """Make a scenario of its sections: change, remove, add."""
        if isinstance(given, str):
            given = {"change": given}
        if not isinstance(given, Mapping) or not given:
            raise InvalidParameter(
                f"scenario '{name}' needs sections {', '.join(_SECTIONS)}, got {given!r}"
            )
        for section in given:
            if section not in _SECTIONS:
                noun = f"section of scenario '{name}'"
                raise InvalidParameter(unknown_name(noun, str(section), _SECTIONS))
        added = given.get("add") or {}
        if isinstance(added, str | Sequence):
            added = dict(_added(text) for text in ([added] if isinstance(added, str) else added))
        for alternative, columns in added.items():
            if not isinstance(columns, Mapping):
                raise InvalidParameter(
                    f"scenario '{name}': write '{alternative}' as a table of its columns, such as "
                    f"{{like: train, time: 30}}, got {columns!r}"
                )
        return cls(
            name,
            tuple(_list(given.get("change"))),
            tuple(_list(given.get("remove"))),
            {
                str(one): {str(key): str(value) for key, value in columns.items()}
                for one, columns in added.items()
            },
        )

    def applied(self, situations: Situations) -> Situations:
        """Return the situations as they would be; which task is which stays known."""
        found = replace(situations, origins=situations.task_numbers)
        try:
            for alternative, columns in self.add.items():
                found = _with_alternative(found, alternative, columns)
            for text in self.change:
                found = _with_change(found, text)
            for alternative in self.remove:
                found = found.with_objects(~found.is_alternative(alternative))
        except InvalidParameter as error:
            raise InvalidParameter(f"scenario '{self.name}': {error}") from None
        return found


def read_scenarios(path: Path) -> dict[str, Any]:
    """Read a file of scenarios: ``scenarios`` by name, and ``where`` and ``by`` if given."""
    given = read_yaml(path)
    allowed = ("scenarios", "where", "by")
    if not isinstance(given, dict) or not isinstance(given.get("scenarios"), dict):
        raise InvalidParameter(
            f"{path} must have a section 'scenarios' with their names, got {given!r}"
        )
    for section in given:
        if section not in allowed:
            raise InvalidParameter(f"{path}: " + unknown_name("section", str(section), allowed))
    scenarios = [Scenario.of(str(name), one) for name, one in given["scenarios"].items()]
    return {**given, "scenarios": scenarios, "by": _list(given.get("by"))}


def _list(given: Any) -> list[str]:
    if given is None:
        return []
    return [str(one) for one in given] if isinstance(given, list | tuple) else [str(given)]


def _added(text: str) -> tuple[str, dict[str, str]]:
    """Read ``night train: like train, time = 480``."""
    name, colon, rest = text.partition(":")
    columns: dict[str, str] = {}
    for part in texts_of(rest):
        if part.startswith(f"{LIKE} "):
            columns[LIKE] = part.removeprefix(LIKE).strip()
            continue
        pieces = _EQUALS.split(part, maxsplit=1)
        if len(pieces) != 2:
            colon = ""
            break
        columns[pieces[0].strip()] = pieces[1].strip()
    if not (name.strip() and colon and columns):
        example = "'night train: like train, time = 480, cost = train.cost * 0.8'"
        raise InvalidParameter(f"add: write an alternative as {example}, got '{text}'")
    return name.strip(), columns


def _with_change(situations: Situations, text: str) -> Situations:
    """Return the situations with a column changed."""
    pieces = _EQUALS.split(text, maxsplit=1)
    target = pieces[0].strip() if len(pieces) == 2 else _first_name(situations, text)
    alternative, column = split_name(situations, target)
    values = evaluated(situations, pieces[-1])
    if alternative is not None:
        mask = situations.is_alternative(alternative)
        values = np.where(mask, values, situations.column(column))
    return situations.with_column(column, values)


def _first_name(situations: Situations, text: str) -> str:
    """Return the name that a formula begins with: the column that it changes."""
    formula(situations, text)  # refuses unknown names
    known = [name for name in known_names(situations) if text.strip().startswith(name)]
    columns = [name for name in known if name not in situations.names]
    if not columns:
        raise InvalidParameter(
            f"'{text}' does not begin with the column that changes: write 'train.time * 0.8' or "
            f"'train.time = 30'; there are {situations.described}"
        )
    return max(columns, key=len)


def _with_alternative(situations: Situations, name: str, given: Mapping[str, str]) -> Situations:
    """Return the situations with one more alternative, where the one that it is like is there."""
    if situations.alternatives is None:
        raise InvalidParameter(
            f"'{name}' cannot be added: alternatives have no names here (give --object at import)"
        )
    if name in (situations.alternatives.labels or []):
        raise InvalidParameter(f"'{name}' is an alternative already: change its columns")
    like, formulas = given.get(LIKE), {k: v for k, v in given.items() if k != LIKE}
    _check_columns(situations, name, like, formulas)
    labels = [*(situations.alternatives.labels or []), name]
    wide, added = _one_more(situations, like)
    codes = np.where(added, len(labels) - 1, wide.alternatives.values)  # type: ignore[union-attr]
    values = {column: evaluated(wide, text) for column, text in formulas.items()}
    for column, found in values.items():
        wide = wide.with_column(column, np.where(added, found, wide.column(column)))
    return replace(
        wide,
        alternatives=RawFeature(situations.alternatives.name, codes, labels),
        likenesses={**situations.likenesses, name: _likeness(situations, name, like)},
        chosen=None if wide.chosen is None else wide.chosen & ~added,
    )


def _one_more(situations: Situations, like: str | None) -> tuple[Situations, Any]:
    """Repeat an object at the end of each task; mark the repetitions."""
    starts, ends = situations.offsets[:-1], situations.offsets[1:]
    tasks = situations.spread(np.arange(len(situations)))
    if like is None:
        repeated, of_tasks = starts, np.arange(len(situations))
    else:
        repeated = np.flatnonzero(situations.is_alternative(like))
        of_tasks = tasks[repeated]
    objects = np.insert(np.arange(situations.n_objects), ends[of_tasks], repeated)
    added = np.insert(np.zeros(situations.n_objects, dtype=bool), ends[of_tasks], True)
    sizes = situations.sizes + np.bincount(of_tasks, minlength=len(situations))
    return situations.with_order(objects, sizes), added


def _check_columns(
    situations: Situations, name: str, like: str | None, formulas: Mapping[str, str]
) -> None:
    columns = list(situations.features)
    for column in formulas:
        if column not in columns:
            raise InvalidParameter(f"'{name}': {unknown_name('column', column, columns)}")
    if like is not None:
        situations.is_alternative(like)
        return
    if missing := [column for column in columns if column not in formulas]:
        raise InvalidParameter(
            f"'{name}' needs {listed(missing)}: give formulas, or an alternative that it is like"
        )
    for text in formulas.values():
        own = [one for one in formula(situations, text).names if one in columns]
        if own:
            raise InvalidParameter(
                f"'{name}': whose {own[0]} is meant in '{text}': write ALTERNATIVE.{own[0]}, or "
                "name an alternative that it is like"
            )


def _likeness(situations: Situations, name: str, like: str | None) -> str:
    """Return the alternative whose constant and coefficients an added one takes."""
    known = situations.encoding.known_alternatives
    if like is not None:
        return situations.likenesses.get(like, like)
    if not known:
        return name
    raise InvalidParameter(
        f"'{name}' needs a constant: say which alternative it is like ({listed(known)})"
    )
