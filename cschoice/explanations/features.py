"""Features as people think of them: all columns that one column of a table became."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.tasks import ChoiceTasks
from cschoice.tasks.frames.description import CONSTANTS


@dataclass(frozen=True)
class FeatureGroup:
    """A feature with all of its columns.

    Columns are of a category each, of an alternative each, or products with the chooser's features.
    """

    name: str
    columns: tuple[int, ...]
    numeric: int | None = None  # the column that is the number itself, if there is one
    products: tuple[int, ...] = ()  # those of the columns that are products with it

    @property
    def is_identity(self) -> bool:
        """Whether these are the constants of alternatives."""
        return self.name == CONSTANTS


def feature_groups(tasks: ChoiceTasks) -> list[FeatureGroup]:
    """Return the features of objects; of the chooser's own only those multiplied with them."""
    encoding = tasks.encoding
    if encoding is None:
        return [FeatureGroup(name, (k,), k) for k, name in enumerate(tasks.feature_names)]
    place = {name: k for k, name in enumerate(encoding.names)}
    groups = []
    for name, own in encoding.own.items():
        crossed = [
            column
            for full, column in place.items()
            for single in own
            if full.startswith(f"{single} × ")
        ]
        columns = [place[single] for single in own]
        numeric = columns[0] if own == [name] else None
        if columns:
            groups.append(FeatureGroup(name, (*columns, *crossed), numeric, tuple(crossed)))
    return groups


def differing(groups: list[FeatureGroup], tasks: ChoiceTasks) -> list[FeatureGroup]:
    """Return the features in which the objects of some task differ."""
    features = tasks.features
    varies = np.zeros(tasks.n_features, dtype=bool)
    for column in range(tasks.n_features):
        values = features[:, column]
        low, high = (tasks.reduce(f, values) for f in (np.minimum, np.maximum))
        varies[column] = (low < high).any()
    return [group for group in groups if varies[list(group.columns)].any()]


def moved(
    features: NDArray[np.float32], group: FeatureGroup, value: NDArray[np.floating] | float
) -> NDArray[np.float32]:
    """Return features with a number at a value, and its products with it."""
    changed = features.copy()
    assert group.numeric is not None
    before = features[..., group.numeric]
    changed[..., group.numeric] = value
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(before != 0, value / before, 1.0)
    for column in group.products:
        changed[..., column] = features[..., column] * ratio
    return changed
