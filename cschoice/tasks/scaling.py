"""The scale of features, learned on some tasks and kept for others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING = 1e-6  # deviation, relative to the mean, that it may give a constant feature
_SMALLEST = float(np.finfo(np.float32).tiny)
_ROWS_AT_ONCE = 10_000


@dataclass(frozen=True)
class Scaling:
    """Shift and divide each feature; plain numbers, so that a model can keep them."""

    mean: tuple[float, ...]
    deviation: tuple[float, ...]

    @classmethod
    def learn(cls, table: NDArray[np.float32], items: NDArray[np.int64]) -> Scaling:
        """Take mean and deviation over the entries; a constant feature keeps its scale.

        >>> Scaling.learn(np.array([[1.0, 5.0], [3.0, 5.0]], dtype=np.float32), np.array([0, 1]))
        Scaling(mean=(2.0, 5.0), deviation=(1.0, 1.0))
        """
        weight = np.bincount(items, minlength=len(table)) / len(items)
        mean = weight @ table
        deviation = np.sqrt(weight @ (table - mean) ** 2)
        deviation[is_constant(deviation, mean)] = 1
        return cls(tuple(mean.tolist()), tuple(deviation.tolist()))

    def problem(self, n_features: int) -> str | None:
        """Return the reason why this cannot be a scale of so many features; None if it can.

        >>> Scaling((0.0,), (1.0,)).problem(2)
        '2 features, but 1 means and 1 deviations'
        """
        if not len(self.mean) == len(self.deviation) == n_features:
            counts = f"{len(self.mean)} means and {len(self.deviation)} deviations"
            return f"{n_features} features, but {counts}"
        if not np.isfinite([*self.mean, *self.deviation]).all() or min(self.deviation) <= 0:
            return "means must be finite and deviations positive"
        return None

    def apply(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the table on this scale."""
        scaled = np.empty(table.shape, dtype=np.float32)
        for start in range(0, len(table), _ROWS_AT_ONCE):  # in double precision: not all at once
            part = slice(start, start + _ROWS_AT_ONCE)
            scaled[part] = (table[part] - self.mean) / self.deviation
        return scaled


def is_constant(deviation: NDArray[Any], mean: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the features whose deviation is no larger than rounding errors of their mean.

    The unit of a feature does not matter, as long as single precision holds its deviation.

    >>> is_constant(np.array([0.0, 1e-9, 1e-3, 1e-3]), np.array([5.0, 0.0, 0.0, 2000.0]))
    array([ True, False, False,  True])
    """
    constant: NDArray[np.bool_] = deviation <= np.maximum(_ROUNDING * np.abs(mean), _SMALLEST)
    return constant
