"""Stratified shuffle splits over tasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind

TaskNumbers = NDArray[np.int64]


def stratified_shuffle_splits(
    tasks: ChoiceTasks, n_splits: int, held_out: float, seed: int
) -> list[tuple[TaskNumbers, TaskNumbers]]:
    """Return pairs of task numbers: those to train on and the share that is held out.

    Strata are task sizes and, for subset choice, sizes of the chosen set. Shuffled tasks are
    laid out stratum by stratum and sampled at equal steps: every stratum gives its share to
    within one task, and rare strata share a step with their neighbours in size, with no rule
    for merging them.
    """
    if n_splits < 1:
        raise InvalidParameter(f"n_splits must be at least 1, got {n_splits}")
    if not 0 < held_out < 1:
        raise InvalidParameter(f"held_out must lie between 0 and 1, got {held_out}")
    if len(tasks) < 2:
        raise InvalidParameter(f"a split needs at least 2 tasks, got {len(tasks)}")
    n_held_out = min(max(1, round(held_out * len(tasks))), len(tasks) - 1)
    strata: list[NDArray[np.int64]] = [tasks.sizes]
    if tasks.kind is Kind.SUBSET:
        strata.insert(0, tasks.reduce(np.add, tasks.chosen, dtype=np.int64))
    rng = np.random.default_rng(seed)
    splits = []
    for _ in range(n_splits):
        shuffled = rng.permutation(len(tasks))
        in_strata = shuffled[np.lexsort([stratum[shuffled] for stratum in strata])]
        steps = (np.arange(n_held_out) + rng.random()) * len(tasks) / n_held_out
        is_held_out = np.zeros(len(tasks), dtype=bool)
        is_held_out[in_strata[steps.astype(np.int64)]] = True
        splits.append((np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)))
    return splits
