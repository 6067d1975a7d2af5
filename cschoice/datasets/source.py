"""The interface of a dataset, and checks of its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.space import Limit, problems_of_parameters
from cschoice.tasks import ChoiceTasks, Kind

LARGEST = 2**40  # numbers in one sample, beyond any memory


class DatasetSource(Protocol):
    """Where the tasks of each outer fold come from."""

    kind: ClassVar[Kind]
    standardize: ClassVar[bool]  # whether features are scaled by the training tasks of a fold
    limits: ClassVar[Mapping[str, Limit]]  # of every field

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Return the train and test tasks of a fold; ``DataUnavailable`` skips the job."""
        ...


def every_task(source: DatasetSource, seed: int) -> ChoiceTasks:
    """Return all tasks of a dataset; of one that is drawn from a rule, the first training tasks."""
    if hasattr(source, "every_task"):
        tasks: ChoiceTasks = source.every_task(seed)
        return tasks
    return source.fold(0, seed)[0]


def does_not_fit(n_tasks: int, n_objects: int, n_bytes: int) -> InvalidParameter:
    """Return the error for more tasks than there is memory for."""
    return InvalidParameter(
        f"{n_tasks:,} tasks of {n_objects:,} objects do not fit in memory "
        f"({n_bytes / 1e9:,.0f} GB): use smaller numbers"
    )


def check_limits(source: Any) -> None:
    """Refuse fields outside the limits of their dataset; NumPy's numbers become Python's."""
    given = {name: getattr(source, name) for name in source.limits}
    if problems := problems_of_parameters(source.limits, given):
        raise InvalidParameter("; ".join(problems))
    for name, value in given.items():
        if isinstance(value, np.generic):
            object.__setattr__(source, name, value.item())
