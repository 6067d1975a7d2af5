"""The utility as people write it: terms, conditions, bounds; applied to a sample, a design."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidFile, InvalidParameter
from cschoice.estimates.expressions import Expression, hide_names
from cschoice.estimates.samples import CONSTANT, Sample, constant_within
from cschoice.learners.logit.optimization import Bounds, Vector
from cschoice.registry import unknown_name
from cschoice.tasks import ChoiceTasks

EACH = ":constants"  # after a term: one coefficient for each alternative
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Specification:
    """The sections of a specification; all are optional.

    ``utility`` lists terms: a feature, ``constants``, a formula (``time / 60``), one with a name
    (``{"minutes": "time * 60"}``), or one with a coefficient for each alternative
    (``income:constants``). Without it all features of the objects are in the utility.
    """

    utility: tuple[tuple[str, str], ...] = ()  # name and formula of each term
    where: str | None = None  # tasks to keep
    reference: str | None = None  # the alternative without a constant
    fixed: tuple[str, ...] = ()  # "freq = 0.1"
    bounds: tuple[str, ...] = ()  # "cost <= 0"
    start: tuple[str, ...] = ()  # "cost = -1"
    nests: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # name -> alternatives
    nest_column: str | None = None  # the feature that says the nest, instead
    max_dissimilarity: float | None = None  # of nests
    random: Mapping[str, str] = field(default_factory=dict)  # coefficient -> its distribution
    correlated: bool = False  # random coefficients
    money: str | None = None  # the coefficient in whose units others are estimated
    draws: int | None = None  # of random coefficients, per person
    integration: str | None = None  # sobol, halton or mlhs
    classes: str = "2"  # of a latent class logit, or a range: the best by BIC
    membership: tuple[tuple[str, str], ...] = ()  # terms of the chooser that say the class
    network: tuple[tuple[str, str], ...] = ()  # terms that a network sees
    tastes: tuple[str, ...] = ()  # coefficients that the network of a TasteNet moves
    errors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # shared by alternatives

    @classmethod
    def of(cls, **given: Any) -> Specification:
        """Make a specification from lists, mappings, or texts such as ``"cost, time / 60"``."""
        allowed = [one.name for one in fields(cls)]
        for name in given:
            if name not in allowed:
                raise InvalidParameter(unknown_name("section of a specification", name, allowed))
        known = {name: value for name, value in given.items() if value}
        for name in ("utility", "membership", "network"):
            if name in known:
                known[name] = tuple(_terms(known[name]))
        if "classes" in known:
            known["classes"] = str(known["classes"])
        for name in ("fixed", "bounds", "start", "tastes"):
            if name in known:
                known[name] = tuple(texts_of(known[name]))
        if "nests" in known and (column := _only_name(known["nests"])):
            known["nest_column"] = column
            del known["nests"]
        for name in ("nests", "errors"):
            if name in known:
                known[name] = _nests(known[name])
        if "random" in known:
            known["random"] = _pairs(known["random"], "random")
        return cls(**known)

    @classmethod
    def read(cls, path: Path, **more: Any) -> Specification:
        """Read a specification from YAML; options given beside it take precedence."""
        from cschoice.io.plain_yaml import read_yaml

        given = read_yaml(path) or {}
        if not isinstance(given, dict):
            raise InvalidFile(f"{path} must have sections such as utility, got {given!r}")
        return cls.of(**given | {name: value for name, value in more.items() if value})

    @property
    def class_counts(self) -> list[int]:
        """Return the numbers of classes to try: one, or those of a range such as 2-4."""
        first, sign, last = self.classes.partition("-")
        try:
            counts = range(int(first), int(last if sign else first) + 1)
        except ValueError:
            counts = range(0)
        if not counts or counts[0] < 1 or counts[-1] > _MOST_CLASSES:
            raise InvalidParameter(
                f"classes: write a number or a range of 1 to {_MOST_CLASSES}, such as 2-4, "
                f"got {self.classes[:50]!r}"
            )
        return list(counts)


@dataclass(frozen=True)
class Design:
    """The tasks as a model sees them: one feature per term."""

    tasks: ChoiceTasks
    names: tuple[str, ...]
    sample: Sample  # the tasks kept, with all features
    notes: tuple[str, ...] = ()


def design(sample: Sample, specification: Specification) -> Design:
    """Return the design of a specification: tasks that are kept, and a column per term."""
    sample = _kept(sample, specification.where)
    reference = _reference(sample, specification.reference)
    if not specification.utility:
        return _all_features(sample, reference)
    columns = _terms_of(sample, specification, reference)
    made = with_columns(sample.tasks, np.column_stack(list(columns.values())))
    return Design(made, tuple(columns), sample)


def design_of(sample: Sample, specification: Specification, terms: Sequence[str]) -> Design:
    """Return the design of other tasks with the same terms, whatever their features are now."""
    if specification.utility:
        columns = _terms_of(sample, specification, None)
    else:
        columns = {name: sample.column(k) for k, name in enumerate(sample.features)}
    made = with_columns(sample.tasks, np.column_stack([columns[name] for name in terms]))
    return Design(made, tuple(terms), sample)


def _terms_of(
    sample: Sample, specification: Specification, reference: str | None
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of all terms; without a reference, one for every alternative."""
    columns: dict[str, NDArray[np.float64]] = {}
    for name, text in specification.utility:
        for label, values in _columns(sample, name, text, reference).items():
            if label in columns:
                raise InvalidParameter(f"the utility has two terms named '{label}'")
            columns[label] = values
    return columns


