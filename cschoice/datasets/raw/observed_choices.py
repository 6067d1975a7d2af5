"""Choices that people made: whole tasks for testing, sub-samples of them for training."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.source import check_limits
from cschoice.errors import InvalidParameter
from cschoice.seeding import seed_for
from cschoice.space import Flag, Limit, Number, Optional, Whole
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.relative import with_relative_features
from cschoice.tasks.splits import at_most

Numbers = NDArray[np.int64]

_ENTRIES_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class WholeTasks:
    """All tasks of a dataset, with relevance and parts where its files have them."""

    tasks: ChoiceTasks
    relevance: NDArray[np.float32] | None = None  # one per entry; the largest is chosen
    part: Numbers | None = None  # one per task, where the files divide them


@dataclass(frozen=True, kw_only=True)
class ObservedChoices(ABC):
    """Tasks read from files; folds divide them, training tasks are sub-sampled.

    With ``relative`` each feature is followed by its rank and z-score within the whole task, and
    all by the log of its size; sub-samples keep them.
    """

    n_objects: int = 10  # of a training task: larger ones are sub-sampled
    max_train: int | None = None  # training tasks drawn of a fold; None: all
    max_test: int | None = None
    relative: bool = False

    kind: ClassVar[Kind]
    standardize: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, Limit]] = {
        "n_objects": Whole(2),
        "max_train": Optional(Whole(2)),
        "max_test": Optional(Whole(1)),
        "relative": Flag(),
    }

    def __post_init__(self) -> None:
        check_limits(self)

    @abstractmethod
    def whole(self) -> WholeTasks:
        """Read all tasks."""

    @abstractmethod
    def split(self, whole: WholeTasks, index: int, seed: int) -> tuple[Numbers, Numbers]:
        """Return the numbers of the train and test tasks of a fold."""

    @abstractmethod
    def n_samples(self, sizes: Numbers) -> Numbers:
        """Return how many sub-samples are drawn from tasks that are larger than one."""

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Return sub-sampled training tasks and whole test tasks."""
        whole = self._described()
        train, test = self.split(whole, index, seed)
        rng = np.random.default_rng(
            seed_for(seed, "sub-sample", rule=type(self).__name__, fold=index)
        )
        sampled = at_most(self.max_train, self.sampled(whole, train), rng)
        return (
            sub_samples(whole, sampled, self.n_objects, rng),
            compact(whole.tasks[at_most(self.max_test, test, rng)]),
        )

    def every_task(self, seed: int) -> ChoiceTasks:
        """Return sub-samples of all tasks, to learn from where nothing is tested."""
        whole = self._described()
        rng = np.random.default_rng(seed_for(seed, "sub-sample", rule=type(self).__name__))
        numbers = self.sampled(whole, np.arange(len(whole.tasks)))
        return sub_samples(whole, numbers, self.n_objects, rng)

    def _described(self) -> WholeTasks:
        """Read all tasks, with relative features if asked for."""
        whole = self.whole()
        if not self.relative:
            return whole
        return replace(whole, tasks=with_relative_features(whole.tasks))

    def sampled(self, whole: WholeTasks, numbers: Numbers) -> Numbers:
        """Return the numbers of these tasks, each as often as a sub-sample is drawn from it.

        Tasks that are no larger than a sample count once; larger ones in which everything is
        chosen are left out, for a sample must have something that is not.
        """
        sizes = whole.tasks.sizes[numbers]
        n_samples = np.where(sizes <= self.n_objects, 1, self.n_samples(sizes))
        if whole.relevance is None:
            n_chosen = whole.tasks.reduce(np.add, whole.tasks.chosen, dtype=np.int64)[numbers]
            n_samples[(n_chosen == sizes) & (sizes > self.n_objects)] = 0
        return np.repeat(numbers, n_samples)


