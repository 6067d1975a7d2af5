"""The words of a user, lists or texts such as ``"cost,time"``, to the description of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name
from cschoice.tasks.frames.description import CONSTANTS, HOLE, SVMLIGHT, Description
from cschoice.tasks.kind import Kind

Names = str | Sequence[str]


def describe(
    *,
    features: Names | Mapping[str, str] = (),
    chosen: str = "",
    task: Names = (),
    alternatives: Names | Mapping[str, str] | None = None,
    context: Names = (),
    cross: Names = (),
    categorical: Names = (),
    specific: Names = (),
    by: Names = (),
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
    file_format = others.get("format")
    if file_format == SVMLIGHT:  # its columns have no names of their own
        features, chosen, task = features or "*", chosen or "label", task or "qid"
    elif file_format is not None:
        raise InvalidParameter(f"format must be {SVMLIGHT}, or left out, got '{file_format}'")
    described = Description(
        features=_named(features, wide=alternatives is not None),
        chosen=chosen,
        task=_names(task),
        alternatives=None if alternatives is None else _codes(alternatives),
        context=_names(context),
        cross=_names(cross),
        categorical=_names(categorical),
        specific=_names(specific),
        by=_names(by) or (_names(task) if others.get("keep") else ()),
        kind=Kind(kind),
        **others,
    )
    problems = list(_contradictions(described))
    if problems:
        raise InvalidParameter("; ".join(problems))
    return described


def refuse_unknown_features(described: Description) -> None:
    """Refuse words about features that there are not; patterns of features are resolved by now."""
    problems = list(_unknown_features(described))
    if problems:
        raise InvalidParameter("; ".join(problems))


def _contradictions(described: Description) -> Iterator[str]:
    if not described.features and not described.constants:
        yield "features: name at least one column"
    if described.alternatives is None:
        if not described.task:
            yield "task: name the column that says which rows belong together"
        named = {"constants": described.constants, "specific": described.specific}
        for word in (word for word, given in named.items() if given and not described.object):
            needs = "need" if word == CONSTANTS else "needs"
            yield f"{word} {needs} the column that names the alternative: give object"
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
    if not described.chosen:
        yield "chosen: name the column that says what was chosen"
    if described.keep not in (None, "first", "last"):
        yield f"keep must be first or last, got '{described.keep}'"
    if described.by and not described.keep:
        yield "by needs keep: first or last"
    if described.keep and not described.by:
        yield "keep first or last of what: name the columns that are alike (by)"
    if described.reference and not described.constants:
        yield "reference is the alternative without a constant: give constants, too"
    for column, target in described.crossings:
        if target is not None and (column, None) in described.crossings:
            yield f"cross {column} multiplies all features: leave out {column}:{target}"


def _unknown_features(described: Description) -> Iterator[str]:
    features = list(described.features)
    for name in described.categorical:
        known = [*features, *described.of_chooser]
        if name not in known:
            yield unknown_name("categorical feature", name, known)
    for name in described.specific:
        if name not in features:
            hint = f"; is it a property of the chooser: cross {name}:{CONSTANTS}"
            yield unknown_name("specific feature", name, features) + hint
    for column, target in described.crossings:
        if target == CONSTANTS and not described.constants:
            yield f"cross {column}:{CONSTANTS} needs constants: give them, too"
        elif target not in (None, CONSTANTS, *features):
            noun = f"feature to cross {column} with"
            yield unknown_name(noun, str(target), [*features, CONSTANTS])


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
    pairs = [part.partition("=") for part in _names(given)]
    return _unique(
        (name.strip(), pattern.strip()) if equals else (feature_name(name, wide), name)
        for name, equals, pattern in pairs
    )


def feature_name(pattern: str, wide: bool) -> str:
    """Return the name of a feature that was given by its column or pattern alone."""
    if not wide:
        return pattern
    return pattern.partition("|")[0].replace(HOLE, "").strip(" _-.") or pattern


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
