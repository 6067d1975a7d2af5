"""Checks of the arrays that choice tasks are made of; they report all problems at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTasks

Array = NDArray[Any]

_CHECKED_AT_ONCE = 2**22  # features


def checked(
    table: Any,
    items: Any,
    offsets: Any,
    chosen: Any,
    groups: Any,
    weights: Any,
    singleton: bool,
) -> tuple[tuple[Array, Array, Array, Array] | None, list[str]]:
    """Return the arrays in their types, or None and all problems with them."""
    problems: list[str] = []
    features = _numbers("table", table, 2, "fiub", problems)
    numbers = _numbers("items", items, 1, "iu", problems)
    starts = _numbers("offsets", offsets, 1, "iu", problems)
    marks = _numbers("chosen", chosen, 1, "biuf", problems)
    if features is not None:
        problems += _problems_of_table(features)
    if marks is not None and marks.dtype != np.bool_ and not np.isin(marks, (0, 1)).all():
        problems.append("chosen must be true or false, got other values")
        marks = None
    if numbers is not None and marks is not None and len(numbers) != len(marks):
        problems.append(f"there are {len(numbers):,} items but {len(marks):,} values of chosen")
    if features is not None and numbers is not None and len(features):
        outside = (numbers < 0) | (numbers >= len(features))
        if outside.any():
            problems.append(
                counted(outside, "entry", f"with an item outside 0–{len(features) - 1}")
            )
    if numbers is not None and starts is not None:
        problems += _problems_of_tasks(len(numbers), starts.astype(np.int64), marks, singleton)
    for name, values, kinds in (("groups", groups, "iu"), ("weights", weights, "iuf")):
        known = None if values is None else _numbers(name, values, 1, kinds, problems)
        if known is not None and starts is not None and len(known) != len(starts) - 1:
            problems.append(f"there are {len(starts) - 1:,} tasks but {len(known):,} {name}")
        if known is not None and name == "weights" and not _positive(known).all():
            problems.append(counted(~_positive(known), "task", "whose weight is not positive"))
    if problems or features is None or numbers is None or starts is None or marks is None:
        return None, problems
    with np.errstate(over="ignore"):
        # Copies: later changes of the caller's arrays must not change the tasks. A table mapped
        # from a file to be read only stays there.
        mapped = isinstance(table, np.memmap) and not features.flags.writeable
        own = features.astype(np.float32, copy=not mapped)
        return (own, numbers.copy(), starts.copy(), marks.copy()), []


def _numbers(name: str, values: Any, ndim: int, kinds: str, problems: list[str]) -> Array | None:
    """Return the values as an array of these kinds of numbers, or add why not to the problems."""
    shaped = {1: "a list", 2: "a table"}[ndim]
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, OverflowError) as error:
        problems.append(f"{name} must be {shaped} of numbers: {error}")
        return None
    if array.ndim != ndim or (array.dtype.kind not in kinds and array.size):
        wanted = {"iu": "integers", "biuf": "true and false"}.get(kinds, "numbers")
        got = f"{array.dtype} of shape {array.shape}"
        problems.append(f"{name} must be {shaped} of {wanted}, got {got}")
        return None
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        problems.append(f"{name} has masked values")
        return None
    return array


def _problems_of_table(table: Array) -> list[str]:
    if 0 in table.shape:
        return [f"table must have items and features, got shape {table.shape}"]
    largest = np.finfo(np.float32).max
    unusable: NDArray[np.bool_] = np.empty(len(table), dtype=np.bool_)
    step = max(1, _CHECKED_AT_ONCE // table.shape[1])
    for start in range(0, len(table), step):
        part = slice(start, start + step)
        usable = np.abs(table[part].astype(np.float64)) <= largest  # NaN compares as false
        unusable[part] = np.any(~usable, axis=1)
    return [counted(unusable, "item", "with NaN or infinite features")] if unusable.any() else []


def _problems_of_tasks(
    n_entries: int, offsets: Array, chosen: Array | None, singleton: bool
) -> list[str]:
    if len(offsets) < 2:
        return ["there are no tasks"]
    problems = []
    if offsets[0] != 0 or offsets[-1] != n_entries:
        problems.append(
            f"offsets must run from 0 to the number of entries, {n_entries:,}, "
            f"got {offsets[0]:,} to {offsets[-1]:,}"
        )
    empty = np.diff(offsets) <= 0
    if empty.any():
        problems.append(counted(empty, "task", "without objects"))
    if chosen is None or len(chosen) != n_entries:
        return problems
    # Differences of a running count, because they need no valid offsets.
    before = np.concatenate([[0], np.cumsum(chosen, dtype=np.int64)])
    n_chosen = np.diff(before[np.clip(offsets, 0, n_entries)])
    nothing = (n_chosen == 0) & ~empty
    if nothing.any():
        problems.append(counted(nothing, "task", "with an empty choice"))
    if singleton and (n_chosen > 1).any():
        problems.append(counted(n_chosen > 1, "singleton task", "with more than one chosen object"))
    return problems


def _positive(values: Array) -> NDArray[np.bool_]:
    """Mark the values that are positive numbers, not NaN, not infinite."""
    marked: NDArray[np.bool_] = np.isfinite(values) & (values > 0)
    return marked


def counted(wrong: NDArray[np.bool_], noun: str, problem: str) -> str:
    """Describe a problem by the number of things that have it and the first of them."""
    count, first = int(wrong.sum()), int(wrong.argmax())
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural} {problem} (first: {noun} {first})"


def differences(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describe how the parts differ from the first one."""
    return [
        f"part {number} has {name} {got}, part 0 has {parts[0][name]}"
        for number, part in enumerate(parts)
        for name, got in part.items()
        if got != parts[0][name]
    ]


def dense(x: Any, chosen: Any) -> tuple[Array, Array, Array, Array]:
    """Return table, items, offsets and chosen of tasks of one size (tasks, objects, features)."""
    try:
        features, choice = np.asarray(x), np.asarray(chosen)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidTasks([f"x and chosen must be arrays of numbers: {error}"]) from error
    if features.ndim != 3:
        raise InvalidTasks([f"x must have shape (tasks, objects, features), got {features.shape}"])
    n_tasks, n_objects, n_features = features.shape
    if n_tasks == 0:
        raise InvalidTasks(["there are no tasks"])
    table = features.reshape(n_tasks * n_objects, n_features)
    problems = []
    if choice.shape == (n_tasks,) and choice.dtype.kind in "iu":
        outside = (choice < 0) | (choice >= n_objects)
        if outside.any():
            problems.append(counted(outside, "chosen position", "outside its task"))
        choice = np.arange(n_objects) == choice[:, None]
    if choice.shape != (n_tasks, n_objects):
        allowed = f"{(n_tasks, n_objects)}, or be one position per task"
        problems.append(f"chosen must have shape {allowed}; got {choice.shape}")
    if problems:
        if _numbers("x", table, 2, "fiub", problems) is not None:
            problems += _problems_of_table(table)
        raise InvalidTasks(problems)
    return (
        table,
        np.arange(n_tasks * n_objects),
        np.arange(n_tasks + 1) * n_objects,
        choice.ravel(),
    )