def with_columns(tasks: ChoiceTasks, columns: NDArray[Any]) -> ChoiceTasks:
    """Return the tasks with other features, one row per entry."""
    if not np.isfinite(columns).all():
        raise InvalidParameter("a term of the utility is not finite: a division by zero, or log(0)")
    table = columns.astype(np.float32)
    return tasks.with_arrays(table=table, items=np.arange(tasks.n_entries), encoding=None)


def term_columns(
    sample: Sample, terms: Sequence[tuple[str, str]]
) -> dict[str, NDArray[np.float64]]:
    """Return the values of terms, one per entry."""
    columns = {}
    for name, text in terms:
        expression, values = _formula(sample, text)
        column = np.asarray(expression.value(values), dtype=np.float64)
        columns[name] = np.broadcast_to(column, (sample.tasks.n_entries,))
    return columns


def chooser_columns(
    sample: Sample, terms: Sequence[tuple[str, str]]
) -> dict[str, NDArray[np.float64]]:
    """Return terms of the chooser: each has one value for all objects of a task."""
    columns = term_columns(sample, terms)
    for name, column in columns.items():
        if not constant_within(sample.tasks, column):
            raise InvalidParameter(
                f"membership: '{name}' differs between the objects of a task: name what is known "
                "of the chooser (import with --context)"
            )
    return columns


def limits(
    specification: Specification, names: Sequence[str], own: Bounds, start: Vector
) -> tuple[Bounds, Vector]:
    """Return bounds and start of all parameters, those of the model and those given."""
    low, high, start = own[0].copy(), own[1].copy(), start.copy()
    for text in specification.bounds:
        k, below, above = _bound(text, names)
        low[k], high[k] = max(low[k], below), min(high[k], above)
        if low[k] > high[k]:
            raise InvalidParameter(f"bounds: no value of '{names[k]}' satisfies '{text}'")
    for text in specification.start:
        k, value = _assignment(text, names, "start")
        start[k] = value
    for text in specification.fixed:
        k, value = _assignment(text, names, "fixed")
        low[k] = high[k] = start[k] = value
    return (low, high), np.clip(start, low, high)


