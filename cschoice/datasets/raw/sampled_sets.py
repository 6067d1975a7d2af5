"""Tasks of items drawn at random from a table, with a rule that chooses from them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.source import LARGEST, check_limits, does_not_fit
from cschoice.errors import InvalidParameter
from cschoice.seeding import seed_for
from cschoice.space import Limit, Whole
from cschoice.tasks import ChoiceTasks, Kind

Items = NDArray[np.int64]  # (tasks, objects)
Usable = NDArray[np.bool_]  # (tasks,)
Chosen = NDArray[np.bool_]  # (tasks, objects)
Rule = Callable[[Items], tuple[Usable, Chosen]]
Draw = Callable[[np.random.Generator, int], Items]  # this number of tasks

_ITEMS_AT_ONCE = 200_000
_RAREST = 1e-4  # share of the sets drawn that a rule must accept


@dataclass(frozen=True)
class Pool:
    """Items to draw from, and the rule that chooses from sets of them.

    Sets are drawn uniformly unless ``draw`` says otherwise.
    """

    table: NDArray[np.float32]
    rule: Rule
    draw: Draw | None = None


@dataclass(frozen=True, kw_only=True)
class SampledSets(ABC):
    """Sets of different items, drawn again and again until the rule accepts enough of them.

    Every fold is a fresh draw; more tasks begin with the same ones.
    """

    n_train: int = 10_000
    n_test: int = 100_000
    n_objects: int = 10

    kind: ClassVar[Kind]
    standardize: ClassVar[bool]
    limits: ClassVar[Mapping[str, Limit]] = dict.fromkeys(
        ("n_train", "n_test", "n_objects"), Whole(1)
    )

    def __post_init__(self) -> None:
        check_limits(self)

    @abstractmethod
    def pools(self, index: int, seed: int) -> tuple[Pool, Pool]:
        """Return the pools that the train and the test tasks of a fold are drawn from."""

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Draw the train and test tasks of a fold."""
        train, test = self.pools(index, seed)
        rule = type(self).__name__
        return (
            self._sample(train, self.n_train, seed_for(seed, "train", rule=rule, fold=index)),
            self._sample(test, self.n_test, seed_for(seed, "test", rule=rule, fold=index)),
        )

    def _sample(self, pool: Pool, n_tasks: int, seed: int) -> ChoiceTasks:
        shape = (n_tasks, self.n_objects)
        try:
            if n_tasks * self.n_objects > LARGEST:
                raise MemoryError
            items, chosen = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=bool)
        except MemoryError as error:
            raise does_not_fit(*shape, n_bytes=9 * n_tasks * self.n_objects) from error
        self._fill(pool, np.random.default_rng(seed), items, chosen)
        return ChoiceTasks.trusted(
            pool.table,
            items.ravel(),
            np.arange(n_tasks + 1) * self.n_objects,
            chosen.ravel(),
            self.kind,
        )

    def _fill(self, pool: Pool, rng: np.random.Generator, items: Items, chosen: Chosen) -> None:
        """Draw until there are enough tasks, always the same number at once."""
        n_items = len(pool.table)
        if self.n_objects > n_items:
            raise InvalidParameter(
                f"n_objects must be at most {n_items:,}, the number of items, got {self.n_objects}"
            )
        n_at_once = max(1_000, _ITEMS_AT_ONCE // self.n_objects)
        n_filled = n_drawn = 0
        while n_filled < len(items):
            if pool.draw is None:
                drawn = rng.integers(n_items, size=(n_at_once, self.n_objects))
            else:
                drawn = pool.draw(rng, n_at_once)
            n_drawn += n_at_once
            drawn = drawn[(np.diff(np.sort(drawn, axis=1), axis=1) > 0).all(axis=1)]
            usable, choice = pool.rule(drawn)
            kept = slice(n_filled, n_filled + int(usable.sum()))
            room = len(items[kept])
            items[kept], chosen[kept] = drawn[usable][:room], choice[usable][:room]
            n_filled += room
            if n_filled < min(len(items), _RAREST * n_drawn):
                raise InvalidParameter(
                    f"with n_objects={self.n_objects} hardly any set of items has the choice "
                    "that this problem asks for: use another number of objects"
                )
