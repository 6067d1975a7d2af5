"""Ranges and globs of columns, ``f1-f45`` and ``ic.*``, to the columns of a table."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cschoice.errors import InvalidParameter, InvalidTable
from cschoice.tasks.frames.description import HOLE, Description
from cschoice.tasks.frames.words import feature_name, refuse_unknown_features

_RANGE = re.compile(r"(?P<prefix>.*?)(?P<first>\d+)-(?P=prefix)(?P<last>\d+)(?P<default>\|.*)?")


def resolved(description: Description, known: Sequence[str]) -> Description:
    """Return the description with the columns of a table in place of ranges and globs.

    A glob names columns that have no other role: the task, what was chosen, the chooser, ….
    """
    taken = {*description.with_a_role, *description.of_chooser}
    free = [name for name in known if name not in taken]
    features: dict[str, str] = {}
    for name, pattern in description.features.items():
        columns = _columns(pattern, known, free, description)
        if columns == [pattern]:
            features[name] = pattern
        elif name != feature_name(pattern, description.alternatives is not None):
            raise InvalidParameter(f"'{pattern}' names several columns: leave out '{name}='")
        else:
            wide = description.alternatives is not None
            features |= {feature_name(column, wide): column for column in columns}

    def among(names: Sequence[str], there: Sequence[str]) -> tuple[str, ...]:
        found = [one for name in names for one in _columns(name, there, there, None)]
        return tuple(dict.fromkeys(found))

    context = among(description.context, known)
    described = replace(
        description,
        features=features,
        context=context,
        categorical=among(description.categorical, [*features, *description.of_chooser, *context]),
        specific=among(description.specific, list(features)),
    )
    refuse_unknown_features(described)
    return described


def _columns(
    pattern: str, known: Sequence[str], free: Sequence[str], description: Description | None
) -> list[str]:
    """Return the columns, or patterns of a wide table's columns, that a pattern stands for."""
    if pattern in known:
        return [pattern]
    if found := _RANGE.fullmatch(pattern):
        return list(_numbered(found))
    column, bar, default = pattern.rpartition("|") if "|" in pattern else (pattern, "", "")
    if not set("*?[") & set(column):
        return [pattern]
    if description is None or description.alternatives is None or HOLE not in column:
        columns = fnmatch.filter(free, column)
    else:
        columns = list(_patterns(column, free, list(description.alternatives)))
    if not columns:
        raise InvalidTable([f"no column matches '{pattern}'. Known: {', '.join(known)}"])
    return [f"{column}{bar}{default}" for column in columns]


def _numbered(found: re.Match[str]) -> Iterator[str]:
    """Yield the columns of a range; leading zeros stay."""
    first, last = found["first"], found["last"]
    if int(first) > int(last):
        raise InvalidParameter(f"'{found[0]}' is an empty range: {first} is above {last}")
    for number in range(int(first), int(last) + 1):
        yield f"{found['prefix']}{number:0{len(first)}}{found['default'] or ''}"


def _patterns(glob: str, free: Sequence[str], alternatives: Sequence[str]) -> Iterator[str]:
    """Yield the patterns of a wide table that a glob stands for, in the order of its columns."""
    before, after = (fnmatch.translate(part) for part in glob.split(HOLE, 1))
    found: dict[str, None] = {}
    for column in free:
        for name in alternatives:
            match = re.fullmatch(f"({before[:-2]})({re.escape(name)})({after[:-2]})", column)
            if match:
                found[f"{match[1]}{HOLE}{match[3]}"] = None
    yield from found
