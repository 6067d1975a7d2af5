"""Attraction, compromise and similarity: the effects that no model without context has.

A triple is a target t, a competitor c and a third object d, defined from features with declared
directions; neither t nor c is better in everything.

- attraction: d is worse than t in everything, and not than c: t should gain on c;
- compromise: t lies between c and d in every feature, about in the middle: t should gain on c;
- similarity: d is near c and not worse in everything: d takes from c, t should gain on c.

Two measures: the change in the log-odds of t over c when d is *added* to the rest of the set, and
half the change when d is *moved* from its place to the mirrored place on the other side, which
compares sets of the same size, as experiments do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.explanations.features import FeatureGroup, feature_groups
from cschoice.explanations.features import moved as moved_to
from cschoice.explanations.sets import (
    Entries,
    Values,
    by_size,
    utilities_of,
    utilities_with,
)
from cschoice.learners.learner import Learner
from cschoice.registry import unknown_name
from cschoice.tasks import ChoiceTasks

EFFECTS = ("attraction", "compromise", "similarity")

_NEAR = 0.5  # similarity: d is this much nearer to c than t is
_MIDDLE = 0.35  # compromise: how far along the way from c to d the target is, at least
_MOST_DIRECTIONS = 4  # features whose directions are asked of the model
_MOST = 20_000  # triples of an effect that are measured


@dataclass(frozen=True)
class Directions:
    """The features in which objects are compared, and which values of them are better."""

    columns: tuple[int, ...]
    signs: tuple[int, ...]  # 1: high is better, -1: low is
    names: tuple[str, ...]

    @property
    def described(self) -> str:
        """The directions in words."""
        words = {1: "high", -1: "low"}
        named = zip(self.names, self.signs, strict=True)
        return ", ".join(f"{words[sign]} {name}" for name, sign in named)


def directions_of(better: Mapping[str, str], names: list[str]) -> Directions:
    """Return declared directions, such as ``{"price": "low", "quality": "high"}``."""
    problems = [unknown_name("feature", name, names) for name in better if name not in names] + [
        f"feature '{name}' must be better high or low, got '{word}'"
        for name, word in better.items()
        if word not in ("high", "low")
    ]
    if problems:
        raise InvalidParameter("; ".join(problems))
    return Directions(
        tuple(names.index(name) for name in better),
        tuple(1 if word == "high" else -1 for word in better.values()),
        tuple(better),
    )


def model_directions(learner: Learner, tasks: ChoiceTasks) -> Directions:
    """Return the directions that the model has learned: more is better where utilities rise.

    Of numbers only, the first few; each object's own value is raised by a standard deviation.
    """
    groups = [group for group in feature_groups(tasks) if group.numeric is not None]
    groups = groups[:_MOST_DIRECTIONS]
    rises = [_rise(learner, tasks, group) for group in groups]
    return Directions(
        tuple(group.columns[0] for group in groups),
        tuple(1 if rise >= 0 else -1 for rise in rises),
        tuple(group.name for group in groups),
    )


def _rise(learner: Learner, tasks: ChoiceTasks, group: FeatureGroup) -> float:
    """Return the mean change in an object's utility as its own value is raised."""
    features = tasks.features
    values = features[:, group.columns[0]]
    raised = moved_to(features, group, values + values.std())
    rises = []
    for same in by_size(tasks):
        own = np.eye(same.n_objects, dtype=bool)[None, :, :, None]
        entries = same.entries[:, None, :]  # one set for each of its objects
        sets = np.where(own, raised[entries], features[entries])
        own_raised = np.diagonal(utilities_with(learner, tasks, sets), axis1=1, axis2=2)
        rises.append(own_raised - utilities_of(learner, tasks, same.entries))
    return float(np.concatenate([rise.ravel() for rise in rises]).mean())


@dataclass(frozen=True)
class Triples:
    """The triples of an effect in the data: entries of target, competitor and third object."""

    effect: str
    entries: Entries  # (triples, 3)
    sets: Entries  # (triples,) number of the task
    n_found: int  # more than are kept where there are very many

    @property
    def n_sets(self) -> int:
        """The number of tasks that have one."""
        return len(np.unique(self.sets))


