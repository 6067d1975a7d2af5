"""Which relation between two objects says how one changes the worth of the other.

The effects of objects on each other, see ``halo.Influences``, are compared with relations of two
objects that people can name: distance, dominance, the difference in a feature. Within each set,
the mean effect of a rival on all others and of all rivals on an object are taken out of both; what
is left belongs to pairs, and the share of it that a relation explains is its R².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cschoice.explanations.features import feature_groups
from cschoice.explanations.halo import Influences
from cschoice.explanations.sets import Entries, Values
from cschoice.explanations.triples import Directions
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.scaling import Scaling

_ROUNDS = 20  # of taking out means
_MOST_FEATURES = 8  # whose differences are looked at


@dataclass(frozen=True)
class Relation:
    """A relation of a rival to an object; ``per_unit`` is the change by a unit of it."""

    name: str
    explained: float  # R², between 0 and 1
    per_unit: float  # effect of one standard deviation


def relations(tasks: ChoiceTasks, found: Influences, directions: Directions) -> list[Relation]:
    """Return the relations, the one that explains most first."""
    if len(found.effect) == 0:
        return []
    effect = _of_pairs(found, found.effect)
    total = float(effect @ effect)
    rows = []
    for name, values in _candidates(tasks, found, directions).items():
        relation = _of_pairs(found, values)
        size = float(relation @ relation)
        if size <= 1e-9 * max(1.0, float(values @ values)) or total == 0:
            continue  # the same for all pairs, once means are taken out
        slope = float(relation @ effect) / size
        rows.append(Relation(name, slope**2 * size / total, slope * float(values.std())))
    return sorted(rows, key=lambda row: -row.explained)


def _candidates(tasks: ChoiceTasks, found: Influences, directions: Directions) -> dict[str, Values]:
    """Return the values of each relation for each pair."""
    scaled = Scaling.learn(tasks.table, tasks.items).apply(tasks.table)[tasks.items]
    columns = list(directions.columns)
    gap = (scaled[found.by] - scaled[found.of]).astype(np.float64)
    worth = gap[:, columns] * directions.signs
    values = {
        "distance": np.linalg.norm(gap, axis=1),
        "the rival dominates": ((worth >= 0).all(1) & (worth > 0).any(1)).astype(float),
        "the rival is dominated": ((worth <= 0).all(1) & (worth < 0).any(1)).astype(float),
        "the same object": (gap == 0).all(1).astype(float),
    }
    numbers = [group for group in feature_groups(tasks) if group.numeric is not None]
    for group in numbers[:_MOST_FEATURES]:
        own = gap[:, group.numeric]
        values[f"distance in {group.name}"] = np.abs(own)
        # The difference itself is a part of each object alone: its means are taken out.
        values[f"the rival is higher in {group.name}"] = (own > 0).astype(float)
    if gap.shape[1] == 1:
        del values["distance"]
    return values


def _of_pairs(found: Influences, values: Values) -> Values:
    """Take out the means of each object and of each rival within its set."""
    left = values.astype(np.float64)
    for _ in range(_ROUNDS):
        for who in (found.of, found.by):
            left = left - _means(who, left)[who]
    return left


def _means(who: Entries, values: Values) -> Values:
    counts = np.bincount(who)
    return np.asarray(np.bincount(who, values) / np.maximum(counts, 1))
