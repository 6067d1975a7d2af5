"""The base of generated datasets: tasks drawn from a rule, chunk by chunk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.generated.random_points import BitGenerator
from cschoice.datasets.source import LARGEST, check_limits, does_not_fit
from cschoice.seeding import seed_for
from cschoice.space import Limit, Whole
from cschoice.tasks import ChoiceTasks, Kind

# Rules work on points laid out with tasks last: every operation on them is one long run through
# memory, which is several times faster than a few numbers at a time.
Points = NDArray[np.float32]  # (objects, features, tasks)
Chosen = NDArray[np.bool_]  # (objects, tasks)

# Numbers drawn at once: they and all intermediate results fit the second-level cache.
_DRAWN_AT_ONCE = 300_000
# Round numbers, so that the usual numbers of tasks are whole chunks; and multiples of ten,
# because some rules share one random vector among ten tasks in a row.
_CHUNKS = (2_000, 1_000, 500, 200, 100, 50, 20, 10)


@dataclass(frozen=True, kw_only=True)
class Synthetic(ABC):
    """Tasks drawn from a rule; every fold is a fresh draw."""

    n_train: int = 10_000
    n_test: int = 100_000
    n_objects: int = 10
    n_features: int = 5

    kind: ClassVar[Kind]
    standardize: ClassVar[bool] = False  # features are on the scale the paper used
    limits: ClassVar[Mapping[str, Limit]] = dict.fromkeys(
        ("n_train", "n_test", "n_objects", "n_features"), Whole(1)
    )

    def __post_init__(self) -> None:
        check_limits(self)

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Draw the train and test tasks of a fold; more of them begin with the same ones."""
        rule = type(self).__name__
        return (
            self.sample(self.n_train, seed_for(seed, "train", rule=rule, fold=index)),
            self.sample(self.n_test, seed_for(seed, "test", rule=rule, fold=index)),
        )

    def sample(self, n_tasks: int, seed: int) -> ChoiceTasks:
        """Draw tasks, chunk by chunk."""
        try:
            return self._sample(n_tasks, np.random.PCG64(seed))
        except (MemoryError, OverflowError) as error:
            n_bytes = 4 * n_tasks * self.n_objects * self.n_features
            raise does_not_fit(n_tasks, self.n_objects, n_bytes) from error

    @abstractmethod
    def _sample(self, n_tasks: int, bits: BitGenerator) -> ChoiceTasks:
        """Draw that many tasks."""

    def _chunks(self, n_tasks: int) -> tuple[int, list[slice]]:
        """Return the number of tasks drawn at once, and the slices they fill.

        Always whole chunks, so that the number of tasks does not change the first ones; the
        last slice may be shorter.
        """
        n_fitting = _DRAWN_AT_ONCE // (self.n_objects * self.n_features)
        n_chunk = next((n for n in _CHUNKS if n <= n_fitting), _CHUNKS[-1])
        starts = range(0, n_tasks, n_chunk)
        return n_chunk, [slice(start, min(start + n_chunk, n_tasks)) for start in starts]


@dataclass(frozen=True, kw_only=True)
class SyntheticPoints(Synthetic):
    """Tasks whose objects are points of their own."""

    def _sample(self, n_tasks: int, bits: BitGenerator) -> ChoiceTasks:
        if n_tasks * self.n_objects * self.n_features > LARGEST:
            raise MemoryError
        shape = (n_tasks, self.n_objects, self.n_features)
        x, chosen = np.empty(shape, dtype=np.float32), np.empty(shape[:2], dtype=bool)
        n_chunk, parts = self._chunks(n_tasks)
        points = np.empty((self.n_objects, self.n_features, n_chunk), dtype=np.float32)
        for part in parts:
            choice = self._draw(bits, points)
            n_kept = part.stop - part.start
            x[part] = points.transpose(2, 0, 1)[:n_kept]
            chosen[part] = choice.T[:n_kept]
        return ChoiceTasks.trusted(
            table=x.reshape(-1, self.n_features),
            items=np.arange(n_tasks * self.n_objects),
            offsets=np.arange(n_tasks + 1) * self.n_objects,
            chosen=chosen.ravel(),
            kind=self.kind,
        )

    @abstractmethod
    def _draw(self, bits: BitGenerator, points: Points) -> Chosen:
        """Fill ``points`` with the objects of new tasks and return the choices."""
