"""The utility as people write it: terms, conditions, bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from cschoice.errors import InvalidFile, InvalidParameter
from cschoice.registry import unknown_name

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
