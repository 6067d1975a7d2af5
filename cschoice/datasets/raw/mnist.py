"""The MNIST problems: the digits that occur most often in a set of images, or only once."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.digit_features import N_DIGITS, Digits, digits
from cschoice.datasets.raw.sampled_sets import Chosen, Items, Pool, Rule, SampledSets, Usable
from cschoice.datasets.source import check_option
from cschoice.errors import InvalidParameter
from cschoice.seeding import seed_for
from cschoice.tasks import Kind

Counts = NDArray[np.int64]  # (tasks, objects)
Features = NDArray[np.float32]  # (images, features)
Labels = NDArray[np.int64]  # (images,)


def occurrences(labels: NDArray[np.int64]) -> Counts:
    """Return how often each object's digit occurs in its task.

    >>> occurrences(np.array([[1, 1, 2, 7, 1]])).tolist()
    [[3, 3, 1, 1, 3]]
    """
    places = labels + N_DIGITS * np.arange(len(labels))[:, None]
    counts = np.bincount(places.ravel(), minlength=N_DIGITS * len(labels))
    return np.asarray(counts[places])


@dataclass(frozen=True, kw_only=True)
class _DigitProblem(SampledSets):
    """Train and test tasks draw from disjoint halves of the images, dealt anew for each fold."""

    standardize: ClassVar[bool] = False

    def pools(self, index: int, seed: int) -> tuple[Pool, Pool]:
        """Deal the images; the seed leaves the problem out, so all four deal alike."""
        known = digits()
        rng = np.random.default_rng(seed_for(seed, "images", fold=index))
        order = rng.permutation(len(known.labels))
        middle = len(order) // 2
        train, test = (np.sort(side) for side in (order[:middle], order[middle:]))
        return self._pool(known, train, seed), self._pool(known, test, seed)

    def _pool(self, known: Digits, images: NDArray[np.int64], seed: int) -> Pool:
        table = np.array(known.features[images])
        return Pool(table, self._rule(table, known.labels[images], seed))

    def _rule(self, table: Features, labels: Labels, seed: int) -> Rule:  # noqa: ARG002
        return lambda items: self._choice(occurrences(labels[items]))

    @abstractmethod
    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        """Mark the tasks that belong to the problem, and the objects that may be chosen."""


@dataclass(frozen=True, kw_only=True)
class ModeSubset(_DigitProblem):
    """Choose every object whose digit occurs most often, of every such digit."""

    kind: ClassVar[Kind] = Kind.SUBSET

    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        return np.ones(len(occurs), dtype=bool), occurs == occurs.max(axis=1, keepdims=True)


@dataclass(frozen=True, kw_only=True)
class ModeSingleton(_DigitProblem):
    """Of the objects that show the one most frequent digit, choose one by its angle.

    It is the angle to a random vector that all folds share. The paper's formula takes the
    largest angle, its text the least.
    """

    angle: str = "largest"

    kind: ClassVar[Kind] = Kind.SINGLETON

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("angle", self.angle, ("largest", "least"))

    def _rule(self, table: Features, labels: Labels, seed: int) -> Rule:
        rng = np.random.default_rng(seed_for(seed, "angle"))
        vector = rng.standard_normal(size=(table.shape[1],), dtype=np.float32)
        cosines = _cosines(table, vector)
        merit = -cosines if self.angle == "largest" else cosines

        def rule(items: Items) -> tuple[Usable, Chosen]:
            usable, in_mode = self._choice(occurrences(labels[items]))
            best = np.where(in_mode, merit[items], -np.inf).argmax(axis=1)
            return usable, np.arange(items.shape[1]) == best[:, None]

        return rule

    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        most = occurs.max(axis=1, keepdims=True)
        in_mode = occurs == most
        return in_mode.sum(axis=1) == most[:, 0], in_mode  # more: another digit is as frequent


@dataclass(frozen=True, kw_only=True)
class UniqueSubset(_DigitProblem):
    """Choose every object whose digit occurs once; there are at least ``min_chosen``.

    The paper's AllPositive scores F1 0.562. On tasks with two or more it scores 0.563, with one or
    more 0.544 (benchmarks/contextfree.py).
    """

    min_chosen: int = 1

    kind: ClassVar[Kind] = Kind.SUBSET

    def __post_init__(self) -> None:
        super().__post_init__()
        # With more objects than digits, one of the digits occurs again.
        most = self.n_objects if self.n_objects <= N_DIGITS else N_DIGITS - 1
        if isinstance(self.min_chosen, bool) or self.min_chosen not in range(1, most + 1):
            raise InvalidParameter(f"min_chosen must be 1 to {most}, got {self.min_chosen!r}")

    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        return (occurs == 1).sum(axis=1) >= self.min_chosen, occurs == 1


@dataclass(frozen=True, kw_only=True)
class UniqueSingleton(_DigitProblem):
    """Choose the one object whose digit occurs once."""

    kind: ClassVar[Kind] = Kind.SINGLETON

    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        return (occurs == 1).sum(axis=1) == 1, occurs == 1


def _cosines(table: Features, vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of the angle between each row and the vector; 0 for a row of zeros.

    >>> _cosines(np.array([[3, 4], [0, -2], [0, 0]], np.float32), np.array([0, 5], np.float32))
    array([ 0.8, -1. ,  0. ], dtype=float32)
    """
    lengths = np.linalg.norm(table, axis=1) * np.linalg.norm(vector)
    return np.asarray(table @ vector / np.maximum(lengths, np.finfo(np.float32).tiny))
