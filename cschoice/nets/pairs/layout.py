"""The layout of a task's pairs as a rectangle, (steps, objects).

The pairs of *step* s are (i, i + s), counted round the task; steps 1 … n/2 have every unordered
pair once. (With an even n the last step has each of its pairs twice: there both count half.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor


class Chunk(NamedTuple):
    """The pairs that are evaluated at once: some tasks, and some steps of each."""

    tasks: slice
    steps: range


def chunks(n_tasks: int, n_objects: int, n_units: int, floats_at_once: int) -> Iterator[Chunk]:
    """Yield chunks of about this many units: whole tasks, or a few steps of one task.

    >>> [len(list(chunks(6, 10, 2, floats))) for floats in (600, 300, 100, 20)]
    [1, 2, 6, 30]
    """
    n_steps, per_step = n_objects // 2, n_objects * n_units
    tasks_at_once = max(1, floats_at_once // max(1, n_steps * per_step))
    steps_at_once = max(1, floats_at_once // per_step)
    for task in range(0, n_tasks, tasks_at_once):
        for step in range(1, n_steps + 1, steps_at_once):
            stop = min(step + steps_at_once, n_steps + 1)
            yield Chunk(slice(task, task + tasks_at_once), range(step, stop))


def partners(values: Tensor, steps: range) -> Tensor:
    """Return a view of the values of second objects, (tasks, 2 n, …) -> (tasks, steps, n, …).

    At [t, s, i] is the value of object i + s; ``values`` has the objects twice in a row.
    """
    n_objects = values.shape[1] // 2
    shape = (len(values), len(steps), n_objects, *values.shape[2:])
    task, row, *rest = values.stride()
    offset = values.storage_offset() + steps.start * row
    return values.as_strided(shape, (task, row, row, *rest), offset)


def add_to_partners(total: Tensor, pairs: Tensor, steps: range) -> None:
    """Add the values of pairs to the totals of their second objects: ``partners``, reversed."""
    n_objects = pairs.shape[2]
    for row, step in enumerate(steps):
        total[:, step : step + n_objects] += pairs[:, row]


def twice(values: Tensor) -> Tensor:
    """Repeat the objects of each task, (tasks, n, …) -> (tasks, 2 n, …)."""
    return torch.cat([values, values], dim=1)


def once(values: Tensor) -> Tensor:
    """Add the values of repeated objects, (tasks, 2 n, …) -> (tasks, n, …): ``twice``, reversed."""
    n_objects = values.shape[1] // 2
    return values[:, :n_objects] + values[:, n_objects:]
