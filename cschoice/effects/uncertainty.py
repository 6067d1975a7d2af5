"""Intervals of anything that is computed of a model: by asking other models like it.

A quantity is a function of a model that returns an array. Each way knows models near the first
one (with moved or drawn parameters, of other folds, fitted again to tasks drawn with replacement)
and turns the quantity's values for them into an interval.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.models import Model

Floats = NDArray[np.float64]
Quantity = Callable[[Model], Floats]
Progress = Callable[[int, int], None]  # models asked, and of how many

NONE, DELTA, KRINSKY_ROBB, FOLDS, BOOTSTRAP = "none", "delta", "krinsky-robb", "folds", "bootstrap"
WAYS = (DELTA, KRINSKY_ROBB, FOLDS, BOOTSTRAP, NONE)


@dataclass(frozen=True, eq=False)
class Ranges:
    """Values with their intervals; NaN where there is no interval."""

    values: Floats
    errors: Floats
    low: Floats
    high: Floats

    def __getitem__(self, index: Any) -> Ranges:
        """Return a part of the values."""
        parts = (self.values, self.errors, self.low, self.high)
        return Ranges(*(part[index] for part in parts))


class Way(Protocol):
    """A way from a model to intervals."""

    @property
    def name(self) -> str:
        """Return the name of the way."""
        ...

    @property
    def level(self) -> float:
        """Return the level of the intervals."""
        ...

    @property
    def model(self) -> Model:
        """Return the model that is asked, the first of several."""
        ...

    def point(self, quantity: Quantity) -> Floats:
        """Return the values of a quantity without their intervals."""
        ...

    def ranges(self, quantity: Quantity, progress: Progress | None = None) -> Ranges:
        """Return the values of a quantity with their intervals."""
        ...


@dataclass(frozen=True, eq=False)
class NoInterval:
    """The values alone."""

    model: Model
    level: float = 0.95
    name: str = NONE

    def point(self, quantity: Quantity) -> Floats:
        """Return the values of a quantity."""
        return quantity(self.model)

    def ranges(self, quantity: Quantity, progress: Progress | None = None) -> Ranges:  # noqa: ARG002
        """Return the values of a quantity; there are no intervals."""
        values = quantity(self.model)
        none = np.full(values.shape, np.nan)
        return Ranges(values, none, none, none)


class OfModels:
    """A way that asks several models."""

    def point(self, quantity: Quantity) -> Floats:
        """Return the values of a quantity without their intervals."""
        return quantity(next(self.models()))

    @property
    @abstractmethod
    def n_models(self) -> int:
        """Return how many models are asked beside the first."""

    @abstractmethod
    def models(self) -> Iterator[Model]:
        """Yield the models that are asked: the first one first."""

    def asked(self, quantity: Quantity, progress: Progress | None) -> tuple[Floats, Floats]:
        """Return the values of the first model, and those of the others, one row each."""
        found = []
        for number, model in enumerate(self.models()):
            found.append(quantity(model))
            if progress is not None:
                progress(number + 1, self.n_models + 1)
        return found[0], np.array(found[1:])


@dataclass(frozen=True, eq=False)
class FoldModels(OfModels):
    """The mean over models of folds, each of which left out a part of the tasks.

    The error is that of a jackknife which leaves out groups: models that share most of their
    tasks differ less than independent ones, by the factor that it corrects for.
    """

    members: tuple[Model, ...]
    level: float = 0.95
    name: str = FOLDS

    @property
    def model(self) -> Model:
        """Return the model of the first fold."""
        return self.members[0]

    def point(self, quantity: Quantity) -> Floats:
        """Return the mean over the models."""
        mean: Floats = np.mean([quantity(member) for member in self.members], axis=0)
        return mean

    @property
    def n_models(self) -> int:
        """Return the number of folds but one."""
        return len(self.members) - 1

    def models(self) -> Iterator[Model]:
        """Yield the models of the folds."""
        yield from self.members

    def ranges(self, quantity: Quantity, progress: Progress | None = None) -> Ranges:
        """Return the mean, with an interval of Student's t."""
        first, rest = self.asked(quantity, progress)
        found = np.concatenate([first[None], rest])
        n = len(found)
        mean = found.mean(axis=0)
        errors = np.sqrt((n - 1) / n * ((found - mean) ** 2).sum(axis=0))
        return symmetric(mean, errors, self.level, degrees=n - 1)


@dataclass(frozen=True, eq=False)
class Bootstrap(OfModels):
    """The same model fitted again to tasks, or people, drawn with replacement."""

    model: Model
    refitted: Callable[[int], Model]  # by the number of the replication
    replications: int = 20
    level: float = 0.95
    name: str = BOOTSTRAP
    found: dict[int, Model] = field(default_factory=dict)  # they take long: each is fitted once

    @property
    def n_models(self) -> int:
        """Return the number of replications."""
        return self.replications

    def models(self) -> Iterator[Model]:
        """Yield the model, and its replications."""
        yield self.model
        for number in range(self.replications):
            if number not in self.found:
                self.found[number] = self.refitted(number)
            yield self.found[number]

    def ranges(self, quantity: Quantity, progress: Progress | None = None) -> Ranges:
        """Return an interval from the deviation over replications."""
        values, others = self.asked(quantity, progress)
        errors = others.std(axis=0, ddof=1)
        return symmetric(values, errors, self.level, degrees=self.replications - 1)


def symmetric(values: Floats, errors: Floats, level: float, degrees: int | None = None) -> Ranges:
    """Return symmetric intervals: normal, or of Student's t where the error is of few values."""
    from scipy.special import ndtri, stdtrit

    tail = (1 + level) / 2
    reach = float(ndtri(tail) if degrees is None else stdtrit(degrees, tail))
    return Ranges(values, errors, values - reach * errors, values + reach * errors)
