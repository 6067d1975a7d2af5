"""The encoding that is learned of a table at import and applied to every later table.

Categories, the replacements of missing values, and the alternatives with constants are plain
values, so that a model can keep them and read new tables exactly as it read the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cschoice.tasks.frames.description import Description


@dataclass(frozen=True)
class Feature:
    """How a column becomes numbers: as it is, or one column of 0 and 1 per category."""

    name: str
    categories: tuple[str, ...] | None = None
    fill: float | str | None = None  # in place of a missing value

    @property
    def names(self) -> list[str]:
        """Return the names of its columns."""
        if self.categories is None:
            return [self.name]
        return [f"{self.name}={category}" for category in self.categories]


@dataclass(frozen=True)
class Encoding:
    """How a table becomes tasks."""

    description: Description
    features: tuple[Feature, ...]
    of_chooser: tuple[Feature, ...] = ()
    constants: tuple[str, ...] = ()  # alternatives that have one

    @cached_property
    def names(self) -> list[str]:
        """Return the names of all features of an object, in order."""
        own = [name for feature in self.features for name in feature.names]
        own += [f"constant={alternative}" for alternative in self.constants]
        appended = [name for feature in self.appended for name in feature.names]
        crossed = [name for feature in self.crossed for name in feature.names]
        return [*own, *appended, *(f"{name} × {by}" for by in crossed for name in own)]

    @property
    def appended(self) -> list[Feature]:
        """Return the chooser's features that are appended to those of each object."""
        return [feature for feature in self.of_chooser if feature.name in self.description.context]

    @property
    def crossed(self) -> list[Feature]:
        """Return the chooser's features that are multiplied with those of each object."""
        return [feature for feature in self.of_chooser if feature.name in self.description.cross]
