"""The interface of a dataset, and checks of its parameters."""

from __future__ import annotations

import json
import operator
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind

LARGEST = 2**40  # numbers in one sample, beyond any memory


class DatasetSource(Protocol):
    """Where the tasks of each outer fold come from."""

    kind: ClassVar[Kind]
    standardize: ClassVar[bool]  # whether features are scaled by the training tasks of a fold

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


def check_counts(source: object, *names: str) -> None:
    """Refuse fields that are no integers of at least 1; NumPy's integers become Python's."""
    for name in names:
        value = getattr(source, name)
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < 1:
            raise InvalidParameter(f"{name} must be an integer of at least 1, got {value!r}")
        object.__setattr__(source, name, operator.index(value))


def check_option(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse a value that is none of the allowed ones."""
    if not any(type(value) is type(option) and value == option for option in allowed):
        options = ", ".join(json.dumps(option) for option in allowed)
        raise InvalidParameter(f"{name} must be one of {options}, got {value!r}")
