"""Partial dependence: the chance of an object as a feature of its own, or of a rival, changes.

The feature is set to each value of a grid in all sets, and the chances are averaged. Alternatives
with an identity have a curve each; other objects share one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.evaluation.decisions import choose, probabilities
from cschoice.explanations.features import FeatureGroup, moved
from cschoice.explanations.objects import Objects
from cschoice.explanations.sets import Values, by_size, of_features, utilities
from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks

_POINTS = 9
_ENDS = 0.05, 0.95  # quantiles between which a feature is moved


@dataclass(frozen=True)
class Grid:
    """The values that a feature is set to."""

    group: FeatureGroup
    values: Values

    @classmethod
    def of(cls, tasks: ChoiceTasks, group: FeatureGroup) -> Grid | None:
        """Return steps over most of a feature's values; None where there are fewer than two."""
        if group.numeric is None:
            return None
        values = tasks.table[tasks.items, group.numeric].astype(np.float64)
        distinct = np.unique(values)
        if len(distinct) < 2:
            return None
        if len(distinct) <= _POINTS:
            return cls(group, distinct)
        low, high = (float(end) for end in np.quantile(values, _ENDS))
        return cls(group, np.linspace(low, high, _POINTS))


def dependence(learner: Learner, tasks: ChoiceTasks, objects: Objects, grid: Grid) -> Values:
    """Return the mean chances at each value of the grid, (2, values, names).

    First of objects whose own feature is changed, then of those one of whose rivals is, the mean
    over rivals. Objects without identity are all of one name.
    """
    n_names = len(objects.names) if objects.have_identity else 1
    codes = objects.codes if objects.have_identity else np.zeros(tasks.n_entries, dtype=np.int64)
    sums = np.zeros((2, len(grid.values), n_names))
    counts = np.zeros((2, n_names))
    features = tasks.features
    for same in by_size(tasks, smallest=2):
        n, own = same.n_objects, np.eye(same.n_objects, dtype=bool)
        entries = np.broadcast_to(same.entries[:, None, :], (len(same.entries), n, n))
        names = codes[entries]
        for role, of in enumerate((own, ~own)):
            counts[role] += np.bincount(names[:, of].ravel(), minlength=n_names)
        for point, value in enumerate(grid.values):
            sets = features[entries]  # (tasks, changed, objects, features)
            sets[:, own] = moved(sets[:, own], grid.group, value)
            chances = _chances(learner, tasks, sets.reshape(-1, n, tasks.n_features))
            chances = chances.reshape(entries.shape)
            for role, of in enumerate((own, ~own)):
                sums[role, point] += np.bincount(
                    names[:, of].ravel(), chances[:, of].ravel(), minlength=n_names
                )
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts[:, None, :])


def _chances(learner: Learner, tasks: ChoiceTasks, features: NDArray[np.float32]) -> Values:
    """Return the chance of each object to be chosen; of models without chances, the choices."""
    sets = of_features(tasks, features)
    found = utilities(learner, sets)
    if learner.probabilistic:
        return probabilities(sets, found)
    return choose(sets, found, learner.preparation_.rule).astype(np.float64)
