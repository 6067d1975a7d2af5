"""Baselines that learn nothing: choose everything, or choose at random."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.learner import Arrays, Learner
from cschoice.seeding import seed_for
from cschoice.tasks import ChoiceTasks, Kind

Hashes = NDArray[np.uint64]

_AT_ONCE = 1_000_000  # features hashed at a time


class AllPositive(Learner):
    """Give all objects the same utility, so that all are chosen."""

    name = "all-positive"
    guesses: ClassVar[bool] = True
    constant: ClassVar[bool] = True
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SUBSET})

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:
        """Learn nothing."""

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float32]:
        return np.zeros(tasks.n_entries, dtype=np.float32)

    def _state(self) -> Arrays:
        return {}

    def _set_state(self, arrays: Arrays) -> None:
        """Restore nothing."""


class RandomUtility(Learner):
    """Give objects random utilities between 0 and 1.

    They are hashes of the seed, the object and the set it is offered in: neither the order of
    objects nor other tasks change them, an object has another utility in each set, and equal
    objects of one set have equal utilities.
    """

    name = "random"
    guesses: ClassVar[bool] = True
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})

    seed_: int

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        self.seed_ = seed_for(seed, "random-utility")

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        keys = np.random.default_rng(self.seed_).integers(
            2**64, size=tasks.n_features + 1, dtype=np.uint64
        )
        objects = _mixed(_hashed(tasks.table, keys))[tasks.items]
        sets = tasks.reduce(np.add, objects)  # a sum does not depend on the order
        hashes = _mixed(objects + _mixed(tasks.spread(sets)))
        return (hashes >> np.uint64(40)).astype(np.float64) / 2**24  # what float32 can hold

    def _state(self) -> Arrays:
        return {"seed_": np.array(self.seed_)}

    def _set_state(self, arrays: Arrays) -> None:
        self.seed_ = arrays["seed_"].item()


def _hashed(table: NDArray[np.float32], keys: Hashes) -> Hashes:
    """Return a random linear function of the bits of each row, modulo 2**64."""
    step = max(1, _AT_ONCE // len(keys))
    hashes = np.empty(len(table), dtype=np.uint64)
    for start in range(0, len(table), step):
        # Adding zero makes the two zeros, which are equal, equal in their bits.
        bits = (table[start : start + step] + np.float32(0)).view(np.uint32)
        hashes[start : start + step] = bits.astype(np.uint64) @ keys[:-1] + keys[-1]
    return hashes


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit over the whole number, by shifts and products with odd constants."""
    for shift, factor in ((32, 0xD6E8FEB86659FD93), (29, 0xA0761D6478BD642F)):
        values = (values ^ (values >> np.uint64(shift))) * np.uint64(factor)
    return values ^ (values >> np.uint64(32))
