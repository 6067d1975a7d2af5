"""The tasks behind a word: a dataset, a file of tasks, or a table like the one imported."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.imported import ImportedDataset
from cschoice.errors import InvalidParameter
from cschoice.learners.learner import Learner
from cschoice.learners.prediction import encoding_of
from cschoice.tasks import ChoiceTasks, frames

_MOST_REPEATED = 200_000  # tasks; larger weights say whom a person stands for


def tasks_of(source: str, learner: Learner) -> ChoiceTasks:
    """Return all tasks of an imported dataset, the training tasks of another, or those of a file.

    A ``.parquet`` file of tasks is read as it is, any other file as a table with the columns of
    the one that the learner was fitted on.
    """
    if source in DATASETS:
        dataset = make_dataset(source)
        return dataset.tasks() if isinstance(dataset, ImportedDataset) else dataset.fold(0, 0)[0]
    if not Path(source).exists():
        raise InvalidParameter(f"'{source}' is neither a dataset nor a file")
    if source.endswith(".parquet") and learner.preparation_.encoding is None:
        return ChoiceTasks.from_parquet(source)
    table = frames.read(source, encoding_of(learner)).encoded()
    return ChoiceTasks.from_table(table, learner.kind_)


def dataset_of(model: Path) -> str:
    """Return the dataset that the folder of a model is named after, as ``cschoice fit`` does."""
    name = model.resolve().name
    fitting = [known for known in DATASETS if name.startswith(f"{known}-")]
    if not fitting:
        raise InvalidParameter(f"'{name}' is not named after a dataset: give --dataset")
    return max(fitting, key=len)


def at_most(tasks: ChoiceTasks, most: int | None, seed: int) -> ChoiceTasks:
    """Return so many of the tasks, drawn at random, in their order."""
    if most is None or len(tasks) <= most:
        return tasks
    numbers = np.random.default_rng(seed).choice(len(tasks), most, replace=False)
    return tasks[np.sort(numbers)]


def repeated(tasks: ChoiceTasks) -> ChoiceTasks:
    """Return tasks of whole weights so many times each, without weights; others as they are.

    Then every average and every score counts them, and choices from one set can be both learned
    from and held out.
    """
    weights = tasks.weights
    if weights is None or weights.sum() > _MOST_REPEATED or (weights != weights.round()).any():
        return tasks
    numbers = np.repeat(np.arange(len(tasks)), weights.astype(np.int64))
    return tasks[numbers].with_arrays(weights=None)
