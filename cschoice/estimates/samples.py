"""Samples: tasks with the names of their features and alternatives, from wherever they come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.imported import ImportedDataset
from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, frames

CONSTANT = "constant="  # begins the name of an alternative's constant


@dataclass(frozen=True)
class Sample:
    """Tasks to estimate from, with the names of their features."""

    tasks: ChoiceTasks
    features: tuple[str, ...]
    name: str = "tasks"
    reference: str | None = None  # the alternative that had no constant in the tasks
    origin: ChoiceTasks | None = None  # the same tasks as they were given, with an encoding

    @cached_property
    def alternatives(self) -> dict[str, int]:
        """Return the alternatives that have a constant, with its column."""
        return {
            name.removeprefix(CONSTANT): column
            for column, name in enumerate(self.features)
            if name.startswith(CONSTANT) and " × " not in name
        }

    def __getitem__(self, numbers: NDArray[np.int64]) -> Sample:
        """Select tasks by their numbers."""
        origin = None if self.origin is None else self.origin[numbers]
        return replace(self, tasks=self.tasks[numbers], origin=origin)

    def column(self, number: int) -> NDArray[np.float64]:
        """Return one feature of all entries."""
        values: NDArray[np.float64] = self.tasks.table[self.tasks.items, number].astype(np.float64)
        return values

    def is_of_chooser(self, number: int) -> bool:
        """Tell whether a feature has one value for all objects of every task."""
        few = self.tasks[: min(len(self.tasks), 1000)]
        return all(
            constant_within(tasks, tasks.table[tasks.items, number]) for tasks in (few, self.tasks)
        )


def constant_within(tasks: ChoiceTasks, values: NDArray[Any]) -> bool:
    """Tell whether values, one per entry, are the same for all objects of every task."""
    first = values[tasks.offsets[:-1]]
    return bool(np.array_equal(tasks.spread(first), values))


def sample_of(source: Any, features: tuple[str, ...] | None = None) -> Sample:
    """Return the sample behind tasks, a Parquet file, or the name of a dataset.

    Of an imported dataset that are all tasks, of a built-in one the training tasks of fold 0.
    """
    if isinstance(source, Sample):
        return source
    if isinstance(source, ChoiceTasks):
        return _named(source, features, "tasks")
    if isinstance(source, Path) or str(source).endswith(".parquet"):
        return _named(ChoiceTasks.from_parquet(source), features, Path(source).stem)
    DATASETS[source]  # refuses an unknown name
    dataset = make_dataset(source)
    own = dataset if isinstance(dataset, ImportedDataset) else None
    tasks = own.tasks() if own else dataset.fold(0, 0)[0]
    return _named(tasks, features, str(source))


def _named(tasks: ChoiceTasks, features: tuple[str, ...] | None, name: str) -> Sample:
    names = features or tuple(tasks.feature_names)
    if len(names) != tasks.n_features or len(set(names)) < len(names):
        expected = f"{tasks.n_features} different names"
        raise InvalidParameter(f"features must be {expected}, got {', '.join(names)}")
    encoding = None if features else tasks.encoding
    origin = tasks.with_arrays(encoding=encoding or frames.plain(names, tasks.kind))
    if encoding is None or encoding.reference is None:
        return Sample(tasks, names, name, origin=origin)
    return _with_all_constants(Sample(tasks, names, name, encoding.reference, origin))


def _with_all_constants(sample: Sample) -> Sample:
    """Append the constant of the reference: nests and specific coefficients need it, too."""
    tasks = sample.tasks
    others = [sample.column(column) for column in sample.alternatives.values()]
    constant = 1 - np.sum([np.zeros(tasks.n_entries), *others], axis=0)
    table = np.column_stack([tasks.features, constant]).astype(np.float32)
    tasks = tasks.with_arrays(table=table, items=np.arange(tasks.n_entries), encoding=None)
    return replace(
        sample, tasks=tasks, features=(*sample.features, f"{CONSTANT}{sample.reference}")
    )
