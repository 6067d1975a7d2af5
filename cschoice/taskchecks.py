"""What keeps arrays from being choice tasks: all of it, not the first problem found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def counted(wrong: NDArray[np.bool_], noun: str, what: str) -> str:
    """Say how many of something are wrong and where the first is."""
    count, first = int(wrong.sum()), int(wrong.argmax())
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural} {what} (first: {noun} {first})"


def problems_of(
    table: NDArray[Any],
    items: NDArray[Any],
    offsets: NDArray[Any],
    chosen: NDArray[Any],
    singleton: bool,
) -> list[str]:
    """List everything that keeps these arrays from being choice tasks."""
    problems = []
    if table.ndim != 2 or table.shape[1] == 0:
        problems.append(f"table must have shape (items, features), got {table.shape}")
    elif not np.isfinite(table).all():
        unusable = ~np.isfinite(table).all(axis=1)
        problems.append(counted(unusable, "item", "with NaN or infinite features"))
    for name, array, kinds in (("items", items, "iu"), ("offsets", offsets, "iu")):
        if array.ndim != 1 or (array.dtype.kind not in kinds and array.size):
            problems.append(f"{name} must be a list of integers, got {array.dtype} {array.shape}")
            return problems
    if chosen.ndim != 1 or not (chosen.dtype == np.bool_ or np.isin(chosen, (0, 1)).all()):
        problems.append(f"chosen must be a list of true and false, got {chosen.dtype}")
        return problems
    if len(chosen) != len(items):
        problems.append(f"there are {len(items):,} items but {len(chosen):,} values of chosen")
    outside = (items < 0) | (items >= len(table))
    if outside.any():
        problems.append(counted(outside, "entry", f"with an item outside 0–{len(table) - 1}"))
    return problems + _problems_of_tasks(len(items), offsets, chosen, singleton)


def _problems_of_tasks(
    n_entries: int, offsets: NDArray[Any], chosen: NDArray[Any], singleton: bool
) -> list[str]:
    if len(offsets) < 2:
        return ["there are no tasks"]
    if offsets[0] != 0 or offsets[-1] != n_entries:
        return [
            f"offsets must run from 0 to the number of entries, {n_entries:,}, "
            f"got {offsets[0]:,} to {offsets[-1]:,}"
        ]
    sizes = np.diff(offsets)
    if (sizes <= 0).any():
        return [counted(sizes <= 0, "task", "without objects")]
    if len(chosen) != n_entries:
        return []
    n_chosen = np.add.reduceat(chosen, offsets[:-1], dtype=np.int64)
    problems = []
    if (n_chosen == 0).any():
        problems.append(counted(n_chosen == 0, "task", "with an empty choice"))
    if singleton and (n_chosen > 1).any():
        problems.append(counted(n_chosen > 1, "singleton task", "with more than one chosen object"))
    return problems
