"""The encoding that is learned of a table at import and applied to every later table.

Categories, the replacements of missing values, and the alternatives with constants are plain
values, so that a model can keep them and read new tables exactly as it read the first one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from cschoice.tasks.frames.description import CONSTANTS, Description
from cschoice.tasks.kind import Kind


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
    reference: str | None = None  # the alternative that has none, because the others have one
    alternatives: tuple[str, ...] = ()  # all, where some features are specific to them

    @cached_property
    def names(self) -> list[str]:
        """Return the names of all features of an object, in order."""
        own = self.own_names
        appended = [name for feature in self.appended for name in feature.names]
        crossed = [
            f"{own[place]} × {by}"
            for feature, places in self.crossed
            for by in feature.names
            for place in places
        ]
        return [*own, *appended, *crossed]

    def problem(self, kind: Kind, n_features: int) -> str | None:
        """Return the reason why this cannot be of a learner of such tasks; None if it can."""
        described = self.description
        if described.kind is not kind:
            return f"a table of {described.kind} choice, but the learner's is {kind}"
        if described.alternatives is None and not described.task:
            return "no column says which task a row belongs to"
        if described.keep and not described.by:
            return "no column says which rows are alike"
        if "" in (described.object, described.group, described.weight, described.fold):
            return "a column has no name"
        unknown = {feature.name for feature in self.features} - described.features.keys()
        unknown |= {feature.name for feature in self.of_chooser} - set(described.of_chooser)
        if unknown:
            return f"no column is known for {', '.join(sorted(unknown))}"
        try:
            n_names = len(self.names)
        except LookupError as error:
            return f"nothing is known of {error}"
        return None if n_names == n_features else f"{n_names} features, not {n_features}"

    @property
    def own_names(self) -> list[str]:
        """Return the names of the features that are an object's own, constants included."""
        return [name for names in self.own.values() for name in names]

    @property
    def own(self) -> dict[str, list[str]]:
        """Return the names of the columns of each feature, and of the constants."""
        own = {feature.name: self._names_of(feature) for feature in self.features}
        return own | {CONSTANTS: [f"constant={name}" for name in self.constants]}

    def _names_of(self, feature: Feature) -> list[str]:
        if not self.is_specific(feature):
            return feature.names
        return [f"{name}:{one}" for name in feature.names for one in self.alternatives]

    def is_specific(self, feature: Feature) -> bool:
        """Tell whether a feature has a column for each alternative."""
        return feature.name in self.description.specific

    @property
    def known_alternatives(self) -> tuple[str, ...]:
        """Return the alternatives that can have constants or features of their own."""
        without = () if self.reference is None else (self.reference,)
        return self.alternatives or (*without, *self.constants)

    @property
    def appended(self) -> list[Feature]:
        """Return the chooser's features that are appended to those of each object."""
        return [feature for feature in self.of_chooser if feature.name in self.description.context]

    @property
    def crossed(self) -> list[tuple[Feature, list[int]]]:
        """Return the chooser's features that are multiplied, and the places of the other factors.

        Places count the object's own features, constants included.
        """
        of = {feature.name: feature for feature in self.of_chooser}
        places: dict[str | None, list[int]] = {None: list(range(len(self.own_names)))}
        start = 0
        for target, names in self.own.items():
            places[target] = list(range(start, start + len(names)))
            start += len(names)
        return [(of[column], places[target]) for column, target in self.description.crossings]
