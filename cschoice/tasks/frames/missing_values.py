"""Features as they are read, with gaps, and the values that fill the gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name
from cschoice.tasks.frames.columns import Column

Impute = Mapping[str | None, str]  # column -> how; None for all others
WAYS = ("mean", "median", "most-frequent")


@dataclass(frozen=True)
class RawFeature:
    """The values of a feature, one per object: numbers, or the numbers of labels."""

    name: str
    values: NDArray[Any]  # NaN, or -1 where there are labels: missing
    labels: list[str] | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mark the objects without a value."""
        gaps: NDArray[np.bool_] = np.isnan(self.values) if self.labels is None else self.values < 0
        return gaps


def raw_feature(values: Column, categorical: bool) -> RawFeature:
    """Read the values of a feature as numbers or as labels."""
    if categorical:
        return RawFeature(values.name, *values.labels())
    return RawFeature(values.name, values.numbers())


def parse_impute(
    given: str | Sequence[str] | Mapping[str | None, Any], known: Sequence[str]
) -> Impute:
    """Return how each column is filled, from ``"median"``, ``"cost=0"`` or several of them.

    >>> parse_impute("median,cost=0", ["cost", "time"])
    {None: 'median', 'cost': '0'}
    """
    ways: dict[str | None, str] = {}
    if isinstance(given, Mapping):
        ways = {name: str(how) for name, how in given.items()}
    else:
        for part in ",".join([given] if isinstance(given, str) else given).split(","):
            column, equals, how = part.partition("=")
            if part.strip():
                ways[column.strip() if equals else None] = (how if equals else column).strip()
    if ways.get(None, WAYS[0]) not in WAYS:
        allowed = ", ".join(WAYS)
        raise InvalidParameter(
            f"impute must be one of {allowed}, or COLUMN=VALUE, got '{ways[None]}'"
        )
    for name in ways:
        if name is not None and name not in known:
            raise InvalidParameter(unknown_name("feature to impute", name, known))
    return ways


def learned_fill(raw: RawFeature, impute: Impute) -> float | str | None:
    """Return the replacement of a missing value; None if none was asked for.

    Categories have no mean: any way but a value takes the most frequent one.
    """
    how = impute.get(raw.name, impute.get(None))
    if how is None:
        return None
    if how not in WAYS:
        return how if raw.labels is not None else _number(raw.name, how)
    there = raw.values[~raw.missing]
    if there.dtype == np.float32:  # a sum of many needs more digits
        there = there.astype(np.float64)
    if not len(there):
        raise ValueError(f"feature '{raw.name}' is missing everywhere: leave it out")
    if raw.labels is not None:
        return raw.labels[int(np.bincount(there).argmax())]
    if how == "most-frequent":
        different, counts = np.unique(there, return_counts=True)
        return float(different[counts.argmax()])
    return float(np.mean(there) if how == "mean" else np.median(there))


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        allowed = ", ".join(WAYS)
        raise ValueError(
            f"impute {name}: must be a number or one of {allowed}, got '{text}'"
        ) from None
