"""Predicted against observed: alternative by alternative, and chance by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.segments import classes_of, label_of
from cschoice.effects.situations import Situations
from cschoice.effects.uncertainty import Way
from cschoice.errors import InvalidParameter

Floats = NDArray[np.float64]
_BINS = 10


@dataclass(frozen=True, eq=False)
class Group:
    """Some objects: the mean of their chances, and how many of them were chosen."""

    name: str
    n_objects: int
    predicted: float
    observed: float
    low: float  # interval of the observed share
    high: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Chances against choices."""

    model: str
    by_name: tuple[Group, ...]  # of alternatives, or classes; empty without names
    by_chance: tuple[Group, ...]  # of objects of similar chances, as many in each
    error: float  # mean distance between chance and share over the groups of chances
    n_tasks: int
    level: float


def calibration(way: Way, situations: Situations, *, of: str | None = None) -> Calibration:
    """Compare the chances that a model gives with how often these objects were chosen.

    An object counts as a draw with its weight; objects of a task are not independent, so that
    intervals are rough.
    """
    situations = _with_choices(situations)
    chosen = np.asarray(situations.chosen, dtype=np.float64)
    if not way.model.probabilistic:
        raise InvalidParameter(
            f"{way.model.name} was not fitted by its likelihood: it gives no chances to compare"
        )
    chances = way.point(lambda asked: asked.chances(situations))
    weights = situations.spread(situations.task_weights)

    def group(name: str, mask: NDArray[np.bool_]) -> Group:
        share = float(np.average(chosen[mask], weights=weights[mask]))
        size = float(weights[mask].sum() ** 2 / (weights[mask] ** 2).sum())
        low, high = wilson(share, size, way.level)
        predicted = float(np.average(chances[mask], weights=weights[mask]))
        return Group(name, int(mask.sum()), predicted, share, low, high)

    by_name: tuple[Group, ...] = ()
    if of is not None or situations.names:
        classes = classes_of(situations, of)
        by_name = tuple(group(str(name), classes == name) for name in np.unique(classes))
    edges = np.unique(np.quantile(chances, np.linspace(0, 1, _BINS + 1)))
    place = np.clip(np.searchsorted(edges, chances, side="right") - 1, 0, max(0, len(edges) - 2))
    by_chance = tuple(group(_between(edges, int(k)), place == k) for k in np.unique(place))
    sizes = np.array([one.n_objects for one in by_chance])
    distances = np.array([abs(one.predicted - one.observed) for one in by_chance])
    error = float(np.average(distances, weights=sizes))
    return Calibration(way.model.name, by_name, by_chance, error, len(situations), way.level)


def _with_choices(situations: Situations) -> Situations:
    """Return the tasks whose choice is known; refuse data that do not tell any."""
    known = situations.with_choices
    if not known.any():
        raise InvalidParameter("these data do not say what was chosen: nothing to compare with")
    return situations if known.all() else situations[np.flatnonzero(known)]


def _between(edges: Floats, k: int) -> str:
    if len(edges) < 2:
        return label_of(edges[0])
    return f"{edges[k]:.3f}–{edges[k + 1]:.3f}"


def wilson(share: float, size: float, level: float) -> tuple[float, float]:
    """Return Wilson's interval of a share of ``size`` draws.

    >>> [round(bound, 4) for bound in wilson(0.5, 100, 0.95)]
    [0.4038, 0.5962]
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    middle = (share + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
    return max(0.0, middle - float(reach)), min(1.0, middle + float(reach))
