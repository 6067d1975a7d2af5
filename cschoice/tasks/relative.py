"""Features relative to the task: where an object stands among those it is offered with.

A learner that scores single objects cannot know whether a value is large *here*. Ranks, z-scores
and the number of objects tell it, so that context enters by the features.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.tasks.container import ChoiceTasks


def with_relative_features(tasks: ChoiceTasks) -> ChoiceTasks:
    """Append to each feature its rank and its z-score within the task, and the log of its size.

    The rank is the share of the other objects with a smaller value, of equal ones a half.

    >>> from cschoice.tasks import Kind
    >>> tasks = ChoiceTasks.from_dense([[[1.0], [3.0], [2.0]]], [0], Kind.SINGLETON)
    >>> with_relative_features(tasks).features.round(2)[:, :3].tolist()
    [[1.0, 0.0, -1.2200000286102295], [3.0, 1.0, 1.2200000286102295], [2.0, 0.5, 0.0]]
    """
    x = tasks.features
    ranks = np.column_stack([_ranks(tasks, column) for column in x.T])
    size = np.log(tasks.spread(tasks.sizes)).astype(np.float32)
    table = np.column_stack([x, ranks, _z_scores(tasks, x), size])
    return tasks.with_arrays(table=table, items=np.arange(tasks.n_entries), encoding=None)


def _ranks(tasks: ChoiceTasks, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the share of the other objects of its task that each object beats."""
    order = tasks.descending(values)
    ordered = values[order]
    first = np.ones(tasks.n_entries, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    first[tasks.offsets[:-1]] = True
    starts = np.flatnonzero(first)  # of runs of equal values, from large to small
    lengths = np.diff(np.append(starts, tasks.n_entries))
    task = np.searchsorted(tasks.offsets, starts, side="right") - 1
    beaten = tasks.offsets[task + 1] - starts - lengths + (lengths - 1) / 2
    others = np.maximum(tasks.sizes[task] - 1, 1)
    ranks = np.empty(tasks.n_entries, dtype=np.float32)
    ranks[order] = np.repeat(np.where(tasks.sizes[task] > 1, beaten / others, 0.5), lengths)
    return ranks


def _z_scores(tasks: ChoiceTasks, x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return deviations from the task's mean in units of its standard deviation, 0 if constant."""
    starts, sizes = tasks.offsets[:-1], tasks.sizes[:, None]
    centred = x - np.repeat(np.add.reduceat(x, starts, dtype=np.float64) / sizes, tasks.sizes, 0)
    deviation = np.sqrt(np.add.reduceat(centred**2, starts) / sizes)
    scale = np.repeat(np.where(deviation > _smallest(x, starts), deviation, np.inf), tasks.sizes, 0)
    return np.asarray(centred / scale, dtype=np.float32)


def _smallest(x: NDArray[np.float32], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the deviation of each task's feature that rounding alone may give."""
    return 1e-6 * np.maximum.reduceat(np.abs(x), starts).astype(np.float64)
