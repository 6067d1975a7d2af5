"""The unique problem on one-hot digits: choose the one that occurs once (fig:plot_unique)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.generated.random_points import BitGenerator
from cschoice.datasets.generated.synthetic import Synthetic
from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind

Digits = NDArray[np.int64]

_MOST = 10_000_000  # numbers in the distributions of counts
_MOST_DIGITS = 10_000  # the unit matrix is their square, and each costs a pass in Python


@dataclass(frozen=True, kw_only=True)
class UniqueOneHot(Synthetic):
    """Digits as unit vectors, uniform among the tasks in which exactly one digit occurs once.

    The features of an object are its digit's row of the unit matrix, so there are as many digits
    as features, and all tasks share that matrix as their item table.
    """

    n_features: int = 10

    kind: ClassVar[Kind] = Kind.SINGLETON

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n_features > _MOST_DIGITS:
            raise InvalidParameter(
                f"n_features must be at most {_MOST_DIGITS:,} here, got {self.n_features:,}"
            )
        if self.n_features * self.n_objects**2 > _MOST:
            raise InvalidParameter(
                f"n_features · n_objects² must be at most {_MOST:,}, "
                f"got n_objects={self.n_objects}, n_features={self.n_features}"
            )
        if not self._ways[self.n_features - 1, self.n_objects - 1]:
            raise InvalidParameter(
                f"with n_objects={self.n_objects} and n_features={self.n_features} exactly one "
                "digit cannot occur once: use at least 3 objects and 2 features"
            )

    def _sample(self, n_tasks: int, bits: BitGenerator) -> ChoiceTasks:
        rng = np.random.Generator(bits)
        items = np.empty((n_tasks, self.n_objects), dtype=np.int64)
        chosen = np.empty(items.shape, dtype=bool)
        n_chunk, parts = self._chunks(n_tasks)
        for part in parts:
            n_kept = part.stop - part.start
            digits, unique = self._draw_digits(rng, n_chunk)
            items[part] = digits[:n_kept]
            chosen[part] = (digits == unique)[:n_kept]
        return ChoiceTasks.trusted(
            table=np.eye(self.n_features, dtype=np.float32),
            items=items.ravel(),
            offsets=np.arange(n_tasks + 1) * self.n_objects,
            chosen=chosen.ravel(),
            kind=self.kind,
        )

    def _draw_digits(self, rng: np.random.Generator, n_tasks: int) -> tuple[Digits, Digits]:
        """Draw tasks and their unique digits, with no rejection.

        By symmetry the unique digit is uniform. How often each other digit occurs is drawn
        digit by digit, given what is left to place; then the objects are shuffled.
        """
        unique = rng.integers(self.n_features, size=(n_tasks, 1))
        counts = np.empty((n_tasks, self.n_features - 1), dtype=np.int64)
        left = np.full(n_tasks, self.n_objects - 1)
        for digit, cumulative in enumerate(self._count_distributions):
            counts[:, digit] = (rng.random((n_tasks, 1)) >= cumulative[left]).sum(axis=1)
            left -= counts[:, digit]
        others = np.repeat(np.tile(np.arange(self.n_features - 1), n_tasks), counts.ravel())
        rest = others.reshape(n_tasks, self.n_objects - 1)
        digits = np.concatenate([unique, rest + (rest >= unique)], axis=1)
        return rng.permuted(digits, axis=1), unique

    @cached_property
    def _ways(self) -> NDArray[np.float64]:
        """P(no digit occurs exactly once) for each number of digits and of places."""
        ways = np.zeros((self.n_features, self.n_objects))
        ways[0, 0] = 1
        for n_digits in range(1, self.n_features):
            for n_places in range(self.n_objects):
                ways[n_digits, n_places] = self._weights(ways, n_digits, n_places).sum()
        return ways

    def _weights(
        self, ways: NDArray[np.float64], n_digits: int, n_places: int
    ) -> NDArray[np.float64]:
        """Weigh how often the next digit may occur: binomially, not once, the rest possible."""
        from scipy.stats import binom

        occurs = np.arange(n_places + 1)
        rest = ways[n_digits - 1, n_places - occurs]
        return np.where(occurs == 1, 0, binom.pmf(occurs, n_places, 1 / n_digits) * rest)

    @cached_property
    def _count_distributions(self) -> list[NDArray[np.float64]]:
        """Return, per digit and number of places left, the distribution of its count, summed."""
        distributions = []
        for n_digits in range(self.n_features - 1, 0, -1):
            cumulative = np.ones((self.n_objects, self.n_objects))
            for n_places in range(self.n_objects):
                if total := self._ways[n_digits, n_places]:
                    weights = self._weights(self._ways, n_digits, n_places)
                    cumulative[n_places, : n_places + 1] = np.cumsum(weights) / total
                    cumulative[n_places, n_places:] = 1
            distributions.append(cumulative)
        return distributions