def _kept(sample: Sample, where: str | None) -> Sample:
    if where is None:
        return sample
    expression, values = _formula(sample, where)
    keep = np.broadcast_to(expression.value(values), (sample.tasks.n_entries,)) != 0
    if not constant_within(sample.tasks, keep):
        raise InvalidParameter(f"where: '{where}' differs between the objects of a task")
    numbers = np.flatnonzero(keep[sample.tasks.offsets[:-1]])
    if not len(numbers):
        raise InvalidParameter(f"where: no task satisfies '{where}'")
    return sample[numbers]


def _formula(sample: Sample, text: str) -> tuple[Expression, dict[str, Any]]:
    """Return a formula over features and alternatives, and the values of its names."""
    places = sample.alternatives | {name: k for k, name in enumerate(sample.features)}
    expression = Expression.parse(text, list(places))
    return expression, {name: sample.column(places[name]) for name in expression.names}


def _columns(
    sample: Sample, name: str, text: str, reference: str | None
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a term."""
    others = {one: k for one, k in sample.alternatives.items() if one != reference}
    if text == "constants":
        _need_alternatives(sample, text)
        return {f"{CONSTANT}{one}": sample.column(k) for one, k in others.items()}
    each = text.endswith(EACH)
    expression, values = _formula(sample, text.removesuffix(EACH))
    column = np.broadcast_to(
        np.asarray(expression.value(values), dtype=np.float64), (sample.tasks.n_entries,)
    )
    if not each:
        return {name: column}
    _need_alternatives(sample, text)
    if not constant_within(sample.tasks, column):
        others = sample.alternatives  # of an object's feature every alternative can have one
    label = name.removesuffix(EACH)
    return {f"{label}:{one}": column * sample.column(k) for one, k in others.items()}


def _need_alternatives(sample: Sample, text: str) -> None:
    if not sample.alternatives:
        raise InvalidParameter(
            f"'{text}' needs to know the alternatives: import with --object (or --wide) and "
            "--constants"
        )


def _reference(sample: Sample, given: str | None) -> str | None:
    """Return the alternative without a constant: given here, else at import, else the first."""
    given = given or sample.reference
    if given is not None:
        if given not in sample.alternatives:
            raise InvalidParameter(unknown_name("alternative", given, sample.alternatives))
        return given
    constants = [sample.column(k) for k in sample.alternatives.values()]
    complete = bool(constants) and bool((np.sum(constants, axis=0) == 1).all())
    return next(iter(sample.alternatives)) if complete else None


def _all_features(sample: Sample, reference: str | None) -> Design:
    """Return the design with all features that can have a coefficient."""
    if sample.reference and reference != sample.reference:
        _refuse_interactions(sample)
    of_reference = [
        name
        for name in sample.features
        if name == f"{CONSTANT}{reference}" or name.startswith(f"{CONSTANT}{reference} × ")
    ]
    of_chooser = [name for k, name in enumerate(sample.features) if sample.is_of_chooser(k)]
    left_out = {*of_chooser, *of_reference}
    notes = []
    if of_chooser:
        notes.append(
            f"left out, the same for all objects of a task: {', '.join(of_chooser)} (as "
            f"'{of_chooser[0]}{EACH}' in a utility they can have coefficients)"
        )
    kept = [k for k, name in enumerate(sample.features) if name not in left_out]
    if not kept:
        raise InvalidParameter("there is no feature that differs between the objects of a task")
    tasks = sample.tasks
    if left_out:
        tasks = replace(tasks, table=tasks.table[:, kept], encoding=None)
    return Design(tasks, tuple(sample.features[k] for k in kept), sample, tuple(notes))


def _refuse_interactions(sample: Sample) -> None:
    """Refuse another reference where interactions with its constant were never made."""
    made = [name for name in sample.features if name.startswith(CONSTANT) and " × " in name]
    if made:
        raise InvalidParameter(
            f"the interactions with constants, such as '{made[0]}', leave out {sample.reference}: "
            "import with another --reference, or write them in a utility, such as "
            f"'{made[0].partition(' × ')[2]}{EACH}'"
        )


def _bound(text: str, names: Sequence[str]) -> tuple[int, float, float]:
    """Read ``cost <= 0`` or ``-1 <= cost <= 0``: the place of the parameter, and its bounds."""
    hidden, found = hide_names(text, names)
    parts = hidden.replace(">=", " >= ").replace("<=", " <= ").split()
    example = "write bounds as 'cost <= 0' or '-1 <= cost <= 0'"
    if len(found) != 1 or len(parts) not in (3, 5):
        raise InvalidParameter(_unread("bounds", text, names, example))
    (name,) = found.values()
    low, high = -np.inf, np.inf
    for left, sign, right in (parts[:3], parts[2:])[: len(parts) // 2]:
        number, name_first = (right, True) if left in found else (left, False)
        if sign not in ("<=", ">=") or not _is_number(number):
            raise InvalidParameter(_unread("bounds", text, names, example))
        if (sign == "<=") == name_first:
            high = min(high, float(number))
        else:
            low = max(low, float(number))
    return list(names).index(name), low, high


def _assignment(text: str, names: Sequence[str], section: str) -> tuple[int, float]:
    hidden, found = hide_names(text, names)
    name, _, value = (part.strip() for part in hidden.partition("="))
    if name not in found or not _is_number(value):
        raise InvalidParameter(_unread(section, text, names, f"write {section} as 'cost = -1'"))
    return list(names).index(found[name]), float(value)


def _unread(section: str, text: str, names: Sequence[str], example: str) -> str:
    return f"{section}: '{text}' is not understood: {example}; known: {', '.join(names)}"


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _terms(given: Any) -> list[tuple[str, str]]:
    """Return name and formula of each term of a text, a list or a mapping."""
    if isinstance(given, Mapping):
        return [(str(name), str(text)) for name, text in given.items()]
    terms = []
    for part in texts_of(given) if isinstance(given, str) else given:
        if isinstance(part, Mapping):
            terms += _terms(part)
        else:
            name, text = _named_term(str(part))
            terms.append((name, text))
    return terms


def _named_term(text: str) -> tuple[str, str]:
    """Split ``cost = a * b`` into name and formula; a comparison is none, nor is constant=car."""
    name, sign, formula = text.partition(" = ")
    return (name.strip(), formula.strip()) if sign else (text.strip(), text.strip())


def texts_of(given: Any) -> list[str]:
    """Return the parts of a text at its commas, those in parentheses apart; or a list as it is."""
    if not isinstance(given, str):
        return [str(part).strip() for part in given]
    parts, depth = [""], 0
    for letter in given:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _only_name(given: Any) -> str | None:
    """Return the only text given, if it is a name without alternatives: that of a column."""
    texts = [given] if isinstance(given, str) else list(given)
    is_name = len(texts) == 1 and not isinstance(given, Mapping) and "=" not in texts[0]
    return str(texts[0]).strip() if is_name else None


def _nests(given: Any) -> dict[str, tuple[str, ...]]:
    """Read nests: a mapping, or texts such as ``existing=TRAIN,CAR``."""
    if not isinstance(given, Mapping):
        pairs = [part.partition("=") for part in ([given] if isinstance(given, str) else given)]
        given = {name.strip(): members for name, _, members in pairs}
    return {str(name): tuple(texts_of(members)) for name, members in given.items()}


def _pairs(given: Any, section: str) -> dict[str, str]:
    """Read names with words: a mapping, or a text such as ``time=normal, cost=lognormal``."""
    if isinstance(given, Mapping):
        return {str(name): str(word) for name, word in given.items()}
    pairs = [part.rpartition("=") for part in texts_of(given)]
    for name, sign, word in pairs:
        if not (name and sign and word):
            raise InvalidParameter(f"{section}: write 'NAME=WORD', got '{name}{sign}{word}'")
    return {name.strip(): word.strip() for name, _, word in pairs}
