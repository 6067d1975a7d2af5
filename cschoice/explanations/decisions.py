"""One decision: why one object of a set is before another one, as a sum of contributions.

The log-odds of x over y in S are those of the pair {x, y} by itself plus what the rivals change.
The pair's are divided among its features (y's features are turned into x's, one by one), the rest
among the rivals (they join the pair, one by one), each fairly by Shapley values. Both games are
exact for up to ten players.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.explanations.features import feature_groups
from cschoice.explanations.objects import Objects, unique
from cschoice.explanations.sets import (
    Entries,
    Values,
    by_size,
    sample,
    utilities_of,
    utilities_with,
)
from cschoice.explanations.shapley import shapley
from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks

_LOOKED_AT = 3_000  # objects of the tasks among which a striking one is looked for


@dataclass(frozen=True)
class Contribution:
    """One term of the sum."""

    name: str
    is_rival: bool
    value: float
    error: float  # standard error, where contributions were drawn
    first: tuple[float, ...] = ()  # the values of x, of a feature
    second: tuple[float, ...] = ()


@dataclass(frozen=True)
class Decision:
    """Why x is before y in a set; contributions sum to ``total``."""

    task: int
    first: str
    second: str
    n_objects: int
    chosen: tuple[str, ...]
    alone: float  # the log-odds of x over y in the pair
    total: float  # in the set
    contributions: tuple[Contribution, ...]

    @property
    def exact(self) -> bool:
        """Whether no contribution was drawn."""
        return all(one.error == 0 for one in self.contributions)

    @property
    def gap(self) -> float:
        """The remainder of the sum of the contributions: rounding."""
        return self.total - sum(one.value for one in self.contributions)


def check_number(tasks: ChoiceTasks, number: int) -> None:
    """Refuse the number of a task that is not there, or has nothing to compare."""
    if not 0 <= number < len(tasks):
        raise InvalidParameter(f"task must be 0 to {len(tasks) - 1}, got {number}")
    if tasks.sizes[number] < 2:
        raise InvalidParameter(f"task {number} has one object: there is nothing to compare")


def striking(learner: Learner, tasks: ChoiceTasks, seed: int = 0) -> int:
    """Return the number of a task in which the rivals of the two best objects matter much.

    Of some tasks drawn at random, the one where they change the log-odds of the pair most; where
    there is one, only tasks count in which they turn it round.
    """
    numbers = sample(tasks, _LOOKED_AT, seed)
    gains: dict[int, tuple[bool, float]] = {}
    found = tasks[numbers]
    for same in by_size(found, smallest=2):
        utilities = utilities_of(learner, found, same.entries)
        best = np.argsort(-utilities, axis=1, kind="stable")[:, :2]
        pairs = np.take_along_axis(same.entries, best, axis=1)
        alone = -np.diff(utilities_of(learner, found, pairs))[:, 0]
        there = -np.diff(np.take_along_axis(utilities, best, axis=1))[:, 0]
        for row, number in enumerate(same.numbers):
            gain = float(there[row] - alone[row])
            gains[int(numbers[number])] = (bool(alone[row] < 0), abs(gain))
    return max(gains, key=lambda number: gains[number])


def decision(
    learner: Learner,
    tasks: ChoiceTasks,
    objects: Objects,
    number: int,
    between: tuple[int, int] | None = None,
    seed: int = 0,
) -> Decision:
    """Explain one task: its best object before the second best, or two objects by position."""
    check_number(tasks, number)
    entries = tasks.entries(number)
    utilities = utilities_of(learner, tasks, entries)
    if between is None:
        order = np.argsort(-utilities, kind="stable")
        between = (int(order[0]), int(order[1]))
    if between[0] == between[1] or not all(0 <= k < len(entries) for k in between):
        allowed = f"two different positions from 0 to {len(entries) - 1}"
        raise InvalidParameter(f"task {number} has {allowed}, got {between[0]} and {between[1]}")
    names = dict(zip(entries.tolist(), names_in(objects, entries), strict=True))
    pair = entries[list(between)]
    alone = float(np.subtract(*utilities_of(learner, tasks, pair)))
    return Decision(
        task=number,
        first=names[int(pair[0])],
        second=names[int(pair[1])],
        n_objects=len(entries),
        chosen=tuple(names[int(k)] for k in entries[tasks.chosen[entries]]),
        alone=alone,
        total=float(utilities[between[0]] - utilities[between[1]]),
        contributions=(
            *_of_features(learner, tasks, pair, seed),
            *_of_rivals(learner, tasks, pair, np.delete(entries, between), names, seed),
        ),
    )


def names_in(objects: Objects, entries: Entries) -> list[str]:
    """Return a name of each object of a set; those of clusters are their place in the set."""
    if objects.have_identity:
        return unique([objects.names[k] for k in objects.codes[entries]])
    return [f"object {place}" for place in range(len(entries))]


def _of_features(
    learner: Learner, tasks: ChoiceTasks, pair: Entries, seed: int
) -> Iterator[Contribution]:
    """Divide the log-odds of the pair by itself among the features in which its objects differ."""
    first, second = tasks.table[tasks.items[pair]]
    groups = [
        group for group in feature_groups(tasks) if (first != second)[list(group.columns)].any()
    ]
    columns = np.zeros((len(groups), tasks.n_features), dtype=bool)
    for row, group in zip(columns, groups, strict=True):
        row[list(group.columns)] = True

    def log_odds(some: NDArray[np.bool_]) -> Values:
        changed = np.where((some @ columns), first, second)
        beside = np.stack([changed, np.broadcast_to(second, changed.shape)], axis=1)
        found = utilities_with(learner, tasks, beside)
        return np.asarray(found[:, 0] - found[:, 1])

    shares = shapley(log_odds, len(groups), seed)
    for group, value, error in zip(groups, shares.values, shares.errors, strict=True):
        shown = [group.numeric] if group.numeric is not None else []
        yield Contribution(
            group.name,
            False,
            float(value),
            float(error),
            tuple(float(first[k]) for k in shown),
            tuple(float(second[k]) for k in shown),
        )


def _of_rivals(
    learner: Learner,
    tasks: ChoiceTasks,
    pair: Entries,
    rivals: Entries,
    names: Mapping[int, str],
    seed: int,
) -> Iterator[Contribution]:
    """Divide the rivals' change of the pair's log-odds among them."""

    def log_odds(some: NDArray[np.bool_]) -> Values:
        values = np.empty(len(some))
        sizes = some.sum(1)
        for size in np.unique(sizes):  # sets of one size are evaluated at once
            rows = np.flatnonzero(sizes == size)
            joined = rivals[np.nonzero(some[rows])[1].reshape(len(rows), size)]
            both = np.broadcast_to(pair, (len(rows), 2))
            found = utilities_of(learner, tasks, np.concatenate([both, joined], axis=1))
            values[rows] = found[:, 0] - found[:, 1]
        return values

    shares = shapley(log_odds, len(rivals), seed)
    for rival, value, error in zip(rivals, shares.values, shares.errors, strict=True):
        yield Contribution(names[int(rival)], True, float(value), float(error))