def triples(tasks: ChoiceTasks, directions: Directions, seed: int = 0) -> list[Triples]:
    """Return all triples of each effect."""
    columns = list(directions.columns)
    worth = tasks.table[:, columns].astype(np.float64) * directions.signs
    deviation = worth[tasks.items].std(axis=0)
    worth = (worth / np.where(deviation > 0, deviation, 1))[tasks.items]
    found: dict[str, list[Entries]] = {effect: [] for effect in EFFECTS}
    for same in by_size(tasks, smallest=3):
        places = _ordered_triples(same.n_objects)
        for start in range(0, len(same.entries), 2_000):
            entries = same.entries[start : start + 2_000][:, places].reshape(-1, 3)
            target, competitor, third = (worth[entries[:, k]] for k in range(3))
            for effect, is_one in _kinds(target, competitor, third).items():
                found[effect].append(entries[is_one])
    task_of = np.repeat(np.arange(len(tasks)), tasks.sizes)
    rng = np.random.default_rng(seed)
    kept = []
    for effect, parts in found.items():
        entries = np.concatenate([*parts, np.zeros((0, 3), dtype=np.int64)])
        some = rng.permutation(len(entries))[:_MOST]
        kept.append(Triples(effect, entries[some], task_of[entries[some, 0]], len(entries)))
    return kept


def _ordered_triples(n: int) -> Entries:
    numbers = np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3)
    different = (
        (numbers[:, 0] != numbers[:, 1])
        & (numbers[:, 0] != numbers[:, 2])
        & (numbers[:, 1] != numbers[:, 2])
    )
    return np.asarray(numbers[different])


def _kinds(t: Values, c: Values, d: Values) -> dict[str, NDArray[np.bool_]]:
    """Mark the triples of each effect; features are in deviations, more is better."""
    traded = ~_dominates(t, c) & ~_dominates(c, t) & (t != c).any(1)
    open_ = traded & ~_dominates(t, d) & ~_dominates(c, d) & ~_dominates(d, t) & ~_dominates(d, c)
    between = ((t - c) * (d - t) > 0).all(1)
    way = np.linalg.norm(t - c, axis=1) / np.maximum(np.linalg.norm(d - c, axis=1), 1e-12)
    nearer = np.linalg.norm(d - c, axis=1) <= _NEAR * np.linalg.norm(t - c, axis=1)
    return {
        "attraction": traded & _dominates(t, d) & ~_dominates(c, d) & ~_dominates(d, c),
        "compromise": open_ & between & (way >= _MIDDLE) & (way <= 1 - _MIDDLE),
        "similarity": open_ & nearer & (d != c).any(1),
    }


def _dominates(x: Values, y: Values) -> NDArray[np.bool_]:
    return np.asarray((x >= y).all(1) & (x > y).any(1))


def added(learner: Learner, tasks: ChoiceTasks, some: Triples) -> Values:
    """Return the change by each third object in the log-odds of target over competitor."""
    changes = np.empty(len(some.entries))
    sizes = tasks.sizes[some.sets]
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        with_, without = _with_and_without(tasks, some, rows, int(size))
        changes[rows] = _log_odds(utilities_of(learner, tasks, with_)) - _log_odds(
            utilities_of(learner, tasks, without)
        )
    return changes


def _with_and_without(
    tasks: ChoiceTasks, some: Triples, rows: Entries, size: int
) -> tuple[Entries, Entries]:
    """Return the sets with target and competitor first and the third object last, and without."""
    entries, three = tasks.offsets[some.sets[rows]][:, None] + np.arange(size), some.entries[rows]
    rest = (entries[:, :, None] != three[:, None, :]).all(2)
    others = entries[rest].reshape(len(rows), size - 3)
    without = np.concatenate([three[:, :2], others], axis=1)
    return np.concatenate([without, three[:, 2:]], axis=1), without


def moved(learner: Learner, tasks: ChoiceTasks, some: Triples, directions: Directions) -> Values:
    """Return half the change in log-odds when the third object comes to this side.

    The other side: attraction, as far from c as d is from t; similarity, as far from t as d is
    from c; compromise, as far beyond c as d is beyond t.
    """
    columns = list(directions.columns)
    changes = np.empty(len(some.entries))
    sizes = tasks.sizes[some.sets]
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        sets, _ = _with_and_without(tasks, some, rows, int(size))
        features = tasks.table[tasks.items[sets]]
        other = features.copy()
        t, c, d = features[:, 0, columns], features[:, 1, columns], features[:, -1, columns]
        other[:, -1, columns] = {
            "attraction": c + (d - t),
            "similarity": t + (d - c),
            "compromise": c - (d - t),
        }[some.effect]
        here, there = (utilities_with(learner, tasks, one) for one in (features, other))
        changes[rows] = (_log_odds(here) - _log_odds(there)) / 2
    return changes


def _log_odds(utilities: Values) -> Values:
    return np.asarray(utilities[:, 0] - utilities[:, 1])
