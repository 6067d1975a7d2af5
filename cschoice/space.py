"""Search spaces: what a hyperparameter may be; knows nothing of any optimizer."""

from __future__ import annotations

from dataclasses import dataclass

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
