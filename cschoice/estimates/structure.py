"""The structure of a model: a learner with its parameters, and tasks in the form it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cschoice.learners.logit.optimization import Bounds
from cschoice.tasks import ChoiceTasks


@dataclass(frozen=True)
class Structure:
    """A learner with its parameters, and the tasks in the form that it takes."""

    learner: str
    tasks: ChoiceTasks
    features: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)  # a parameter's name -> for people
    fixed: Mapping[str, float] = field(default_factory=dict)  # parameters that are not free
    from_zero: bool = False  # start there: the fit's values mean nothing where some are fixed

    def renamed(self, names: Sequence[str]) -> list[str]:
        """Return the parameters' names for people."""
        return [self.labels.get(name, name) for name in names]

    def limited(self, names: Sequence[str], own: Bounds) -> Bounds:
        """Return the bounds of the model, with parameters fixed that are not free."""
        low, high = own[0].copy(), own[1].copy()
        for name, value in self.fixed.items():
            low[list(names).index(name)] = high[list(names).index(name)] = value
        return low, high
