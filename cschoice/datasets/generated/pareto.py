"""The Pareto-front problem: choose all points not dominated by another one (sub:dgp:pareto)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from cschoice.datasets.generated.random_points import (
    BitGenerator,
    fill_normal,
    points_in_ball,
)
from cschoice.datasets.generated.synthetic import Chosen, Points, SyntheticPoints
from cschoice.space import Limit, OneOf
from cschoice.tasks import Kind

_TASKS_PER_CENTRE = 10


@dataclass(frozen=True, kw_only=True)
class Pareto(SyntheticPoints):
    """Normal points; those that no other one of the task dominates are chosen.

    ``centre="shared"`` is the generator behind the published numbers: ten tasks in a row share
    one centre. ``centre="per-object"`` is the text's: each object has a mean of its own, uniform
    in the unit ball.
    """

    n_objects: int = 30
    n_features: int = 2
    centre: Literal["shared", "per-object"] = "shared"

    kind: ClassVar[Kind] = Kind.SUBSET
    limits: ClassVar[Mapping[str, Limit]] = {
        **SyntheticPoints.limits,
        "centre": OneOf(("shared", "per-object")),
    }

    def _draw(self, bits: BitGenerator, points: Points) -> Chosen:
        n_objects, n_features, n_tasks = points.shape
        fill_normal(bits, points)
        if self.centre == "shared":
            centres = points_in_ball(bits, 1, n_features, n_tasks // _TASKS_PER_CENTRE)
            points += np.repeat(centres, _TASKS_PER_CENTRE, axis=2)
        else:
            points += points_in_ball(bits, n_objects, n_features, n_tasks, uniform=True)
        return pareto_front(points)


def pareto_front(points: Points) -> Chosen:
    """Mark the objects that no other object of their task dominates (larger is better).

    Objects are paired with those a fixed step further on: whole blocks of pairs at once, and
    each pair once.
    """
    n_objects, n_features, n_tasks = points.shape
    dominated = np.zeros((n_objects, n_tasks), dtype=bool)
    n_pairs = max(1, n_objects - 1)
    in_feature = np.empty((n_pairs, n_features, n_tasks), dtype=bool)
    at_most, at_least, buffer = np.empty((3, n_pairs, n_tasks), dtype=bool)
    for step in range(1, n_objects):
        later, earlier, pairs = points[step:], points[:-step], slice(n_objects - step)
        np.less_equal(later, earlier, out=in_feature[pairs])
        np.logical_and.reduce(in_feature[pairs], axis=1, out=at_most[pairs])
        np.greater_equal(later, earlier, out=in_feature[pairs])
        np.logical_and.reduce(in_feature[pairs], axis=1, out=at_least[pairs])
        # On truth values, a > b means a and not b: equal objects do not dominate each other.
        dominated[step:] |= np.greater(at_most[pairs], at_least[pairs], out=buffer[pairs])
        dominated[:-step] |= np.less(at_most[pairs], at_least[pairs], out=buffer[pairs])
    return np.logical_not(dominated, out=dominated)
