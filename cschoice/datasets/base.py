"""What a dataset is, and what the generated ones share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.draws import BitGenerator
from cschoice.errors import InvalidParameter
from cschoice.seeding import seed_for
from cschoice.tasks import ChoiceTasks, Kind

# Rules work on points laid out with tasks last: every operation on them is one long run through
# memory, which is several times faster than a few numbers at a time.
Points = NDArray[np.float32]  # (objects, features, tasks)
Chosen = NDArray[np.bool_]  # (objects, tasks)

# Numbers drawn at once: what is made of them stays in the processor's second-level cache.
_DRAWN_AT_ONCE = 300_000
# Round numbers, so that the usual numbers of tasks are whole chunks; and multiples of ten,
# because some rules use one random thing for ten tasks in a row.
_CHUNKS = (2_000, 1_000, 500, 200, 100, 50, 20, 10)


class DatasetSource(Protocol):
    """Where the tasks of each outer fold come from."""

    kind: ClassVar[Kind]
    standardize: ClassVar[bool]  # whether features are scaled by the training tasks of a fold

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Return the train and test tasks of a fold; ``DataUnavailable`` skips the job."""
        ...


@dataclass(frozen=True, kw_only=True)
class Synthetic(ABC):
    """Tasks drawn from a rule; every fold is a fresh draw."""

    n_train: int = 10_000
    n_test: int = 100_000
    n_objects: int = 10
    n_features: int = 5

    kind: ClassVar[Kind]
    standardize: ClassVar[bool] = False  # features are on the scale the paper used

    def __post_init__(self) -> None:
        for name in ("n_train", "n_test", "n_objects", "n_features"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InvalidParameter(f"{name} must be an integer of at least 1, got {value!r}")

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Draw the train and test tasks of a fold; more of them begin with the same ones."""
        rule = type(self).__name__
        return (
            self.sample(self.n_train, seed_for(seed, "train", rule=rule, fold=index)),
            self.sample(self.n_test, seed_for(seed, "test", rule=rule, fold=index)),
        )

    def sample(self, n_tasks: int, seed: int) -> ChoiceTasks:
        """Draw tasks, chunk by chunk."""
        shape = (n_tasks, self.n_objects, self.n_features)
        x, chosen = np.empty(shape, dtype=np.float32), np.empty(shape[:2], dtype=bool)
        bits = np.random.PCG64(seed)
        n_fitting = _DRAWN_AT_ONCE // (self.n_objects * self.n_features)
        n_chunk = next((n for n in _CHUNKS if n <= n_fitting), _CHUNKS[-1])
        points = np.empty((self.n_objects, self.n_features, n_chunk), dtype=np.float32)
        for start in range(0, n_tasks, n_chunk):
            # Always a whole chunk: the number of tasks does not change the first ones.
            choice = self._draw(bits, points)
            part = slice(start, min(start + n_chunk, n_tasks))
            n_kept = part.stop - start
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
        """Fill ``points`` with the objects of new tasks and return what is chosen from them."""


def check_option(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that is none of the allowed ones."""
    if not any(value is option or value == option for option in allowed):
        options = ", ".join(repr(option) for option in allowed)
        raise InvalidParameter(f"{name} must be one of {options}, got {value!r}")
