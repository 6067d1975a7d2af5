"""A padded batch of tasks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class TaskBatch:
    """A rectangle of tasks; where ``mask`` is False there is no object, only padding."""

    tasks: NDArray[np.int64]  # (batch,) task numbers
    entries: NDArray[np.int64]  # (batch, objects) entry numbers, 0 at padding
    items: NDArray[np.int64]  # (batch, objects) rows of the table, arbitrary at padding
    mask: NDArray[np.bool_]  # (batch, objects)
    chosen: NDArray[np.bool_]  # (batch, objects), False at padding
    table: NDArray[np.float32]

    @property
    def x(self) -> NDArray[np.float32]:
        """The features, (batch, objects, features), zero at padding."""
        return np.where(self.mask[:, :, None], self.table[self.items], np.float32(0))
