"""The support of the data: how many different sets there are, and who meets whom in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.explanations.objects import Objects
from cschoice.tasks import ChoiceTasks


@dataclass(frozen=True)
class Support:
    """The number of sets and choosers, and how the sets differ."""

    n_tasks: int
    n_people: int | None
    sizes: tuple[tuple[int, int], ...]  # number of objects, and of the tasks with it
    n_distinct: int  # sets of features, whatever was chosen
    n_line_ups: int | None  # combinations of names that are on offer, where names are identities
    meetings: NDArray[np.int64]  # (names, names): sets that have both

    def missing_sizes(self, needed: set[int]) -> list[int]:
        """Return the sizes that effects are computed from and the data do not have."""
        return sorted(needed - {size for size, _ in self.sizes})


def support(tasks: ChoiceTasks, objects: Objects) -> Support:
    """Return the support of the tasks."""
    sizes, counts = np.unique(tasks.sizes, return_counts=True)
    n = len(objects.names)
    on_offer = np.zeros((len(tasks), n), dtype=np.int64)
    np.add.at(on_offer, (np.repeat(np.arange(len(tasks)), tasks.sizes), objects.codes), 1)
    present = (on_offer > 0).astype(np.int64)
    meetings = present.T @ present
    meetings[np.diag_indices(n)] = (on_offer > 1).sum(0)
    return Support(
        n_tasks=len(tasks),
        n_people=None if tasks.groups is None else len(np.unique(tasks.groups)),
        sizes=tuple((int(size), int(count)) for size, count in zip(sizes, counts, strict=True)),
        n_distinct=_n_distinct(tasks),
        n_line_ups=len(np.unique(on_offer, axis=0)) if objects.have_identity else None,
        meetings=meetings,
    )


def _n_distinct(tasks: ChoiceTasks) -> int:
    """Return the number of different sets: of objects by their features, in any order."""
    _, same = np.unique(tasks.table, axis=0, return_inverse=True)
    items = same.ravel()[tasks.items]
    order = np.lexsort((items, np.repeat(np.arange(len(tasks)), tasks.sizes)))
    ordered = items[order]
    bounds = zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True)
    return len({ordered[start:stop].tobytes() for start, stop in bounds})
