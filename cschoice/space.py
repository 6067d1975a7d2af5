"""Parameters as data: the limits of every parameter, and the search space of those tuned.

Limits bound what a user may give at all; a dimension is the part that a search explores, for any
optimizer, and lies within the limits.
"""

from __future__ import annotations

import math
import reprlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cschoice.errors import InvalidParameter


@dataclass(frozen=True)
class Real:
    """A real number between bounds, on a log scale unless said otherwise."""

    low: float
    high: float
    log: bool = True

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.log)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value <= self.high

    def nearest(self, value: float) -> float:
        """Return the value between the bounds that is nearest."""
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Integer:
    """An integer between bounds, both included."""

    low: int
    high: int
    log: bool = False

    def __post_init__(self) -> None:
        _check_bounds(self.low, self.high, self.log)

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high

    def nearest(self, value: int) -> int:
        """Return the value between the bounds that is nearest."""
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Categorical:
    """One of a few named options."""

    options: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.options)) < max(1, len(self.options)):
            raise InvalidParameter(f"options must be distinct and not empty, got {self.options}")

    def __contains__(self, value: object) -> bool:
        return value in self.options

    def nearest(self, value: str) -> str:
        """Return the option itself, or the first where it is none."""
        return value if value in self.options else self.options[0]


Dimension = Real | Integer | Categorical


def _check_bounds(low: float, high: float, log: bool) -> None:
    if not low < high:
        raise InvalidParameter(f"bounds must be increasing, got {low} to {high}")
    if log and low <= 0:
        raise InvalidParameter(f"a log scale needs positive bounds, got {low} to {high}")


class Limit(ABC):
    """The values that a parameter of a learner or dataset may take."""

    @property
    @abstractmethod
    def allowed(self) -> str:
        """Return the allowed values in words, such as "a whole number of at least 1"."""

    @abstractmethod
    def __contains__(self, value: object) -> bool:
        """Return whether the value is allowed."""

    def problem(self, name: str, value: object) -> str | None:
        """Return the problem with the value of a parameter; None if the value is allowed.

        >>> Whole(1).problem("epochs", -3)
        'epochs must be a whole number of at least 1, got -3'
        """
        if value in self:
            return None
        return f"{name} must be {self.allowed}, got {reprlib.repr(value)}"


@dataclass(frozen=True)
class Whole(Limit):
    """A whole number from ``low`` to ``high``, both included; None is no limit."""

    low: int | None = None
    high: int | None = None

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return _between("a whole number", self.low, self.high)

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            return False
        number = int(value)
        return (self.low is None or self.low <= number) and (
            self.high is None or number <= self.high
        )


@dataclass(frozen=True)
class Number(Limit):
    """A finite number from ``low`` to ``high``, included unless ``above`` or ``below``."""

    low: float | None = None
    high: float | None = None
    above: bool = False  # larger than low
    below: bool = False  # smaller than high

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return _between("a number", self.low, self.high, self.above, self.below)

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
            return False
        try:
            number = float(value)
        except OverflowError:  # a whole number larger than any float
            return False
        if not math.isfinite(number):
            return False
        if self.low is not None and not (number > self.low if self.above else number >= self.low):
            return False
        return self.high is None or (number < self.high if self.below else number <= self.high)


@dataclass(frozen=True)
class OneOf(Limit):
    """One of a few values."""

    options: tuple[str | int, ...]

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return f"one of {', '.join(map(str, self.options))}"

    def __contains__(self, value: object) -> bool:
        kind = str if isinstance(value, str) else int
        if not isinstance(value, kind) or isinstance(value, bool):
            return False
        return value in self.options


@dataclass(frozen=True)
class Flag(Limit):
    """True or false."""

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return "true or false"

    def __contains__(self, value: object) -> bool:
        return isinstance(value, bool)


@dataclass(frozen=True)
class Text(Limit):
    """Any text that is not empty."""

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return "a text"

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and bool(value)


@dataclass(frozen=True)
class Words(Limit):
    """A text of words separated by commas, each one of a few."""

    options: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return f"words separated by commas, of {', '.join(self.options)}"

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and all(
            word.strip() in self.options for word in value.split(",")
        )


@dataclass(frozen=True)
class Optional(Limit):
    """A value within a limit, or None."""

    limit: Limit

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return f"{self.limit.allowed}, or None"

    def __contains__(self, value: object) -> bool:
        return value is None or value in self.limit


@dataclass(frozen=True)
class Several(Limit):
    """A list or tuple of distinct values, at least one, each within a limit."""

    limit: Limit

    @property
    def allowed(self) -> str:
        """Return the allowed values in words."""
        return f"a list of distinct values, each {self.limit.allowed}"

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(one in self.limit for one in value) and len(set(value)) == len(value)


def problems_of_parameters(limits: Mapping[str, Limit], given: Mapping[str, Any]) -> list[str]:
    """Return all problems of the values given to parameters; names without limits are skipped.

    >>> problems_of_parameters({"epochs": Whole(1)}, {"epochs": "three", "colour": 4})
    ["epochs must be a whole number of at least 1, got 'three'"]
    """
    problems = (
        limits[name].problem(name, value) for name, value in given.items() if name in limits
    )
    return [problem for problem in problems if problem is not None]


def _between(
    noun: str, low: float | None, high: float | None, above: bool = False, below: bool = False
) -> str:
    """Return a number's bounds in words."""
    if low is not None and high is not None and not above and not below:
        return f"{noun} from {low:,} to {high:,}"
    bounds = []
    if low is not None:
        bounds.append(f"{'larger than' if above else 'of at least'} {low:,}")
    if high is not None:
        bounds.append(f"{'smaller than' if below else 'at most'} {high:,}")
    return f"{noun} {' and '.join(bounds)}" if bounds else noun
