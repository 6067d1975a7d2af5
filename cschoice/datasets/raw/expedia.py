"""Expedia: of the hotels that a search showed, choose the booked one, or all that were clicked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw import expedia_file
from cschoice.datasets.raw.cache import cached, load_array
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.observed_choices import Numbers, ShuffleSplits, WholeTasks
from cschoice.space import Flag, Limit
from cschoice.tasks import ChoiceTasks, Kind

Relevance = NDArray[np.int8]  # 2: booked, 1: only clicked


@dataclass(frozen=True, kw_only=True)
class _Expedia(ShuffleSplits):
    """Searches with the hotels they showed; a fifth of them is for training."""

    train_share: float = 0.2
    position: bool = False  # whether a hotel's place on the page is a feature: the paper's 17th

    limits: ClassVar[Mapping[str, Limit]] = {**ShuffleSplits.limits, "position": Flag()}

    def whole(self) -> WholeTasks:
        """Read the searches, from the cache after the first time."""
        (file,) = RAW_DATA["expedia"].find().values()
        folder = cached(
            "expedia", {"format": 1}, [file], lambda folder: expedia_file.make(file, folder)
        )
        features = load_array(folder, "features")
        relevance = load_array(folder, "relevance")
        tasks = ChoiceTasks.trusted(
            table=features if self.position else features[:, :-1],
            items=load_array(folder, "items"),
            offsets=load_array(folder, "offsets"),
            chosen=relevance > 0,
            kind=self.kind,
        )
        return WholeTasks(self._choices(tasks, relevance))

    @abstractmethod
    def _choices(self, tasks: ChoiceTasks, relevance: Relevance) -> ChoiceTasks:
        """Return the searches that ask for this kind of choice, with the chosen hotels."""


@dataclass(frozen=True, kw_only=True)
class ExpediaSubset(_Expedia):
    """Choose every hotel that was clicked or booked."""

    kind: ClassVar[Kind] = Kind.SUBSET

    def _choices(self, tasks: ChoiceTasks, relevance: Relevance) -> ChoiceTasks:  # noqa: ARG002
        return tasks[tasks.reduce(np.logical_or, tasks.chosen)]

    def n_samples(self, sizes: Numbers) -> Numbers:
        """Return the numbers behind the paper's count, 238,744 of 79,855 searches."""
        return sizes // self.n_objects + 1


@dataclass(frozen=True, kw_only=True)
class ExpediaSingleton(_Expedia):
    """Choose the hotel that was booked, in searches with a booking.

    The paper's count of 390,270 searches comes about if those without a booking and with a
    single click are taken in: ``single_clicks``.
    """

    single_clicks: bool = False

    kind: ClassVar[Kind] = Kind.SINGLETON
    limits: ClassVar[Mapping[str, Limit]] = {**_Expedia.limits, "single_clicks": Flag()}

    def _choices(self, tasks: ChoiceTasks, relevance: Relevance) -> ChoiceTasks:
        n_booked = tasks.reduce(np.add, relevance == 2, dtype=np.int64)
        wanted = n_booked == 1
        chosen = relevance == 2
        if self.single_clicks:
            n_clicked = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
            clicked = (n_booked == 0) & (n_clicked == 1)
            wanted, chosen = wanted | clicked, chosen | (tasks.chosen & tasks.spread(clicked))
        return ChoiceTasks.trusted(tasks.table, tasks.items, tasks.offsets, chosen, self.kind)[
            wanted
        ]

    def n_samples(self, sizes: Numbers) -> Numbers:
        """Return the numbers behind the paper's count, 166,940 of 78,041 searches."""
        return sizes // self.n_objects
