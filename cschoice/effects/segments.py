"""Segments of tasks and classes of objects, over which chances are added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.formulas import evaluated
from cschoice.effects.situations import Situations, Values
from cschoice.errors import InvalidParameter

Floats = NDArray[np.float64]
ALL = "all"
_MOST = 30  # segments of one formula, classes of objects


@dataclass(frozen=True, eq=False)
class Segments:
    """Parts of the tasks, which may overlap; the first one is all of them."""

    names: tuple[str, ...]
    members: NDArray[np.bool_]  # (segments, tasks)
    weights: Floats  # of tasks

    @property
    def sizes(self) -> list[int]:
        """Return the number of tasks of each."""
        return [int(size) for size in self.members.sum(axis=1)]

    def means(self, values: Floats) -> Floats:
        """Return the weighted mean of each segment of values per task, (tasks, …)."""
        weights = self.members * self.weights
        total: Floats = np.tensordot(weights, values, axes=1)
        sums = weights.sum(axis=1)
        means: Floats = total / sums.reshape(-1, *[1] * (total.ndim - 1))
        return means


def segments_of(situations: Situations, by: Sequence[str] = ()) -> Segments:
    """Return all tasks, and those with each value of each formula."""
    found = [(ALL, np.ones(len(situations), dtype=bool))]
    for text in by:
        values = situations.per_task(evaluated(situations, text), text)
        found += _parts(text, values)
    names, members = zip(*found, strict=True)
    return Segments(names, np.array(members), situations.task_weights)


def _parts(text: str, values: Values) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    if values.dtype.kind == "b":
        parts = ((text, values), (f"not ({text})", ~values))
        yield from ((name, mask) for name, mask in parts if mask.any())
        return
    different = np.unique(values)
    if len(different) > _MOST:
        raise InvalidParameter(
            f"'{text}' has {len(different):,} values: write a condition, such as '{text} > "
            f"{label_of(different[len(different) // 2])}'"
        )
    for value in different:
        yield f"{text} = {label_of(value)}", values == value


def classes_of(situations: Situations, of: str | None = None) -> NDArray[np.str_]:
    """Return the class of each object: its alternative, or the value of a formula."""
    if of is None:
        if situations.alternatives is None:
            raise InvalidParameter(
                "alternatives have no names here: say by which column of the objects shares are "
                f"taken (of); there are {situations.described}"
            )
        named: NDArray[np.str_] = situations.named
        return named
    different, codes = np.unique(evaluated(situations, of), return_inverse=True)
    if len(different) > _MOST:
        raise InvalidParameter(
            f"'{of}' has {len(different):,} values: shares need few classes, such as those of "
            f"'{of} > {label_of(different[len(different) // 2])}'"
        )
    labels: NDArray[np.str_] = np.array([label_of(value) for value in different])
    return labels[codes]


def summed(
    situations: Situations, chances: Floats, classes: NDArray[np.str_], names: Sequence[str], n: int
) -> Floats:
    """Return the chances of each class in each of the ``n`` tasks that there were at first."""
    place = {name: k for k, name in enumerate(names)}
    codes = np.array([place.get(one, len(names)) for one in classes.tolist()], dtype=np.int64)
    tasks = situations.spread(situations.task_numbers)
    places = tasks * (len(names) + 1) + codes
    sums: NDArray[Any] = np.bincount(places, weights=chances, minlength=n * (len(names) + 1))
    return sums.reshape(n, -1)[:, :-1]


def label_of(value: object) -> str:
    """Return a value as people write it: whole numbers without a point.

    >>> label_of(np.float64(3)), label_of(np.float64(0.5)), label_of(np.str_("north"))
    ('3', '0.5', 'north')
    """
    return format(value, ".6g") if isinstance(value, float | int | np.number) else str(value)