@dataclass(frozen=True, kw_only=True)
class ShuffleSplits(ObservedChoices):
    """Every fold divides the tasks at random, the same share of each size for training."""

    train_share: float

    limits: ClassVar[Mapping[str, Limit]] = {
        **ObservedChoices.limits,
        "train_share": Number(0, 1, above=True, below=True),
    }

    def split(self, whole: WholeTasks, index: int, seed: int) -> tuple[Numbers, Numbers]:
        """Take the share of each size, rounded down: so the paper's counts come about."""
        sizes = whole.tasks.sizes
        rng = np.random.default_rng(seed_for(seed, "split", rule=type(self).__name__, fold=index))
        in_train = np.zeros(len(sizes), dtype=bool)
        for size in np.unique(sizes):
            alike = rng.permutation(np.flatnonzero(sizes == size))
            in_train[alike[: int(self.train_share * len(alike) + 1e-9)]] = True
        if not in_train.any():
            raise InvalidParameter(
                f"train_share {self.train_share} of {len(sizes):,} tasks leaves none for training"
            )
        return np.flatnonzero(in_train), np.flatnonzero(~in_train)


def sub_samples(
    whole: WholeTasks, numbers: Numbers, n_objects: int, rng: np.random.Generator
) -> ChoiceTasks:
    """Draw objects from each of these tasks, at least one chosen and one not among them.

    Where the relevance is known, the most relevant of the objects drawn is chosen. Tasks that
    are no larger stay whole. Samples of one task are a group: otherwise
    parameters tuned on some of them would be tested on the others.
    """
    tasks = whole.tasks
    mean_size = max(1, int(tasks.sizes[numbers].mean()))
    step = max(1, _ENTRIES_AT_ONCE // mean_size)
    parts = [
        _drawn(whole, numbers[start : start + step], n_objects, rng)
        for start in range(0, len(numbers), step)
    ]
    entries = np.concatenate([drawn for drawn, _ in parts])
    sizes = np.concatenate([sizes for _, sizes in parts])
    sampled = ChoiceTasks.trusted(
        tasks.table,
        tasks.items[entries],
        np.concatenate([[0], np.cumsum(sizes)]),
        tasks.chosen[entries],
        tasks.kind,
        numbers,
    )
    if whole.relevance is not None:
        sampled = with_largest_chosen(sampled, whole.relevance[entries])
    return compact(sampled)


def _drawn(
    whole: WholeTasks, numbers: Numbers, n_objects: int, rng: np.random.Generator
) -> tuple[Numbers, Numbers]:
    """Return entries of the samples, behind each other in random order, and their sizes."""
    tasks = whole.tasks[numbers]
    keys = rng.random(tasks.n_entries)  # the objects with the largest keys are taken
    urgent = keys.copy()
    if whole.relevance is None:
        for group in (tasks.chosen, ~tasks.chosen):
            best = tasks.reduce(np.maximum, np.where(group, keys, -1.0))
            urgent[group & (keys == tasks.spread(best))] += 1
    position = np.arange(tasks.n_entries) - tasks.spread(tasks.offsets[:-1])
    taken = np.sort(tasks.descending(urgent)[position < n_objects])
    task = np.repeat(np.arange(len(tasks)), tasks.sizes)[taken]
    taken = taken[np.lexsort((keys[taken], task))]
    return whole.tasks.entries(numbers)[taken], np.minimum(tasks.sizes, n_objects)


def with_largest_chosen(tasks: ChoiceTasks, values: NDArray[np.float32]) -> ChoiceTasks:
    """Choose from each task the object with the largest value, the first of equals."""
    chosen = np.zeros(tasks.n_entries, dtype=bool)
    chosen[tasks.descending(values)[tasks.offsets[:-1]]] = True
    return tasks.with_arrays(chosen=chosen, kind=Kind.SINGLETON)


def compact(tasks: ChoiceTasks) -> ChoiceTasks:
    """Leave out the items that no task uses, and with them the file the table is mapped from."""
    used = np.zeros(len(tasks.table), dtype=bool)
    used[tasks.items] = True
    table = np.asarray(tasks.table[used])
    items = (np.cumsum(used) - 1)[tasks.items]
    return tasks.with_arrays(table=table, items=items)
