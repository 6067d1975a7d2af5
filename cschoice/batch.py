"""A padded batch of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter


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


def pad(
    numbers: NDArray[np.int64],
    table: NDArray[np.float32],
    items: NDArray[np.int64],
    offsets: NDArray[np.int64],
    chosen: NDArray[np.bool_],
) -> TaskBatch:
    """Pad the tasks of these numbers to the size of the largest of them."""
    sizes = np.diff(offsets)[numbers]
    positions = np.arange(sizes.max())
    mask = positions < sizes[:, None]
    entries = np.where(mask, offsets[numbers][:, None] + positions, 0)
    return TaskBatch(
        tasks=numbers,
        entries=entries,
        items=items[entries],
        mask=mask,
        chosen=chosen[entries] & mask,
        table=table,
    )


def batch_numbers(
    sizes: NDArray[np.int64], batch_size: int, rng: np.random.Generator | None
) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of all tasks, those of similar size together."""
    if batch_size < 1:
        raise InvalidParameter(f"batch_size must be at least 1, got {batch_size}")
    order = np.arange(len(sizes)) if rng is None else rng.permutation(len(sizes))
    order = order[np.argsort(sizes[order], kind="stable")]
    starts = np.arange(0, len(order), batch_size)
    for start in starts if rng is None else rng.permutation(starts):
        yield order[start : start + batch_size]
