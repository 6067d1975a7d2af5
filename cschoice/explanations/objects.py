"""The names of objects: alternatives where they have an identity, items, or clusters of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cschoice.tasks import ChoiceTasks
from cschoice.tasks.scaling import Scaling

Sort = Literal["alternative", "item", "cluster"]

_MOST_ITEMS = 12
_N_CLUSTERS = 6
_LEARNED_FROM = 20_000  # objects


@dataclass(frozen=True)
class Objects:
    """The name of each object of some tasks, as a number; objects of one name are averaged."""

    sort: Sort
    names: tuple[str, ...]
    codes: NDArray[np.int64]  # (entries,)

    @property
    def have_identity(self) -> bool:
        """Whether a name means one and the same object in all tasks."""
        return self.sort != "cluster"

    def of(self, entries: NDArray[np.int64]) -> Objects:
        """Return the names of some of the entries."""
        return replace(self, codes=self.codes[entries])

    @property
    def plural(self) -> str:
        """The word for several of them."""
        return f"{self.sort}s"


def objects_of(tasks: ChoiceTasks, seed: int = 0) -> Objects:
    """Return the names of the objects.

    The alternatives of an imported table with constants; else the items, where the tasks are
    drawn from a few; else clusters of objects with similar features (k-means).
    """
    return _alternatives(tasks) or _items(tasks) or _clusters(tasks, seed)


def _alternatives(tasks: ChoiceTasks) -> Objects | None:
    """Return the alternatives, which their constants tell."""
    encoding = tasks.encoding
    if encoding is None or not encoding.constants:
        return None
    columns = [tasks.feature_names.index(f"constant={name}") for name in encoding.constants]
    constants = tasks.table[:, columns] > 0
    codes = np.where(constants.any(1), constants.argmax(1) + 1, 0)
    names = (encoding.reference or "another", *encoding.constants)
    if not (codes == 0).any():
        codes, names = codes - 1, names[1:]
    return Objects("alternative", names, codes[tasks.items])


def _items(tasks: ChoiceTasks) -> Objects | None:
    """Return the distinct objects, where there are only a few."""
    used = tasks.table[np.unique(tasks.items)]
    if len(np.unique(used[: 50 * _MOST_ITEMS], axis=0)) > _MOST_ITEMS:  # seen at once
        return None
    distinct, codes = np.unique(tasks.table[tasks.items], axis=0, return_inverse=True)
    if not 2 <= len(distinct) <= _MOST_ITEMS:
        return None
    codes = codes.ravel()
    one_hot = (np.isin(distinct, (0, 1)) & (distinct.sum(1, keepdims=True) == 1)).all()
    if one_hot:  # in the order of the features
        hot = distinct.argmax(1)
        codes = np.argsort(np.argsort(hot))[codes]
        names = [tasks.feature_names[k] for k in np.sort(hot)]
    else:
        names = described(tasks, distinct)
    return Objects("item", tuple(names), codes)


def _clusters(tasks: ChoiceTasks, seed: int) -> Objects:
    """Return clusters of objects, those with the smallest first features first."""
    from sklearn.cluster import KMeans

    scaling = Scaling.learn(tasks.table, tasks.items)
    scaled = scaling.apply(tasks.table)
    rng = np.random.default_rng(seed)
    seen = scaled[rng.choice(tasks.items, min(_LEARNED_FROM, tasks.n_entries), replace=False)]
    n_clusters = min(_N_CLUSTERS, len(np.unique(seen, axis=0)))
    found = KMeans(n_clusters, n_init=4, random_state=seed).fit(seen)
    order = np.lexsort(found.cluster_centers_.T[::-1])
    codes = np.argsort(order)[found.predict(scaled)][tasks.items]
    centres = found.cluster_centers_[order] * scaling.deviation + scaling.mean
    return Objects("cluster", tuple(described(tasks, centres)), codes)


def described(tasks: ChoiceTasks, features: NDArray[np.floating]) -> list[str]:
    """Return short descriptions of objects: the features in which they differ most, as numbers."""
    spread = np.ptp(features, axis=0) / np.maximum(tasks.table.std(axis=0), 1e-12)
    shown = np.sort(np.argsort(-spread, kind="stable")[:3])
    names = tasks.feature_names
    texts = [", ".join(f"{names[k]} {row[k]:.3g}" for k in shown) for row in features]
    return unique(texts)


def unique(texts: Sequence[str]) -> list[str]:
    """Return the texts with a number behind those that occur more than once.

    >>> unique(["a", "b", "a"])
    ['a (1)', 'b', 'a (2)']
    """
    return [
        f"{text} ({list(texts[: k + 1]).count(text)})" if list(texts).count(text) > 1 else text
        for k, text in enumerate(texts)
    ]
