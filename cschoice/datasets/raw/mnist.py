"""The MNIST problems: the digits that occur most often in a set of images, or only once.

Train and test tasks show different images; in the code released with the paper they share them.
That code also standardizes the features of the images; here they are as the network has them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.digit_features import N_DIGITS, Digits, digits
from cschoice.datasets.raw.digit_network import FEATURES_SHA256
from cschoice.datasets.raw.sampled_sets import (
    Chosen,
    Draw,
    Items,
    Pool,
    Rule,
    SampledSets,
    Usable,
)
from cschoice.errors import InvalidParameter
from cschoice.seeding import seed_for
from cschoice.space import Limit, OneOf, Whole
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
    """Train and test tasks draw from disjoint halves of the images, dealt anew for each fold.

    ``features`` is the beginning of the hash of the images' features, for jobs to state.
    """

    features: str = FEATURES_SHA256[:12]

    standardize: ClassVar[bool] = False
    limits: ClassVar[Mapping[str, Limit]] = {
        **SampledSets.limits,
        "features": OneOf((FEATURES_SHA256[:12],)),
    }

    def pools(self, index: int, seed: int) -> tuple[Pool, Pool]:
        """Deal the images; the seed leaves the problem out, so all four deal alike."""
        known = digits()
        rng = np.random.default_rng(seed_for(seed, "images", fold=index))
        order = rng.permutation(len(known.labels))
        middle = len(order) // 2
        train, test = (np.sort(side) for side in (order[:middle], order[middle:]))
        return self._pool(known, train, index, seed), self._pool(known, test, index, seed)

    def _pool(self, known: Digits, images: NDArray[np.int64], index: int, seed: int) -> Pool:
        table, labels = np.array(known.features[images]), known.labels[images]
        return Pool(table, self._rule(table, labels, index, seed), self._draw(labels))

    def _rule(self, table: Features, labels: Labels, index: int, seed: int) -> Rule:  # noqa: ARG002
        return lambda items: self._choice(occurrences(labels[items]))

    def _draw(self, labels: Labels) -> Draw | None:  # noqa: ARG002
        return None

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

    It is the angle to a random vector: another one in each fold, as in the code released with the
    paper, or with ``direction="fixed"`` one that all folds share. The paper's formula takes the
    largest angle, its text the least.
    """

    angle: str = "largest"
    direction: str = "per-fold"

    kind: ClassVar[Kind] = Kind.SINGLETON
    limits: ClassVar[Mapping[str, Limit]] = {
        **_DigitProblem.limits,
        "angle": OneOf(("largest", "least")),
        "direction": OneOf(("per-fold", "fixed")),
    }

    def _rule(self, table: Features, labels: Labels, index: int, seed: int) -> Rule:
        names = {"fold": index} if self.direction == "per-fold" else {}
        rng = np.random.default_rng(seed_for(seed, "angle", **names))
        cosines = _cosines(table, rng.standard_normal((table.shape[1],)))
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

    The code released with the paper asks for more than one. So do the paper's numbers: its
    AllPositive scores F1 0.562. On tasks with two or more it scores 0.563, with one or more 0.544
    (benchmarks/contextfree.py).
    """

    min_chosen: int = 2

    kind: ClassVar[Kind] = Kind.SUBSET
    limits: ClassVar[Mapping[str, Limit]] = {
        **_DigitProblem.limits,
        "min_chosen": Whole(1, N_DIGITS),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        # With more objects than digits, one of the digits occurs again.
        most = self.n_objects if self.n_objects <= N_DIGITS else N_DIGITS - 1
        if self.min_chosen > most:
            raise InvalidParameter(
                f"min_chosen must be at most {most} with n_objects={self.n_objects}, got "
                f"{self.min_chosen}"
            )

    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        return (occurs == 1).sum(axis=1) >= self.min_chosen, occurs == 1


@dataclass(frozen=True, kw_only=True)
class UniqueSingleton(_DigitProblem):
    """Choose the one object whose digit occurs once.

    With ``counts="fixed"`` a task is drawn as in the code released with the paper: one image of a
    random digit, then other digits, drawn with replacement, each with two images or, to make up an
    even number of objects, the last one with three. ``counts="uniform"`` is the paper's text: any
    images, until exactly one digit occurs once.
    """

    counts: str = "fixed"

    kind: ClassVar[Kind] = Kind.SINGLETON
    limits: ClassVar[Mapping[str, Limit]] = {
        **_DigitProblem.limits,
        "counts": OneOf(("fixed", "uniform")),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.counts == "fixed" and self.n_objects == 2:
            raise InvalidParameter("n_objects must not be 2: two digits are both unique or neither")

    def _draw(self, labels: Labels) -> Draw | None:
        if self.counts == "uniform":
            return None
        others = np.arange(self.n_objects - 1) // 2  # 0, 0, 1, 1, 2, 2, 3, 3, 3 of nine
        if self.n_objects % 2 == 0:
            others[-1] -= 1
        images = np.argsort(labels, kind="stable")  # digit by digit
        n_images = np.bincount(labels, minlength=N_DIGITS)
        starts = np.cumsum(n_images) - n_images

        def draw(rng: np.random.Generator, n_tasks: int) -> Items:
            unique = rng.integers(N_DIGITS, size=(n_tasks, 1))
            apart = rng.integers(1, N_DIGITS, size=(n_tasks, len(others) // 2))
            shown = (unique + np.column_stack([np.zeros_like(unique), apart[:, others]])) % N_DIGITS
            shown = rng.permuted(shown, axis=1)
            return np.asarray(images[starts[shown] + rng.integers(n_images[shown])])

        return draw

    def _choice(self, occurs: Counts) -> tuple[Usable, Chosen]:
        return (occurs == 1).sum(axis=1) == 1, occurs == 1


def _cosines(table: Features, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosine of the angle between each row and the vector; 0 for a row of zeros.

    Exact up to the division, so that it is the same on every processor: features are multiples of
    2⁻⁸, the vector is rounded to multiples of 2⁻¹⁶, and so sums of products have no rounding.

    >>> _cosines(np.array([[3, 4], [0, -2], [0, 0]], np.float32), np.array([0.0, 5.0]))
    array([ 0.8, -1. ,  0. ])
    """
    rows, direction = table.astype(np.float64), np.rint(vector * 2**16) / 2**16
    lengths = np.sqrt((rows**2).sum(axis=1)) * np.sqrt((direction**2).sum())
    return np.asarray(rows @ direction / np.maximum(lengths, np.finfo(np.float64).tiny))
