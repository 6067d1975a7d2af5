"""The hypervolume problem: choose the point that dominates most volume alone (subsec_Hypervol)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.generated.random_points import (
    BitGenerator,
    fill_normal,
    fill_uniform,
    normalize,
    points_in_ball,
)
from cschoice.datasets.generated.synthetic import Chosen, Points, SyntheticPoints
from cschoice.errors import InvalidParameter, MissingDependency
from cschoice.space import Flag, Limit
from cschoice.tasks import Kind


@dataclass(frozen=True, kw_only=True)
class Hypervolume(SyntheticPoints):
    """Points on the unit sphere; the one with the largest contribution is chosen.

    Objectives are minimized, so the points lie in the negative orthant, seen from the reference
    point. ``offset=True`` is the generator behind the published numbers: uniform in the unit
    cube, normalized, negated, and the whole task moved by a random offset that is its reference
    point and not among the features. ``offset=False`` is the text's: uniform on the sphere, the
    reference point at zero.
    """

    n_features: int = 2
    offset: bool = True

    kind: ClassVar[Kind] = Kind.SINGLETON
    limits: ClassVar[Mapping[str, Limit]] = {**SyntheticPoints.limits, "offset": Flag()}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_features == 1:
            raise InvalidParameter(
                "on a sphere in 1 dimension all objects are equal: n_features must be at least 2"
            )

    def _draw(self, bits: BitGenerator, points: Points) -> Chosen:
        n_objects, n_features, n_tasks = points.shape
        if self.offset:
            fill_uniform(bits, points)
        else:
            fill_normal(bits, points)
            np.abs(points, out=points)
        normalize(points)
        largest = contributions(points).argmax(axis=0)
        np.negative(points, out=points)
        if self.offset:
            points += points_in_ball(bits, 1, n_features, n_tasks)
        chosen: Chosen = np.arange(n_objects)[:, None] == largest
        return chosen


def contributions(points: Points) -> NDArray[np.float64]:
    """Return each point's contribution to the volume its task dominates, the origin below all.

    Larger is better, and no point may dominate another one of its task (none on a sphere does).
    In two dimensions this is one sort; beyond, moocore's exact algorithm.
    """
    n_features = points.shape[1]
    if n_features == 2:
        x, y = points.transpose(1, 2, 0).astype(np.float64)
        return np.asarray(_contributions_2d(x, y).T)
    try:
        from moocore import hv_contributions
    except ImportError:
        raise MissingDependency(
            f"hypervolumes in {n_features} dimensions need the package moocore: "
            "pip install 'cschoice[hypervolume]'"
        ) from None
    tasks = points.transpose(2, 0, 1).astype(np.float64)
    volumes = [hv_contributions(task, ref=0.0, maximise=True) for task in tasks]
    return np.asarray(np.stack(volumes, axis=1))


def _contributions_2d(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the rectangle that each point, (tasks, objects), spans between its neighbours."""
    order = np.argsort(x, axis=1)
    width = np.take_along_axis(x, order, axis=1)
    height = np.take_along_axis(y, order, axis=1)
    width[:, 1:] -= width[:, :-1].copy()
    height[:, :-1] -= height[:, 1:].copy()
    volume: NDArray[np.float64] = np.empty_like(x)
    np.put_along_axis(volume, order, width * height, axis=1)
    return volume
