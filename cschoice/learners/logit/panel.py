"""People and their tasks: the data of likelihoods whose independent unit is a person.

People with the same number of tasks are put into blocks, so that one product of matrices gives
the utilities of all their tasks under all their draws. Utilities are differences to the chosen
object; a task with fewer objects than its block's largest is filled up with objects that are never
chosen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTasks
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.tasks import ChoiceTasks

_BLOCK_VALUES = 131_072  # utilities of a block under all draws: a megabyte


@dataclass(frozen=True)
class PeopleBlock:
    """People with equally many tasks."""

    people: NDArray[np.int64]  # their numbers
    differences: NDArray[np.float64]  # (people, tasks × others, features)
    n_tasks: int  # of each
    absent: NDArray[np.bool_] | None  # (people, tasks × others): places without an object

    def by_task(self, values: Values) -> Values:
        """Return values of places, (people, places, draws), as (people, tasks, others, draws)."""
        return values.reshape(len(values), self.n_tasks, -1, values.shape[2])


@dataclass(frozen=True)
class Panel:
    """Tasks by person, as learned from."""

    layout: TaskLayout
    blocks: tuple[PeopleBlock, ...]
    n_people: int
    weights: NDArray[np.float64] | None  # of people

    @classmethod
    def of(cls, tasks: ChoiceTasks, n_draws: int) -> Panel:
        """Arrange the tasks by person, in blocks that leave room in the cache for all draws."""
        people = people_of(tasks)
        n_people = int(people.max()) + 1
        differences, absent = _differences(tasks)
        numbers = np.argsort(people, kind="stable")
        counts = np.bincount(people, minlength=n_people)
        starts = np.append(0, np.cumsum(counts))
        blocks = []
        # A large task in one block would make the others of the block as large.
        widest = np.maximum.reduceat(tasks.sizes[numbers], starts[:-1])
        shapes = np.stack([counts, widest], axis=1)
        for n_tasks, size in np.unique(shapes, axis=0).tolist():
            members = np.flatnonzero((counts == n_tasks) & (widest == size))
            width = n_tasks * max(1, size - 1)
            step = max(1, _BLOCK_VALUES // (width * n_draws))
            for begin in range(0, len(members), step):
                part = members[begin : begin + step]
                theirs = numbers[starts[part][:, None] + np.arange(n_tasks)]
                x = differences[theirs][:, :, : max(1, size - 1)]
                gone = absent[theirs][:, :, : max(1, size - 1)].reshape(len(part), width)
                blocks.append(
                    PeopleBlock(
                        part,
                        np.ascontiguousarray(x.reshape(len(part), width, -1)),
                        n_tasks,
                        gone if gone.any() else None,
                    )
                )
        layout = TaskLayout(tasks, chosen_first=True)
        return cls(layout, tuple(blocks), n_people, _weights(tasks, people, n_people))


def people_of(tasks: ChoiceTasks) -> NDArray[np.int64]:
    """Return the number of each task's person, in the order in which people appear.

    Without groups each task is another person's.
    """
    if tasks.groups is None:
        return np.arange(len(tasks))
    _, first, numbers = np.unique(tasks.groups, return_index=True, return_inverse=True)
    appeared = np.argsort(np.argsort(first))
    return np.asarray(appeared[numbers], dtype=np.int64)


def _differences(tasks: ChoiceTasks) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return other objects minus the chosen one, (tasks, others, features), and the gaps."""
    n_others = max(1, int(tasks.sizes.max()) - 1)
    x = tasks.features.astype(np.float64)
    chosen = np.flatnonzero(tasks.chosen)
    task = tasks.spread(np.arange(len(tasks)))
    others = np.flatnonzero(~tasks.chosen)
    place = others - tasks.offsets[task[others]]
    place -= others > chosen[task[others]]  # places behind the chosen object move up
    differences = np.zeros((len(tasks), n_others, tasks.n_features))
    absent = np.ones((len(tasks), n_others), dtype=bool)
    differences[task[others], place] = x[others] - x[chosen[task[others]]]
    absent[task[others], place] = False
    return differences, absent


def _weights(
    tasks: ChoiceTasks, people: NDArray[np.int64], n_people: int
) -> NDArray[np.float64] | None:
    if tasks.weights is None:
        return None
    weights = np.empty(n_people)
    weights[people] = tasks.weights
    if not np.array_equal(weights[people], tasks.weights):
        raise InvalidTasks(["the tasks of a person must have one weight in a model of people"])
    return weights
