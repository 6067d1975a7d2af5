"""Splits over tasks: outer folds and inner shuffle splits.

Where it is known who chose (``ChoiceTasks.groups``), nobody's choices are on both sides.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.tasks.container import ChoiceTasks
from cschoice.tasks.kind import Kind

TaskNumbers = NDArray[np.int64]


def stratified_shuffle_splits(
    tasks: ChoiceTasks, n_splits: int, held_out: float, seed: int
) -> list[tuple[TaskNumbers, TaskNumbers]]:
    """Return pairs of task numbers: those to train on and the share that is held out.

    Strata are task sizes and, for subset choice, sizes of the chosen set. Shuffled tasks are
    laid out stratum by stratum and sampled at equal steps: every stratum gives its share to
    within one task, and rare strata share a step with their neighbours in size, with no rule
    for merging them. With groups, whole groups are held out, as many as come closest.
    """
    if n_splits < 1:
        raise InvalidParameter(f"n_splits must be at least 1, got {n_splits}")
    if not 0 < held_out < 1:
        raise InvalidParameter(f"held_out must lie between 0 and 1, got {held_out}")
    if len(tasks) < 2:
        raise InvalidParameter(f"a split needs at least 2 tasks, got {len(tasks)}")
    n_held_out = min(max(1, round(held_out * len(tasks))), len(tasks) - 1)
    rng = np.random.default_rng(seed)
    splits = []
    for _ in range(n_splits):
        if tasks.groups is None:
            in_strata = _shuffled_in_strata(tasks, rng)
            steps = (np.arange(n_held_out) + rng.random()) * len(tasks) / n_held_out
            is_held_out = np.zeros(len(tasks), dtype=bool)
            is_held_out[in_strata[steps.astype(np.int64)]] = True
        else:
            is_held_out = _held_out_groups(tasks.groups, n_held_out, rng)
        splits.append((np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)))
    return splits


def fold_numbers(tasks: ChoiceTasks, n_folds: int, seed: int) -> TaskNumbers:
    """Return for each task the fold in which it is tested; folds are as equal as can be.

    Each stratum is dealt out to the folds like cards; with groups, whole groups are, the
    largest first and always to the fold with the fewest tasks.
    """
    n_units = len(tasks) if tasks.groups is None else len(np.unique(tasks.groups))
    if not 2 <= n_folds <= n_units:
        units = "tasks" if tasks.groups is None else "groups"
        raise InvalidParameter(
            f"the number of folds must be 2 to {n_units} ({units}), got {n_folds}"
        )
    rng = np.random.default_rng(seed)
    folds = np.empty(len(tasks), dtype=np.int64)
    if tasks.groups is None:
        folds[_shuffled_in_strata(tasks, rng)] = np.arange(len(tasks)) % n_folds
        return folds
    _, group, counts = np.unique(tasks.groups, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(counts))
    fold_of = np.empty(len(counts), dtype=np.int64)
    fewest = [(0, fold) for fold in range(n_folds)]
    for number in shuffled[np.argsort(-counts[shuffled], kind="stable")]:
        n_tasks, fold = fewest[0]
        fold_of[number] = fold
        heapq.heapreplace(fewest, (n_tasks + int(counts[number]), fold))
    folds[:] = fold_of[group]
    return folds


def _shuffled_in_strata(tasks: ChoiceTasks, rng: np.random.Generator) -> TaskNumbers:
    """Return task numbers, shuffled, stratum by stratum."""
    strata: list[NDArray[np.int64]] = [tasks.sizes]
    if tasks.kind is Kind.SUBSET:
        strata.insert(0, tasks.reduce(np.add, tasks.chosen, dtype=np.int64))
    shuffled = rng.permutation(len(tasks))
    return shuffled[np.lexsort([stratum[shuffled] for stratum in strata])]


def _held_out_groups(
    groups: NDArray[np.int64], n_held_out: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Mark the tasks of groups drawn at random, about as many tasks as wanted."""
    names, counts = np.unique(groups, return_counts=True)
    if len(names) < 2:
        raise InvalidParameter("a split needs at least 2 groups, got 1")
    shuffled = rng.permutation(len(names))
    n_before = np.cumsum(counts[shuffled]) - counts[shuffled]
    wanted = n_before + counts[shuffled] / 2 <= n_held_out
    n_groups = min(max(1, int(wanted.sum())), len(names) - 1)
    return np.isin(groups, names[shuffled[:n_groups]])


def at_most(limit: int | None, numbers: TaskNumbers, rng: np.random.Generator) -> TaskNumbers:
    """Return all numbers if there is no limit, else that many at random, in order."""
    if limit is None or len(numbers) <= limit:
        return numbers
    return np.asarray(np.sort(rng.permutation(numbers)[:limit]))
