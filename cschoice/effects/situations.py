"""Choice situations with the columns that people know: changed first, encoded afterwards.

A model sees features after they were encoded: categories, constants, products with the chooser's
columns. A scenario speaks of the columns themselves. So situations keep these, one value per
object on offer; whatever is changed, the tasks of the model follow by its encoding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.registry import nearest
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.feature_matrix import feature_matrix
from cschoice.tasks.frames.missing_values import RawFeature
from cschoice.tasks.frames.names import Alternatives
from cschoice.tasks.ragged import Index, Ragged, starts_of

Values = NDArray[Any]
Columns = Mapping[str, RawFeature]
_TOLD = 20  # names in a message


@dataclass(frozen=True, eq=False)
class Situations(Ragged):
    """Choice situations: everything on offer in each, by the columns of the user's table."""

    encoding: Encoding
    offsets: NDArray[np.int64]
    features: Columns  # of objects
    of_chooser: Columns  # the same for all objects of a task
    alternatives: RawFeature | None = None  # the name of each object, where they have names
    # Of an alternative that was added: the one whose constant and coefficients it takes.
    likenesses: Mapping[str, str] = field(default_factory=dict)
    chosen: NDArray[np.bool_] | None = None
    groups: NDArray[np.int64] | None = None  # who chose in each task
    weights: NDArray[np.float64] | None = None  # how much each task counts
    origins: NDArray[np.int64] | None = None  # number of each task before some were left out

    @property
    def kind(self) -> Kind:
        """Return the kind of choice."""
        return self.encoding.description.kind

    @property
    def n_objects(self) -> int:
        """Return the number of objects over all tasks."""
        return int(self.offsets[-1])

    @property
    def task_numbers(self) -> NDArray[np.int64]:
        """Return the number that each task had at first."""
        return np.arange(len(self)) if self.origins is None else self.origins

    @property
    def task_weights(self) -> NDArray[np.float64]:
        """Return how much each task counts, 1 unless said otherwise."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def with_choices(self) -> NDArray[np.bool_]:
        """Mark the tasks whose choice is known: of singleton choice there is exactly one."""
        if self.chosen is None:
            return np.zeros(len(self), dtype=bool)
        counts = self.reduce(np.add, self.chosen, dtype=np.int64)
        return counts == 1 if self.kind is Kind.SINGLETON else counts >= 0

    @cached_property
    def names(self) -> list[str]:
        """Return the names of the alternatives on offer; none where they have no names."""
        if self.alternatives is None:
            return []
        labels = self.alternatives.labels or []
        return [labels[code] for code in np.unique(self.alternatives.values)]

    def is_alternative(self, name: str) -> NDArray[np.bool_]:
        """Mark the objects that are this alternative; refuse an unknown one."""
        if self.alternatives is None or name not in self.names:
            raise InvalidParameter(self.unknown("alternative", name, self.names))
        labels = self.alternatives.labels or []
        mask: NDArray[np.bool_] = self.alternatives.values == labels.index(name)
        return mask

    def column(self, name: str) -> Values:
        """Return a column, one value per object: numbers (NaN: missing), or texts."""
        return _values(self._raw(name))

    @property
    def named(self) -> Values:
        """Return the name of each object's alternative."""
        if self.alternatives is None:
            raise InvalidParameter(f"alternatives have no names here; there are {self.described}")
        return _values(self.alternatives)

    def _raw(self, name: str) -> RawFeature:
        columns = {**self.features, **self.of_chooser}
        if name not in columns:
            raise InvalidParameter(self.unknown("column", name, list(columns)))
        return columns[name]

    def column_of(self, alternative: str, column: str) -> Values:
        """Return a column of one alternative for all objects of its tasks; NaN where it is not."""
        mask, values = self.is_alternative(alternative), self.column(column)
        missing: Any = np.nan if values.dtype.kind == "f" else ""
        of_tasks = np.full(len(self), missing, dtype=values.dtype)
        of_tasks[self.spread(np.arange(len(self)))[mask]] = values[mask]
        return self.spread(of_tasks)

    def per_task(self, values: Values, text: str) -> Values:
        """Return one value per task; refuse values that differ between the objects of a task."""
        first = values[self.offsets[:-1]]
        if not np.array_equal(self.spread(first), values):
            raise InvalidParameter(
                f"'{text}' differs between the objects of a task: name columns of the chooser, "
                f"or those of one alternative; {self.described}"
            )
        return first

    @property
    def described(self) -> str:
        """Return the columns and alternatives as a message lists them."""
        parts = [f"columns of the objects: {listed(self.features)}"]
        if self.of_chooser:
            parts.append(f"of the chooser: {listed(self.of_chooser)}")
        if self.names:
            example = f"{self.names[0]}.{next(iter(self.features), 'COLUMN')}"
            parts.append(f"alternatives: {listed(self.names)} (as in {example})")
        else:
            parts.append("alternatives have no names here")
        return "; ".join(parts)

    def unknown(self, noun: str, name: str, known: Sequence[str]) -> str:
        """Describe an unknown name, and the known ones."""
        return f"unknown {noun} '{name}': {nearest(name, known)}there are {self.described}"

    def __getitem__(self, index: Index) -> Self:
        """Select tasks by number, slice, numbers or mask."""
        numbers = self.numbers(index)
        return replace(
            self.with_order(self.entries(numbers), self.sizes[numbers]),
            groups=None if self.groups is None else self.groups[numbers],
            weights=None if self.weights is None else self.weights[numbers],
            origins=self.task_numbers[numbers],
        )

    def with_objects(self, kept: NDArray[np.bool_]) -> Self:
        """Return the situations without some objects; tasks in which nothing is left go, too."""
        sizes = self.reduce(np.add, kept, dtype=np.int64)
        if not sizes.any():
            raise InvalidParameter("nothing is left on offer")
        rest = self if sizes.all() else self[sizes > 0]
        objects = kept[self.entries(sizes > 0)]
        return rest.with_order(np.flatnonzero(objects), sizes[sizes > 0])

    def with_order(self, objects: NDArray[np.int64], sizes: NDArray[np.int64]) -> Self:
        """Return these objects, in tasks of these sizes; of the tasks nothing else changes."""

        def taken(raw: RawFeature) -> RawFeature:
            return replace(raw, values=raw.values[objects])

        return replace(
            self,
            offsets=starts_of(sizes),
            features={name: taken(raw) for name, raw in self.features.items()},
            of_chooser={name: taken(raw) for name, raw in self.of_chooser.items()},
            alternatives=None if self.alternatives is None else taken(self.alternatives),
            chosen=None if self.chosen is None else self.chosen[objects],
        )

    def with_column(self, name: str, values: Values) -> Self:
        """Return the situations with other values in a column; refuse values it cannot have."""
        features = {one.name: one for one in (*self.encoding.features, *self.encoding.of_chooser)}
        changed = _changed(features[name], self._raw(name), values)
        if name in self.features:
            return replace(self, features={**self.features, name: changed})
        self.per_task(values, name)
        return replace(self, of_chooser={**self.of_chooser, name: changed})

    def tasks(self) -> ChoiceTasks:
        """Return the tasks of a model that was learned with this encoding."""
        named = None
        if self.alternatives is not None:  # by the names that the encoding knows
            labels = [self.likenesses.get(one, one) for one in self.alternatives.labels or []]
            named = Alternatives(self.alternatives.name, self.alternatives.values, labels, None)
        everything = np.arange(self.n_objects)
        return ChoiceTasks.trusted(
            feature_matrix(
                self.encoding,
                named,
                everything,
                list(self.features.values()),
                list(self.of_chooser.values()),
            ),
            everything,
            self.offsets,
            np.zeros(self.n_objects, dtype=bool) if self.chosen is None else self.chosen,
            self.kind,
            self.groups,
            self.encoding,
            self.weights,
        )


def _values(raw: RawFeature) -> Values:
    return raw.values if raw.labels is None else np.array([*raw.labels, ""])[raw.values]


def _changed(feature: Feature, before: RawFeature, values: Values) -> RawFeature:
    """Return a changed column; refuse gaps and categories that the model cannot take."""
    if feature.categories is None:
        if values.dtype.kind not in "fiub":
            raise InvalidParameter(f"'{feature.name}' must be a number, not a text")
        numbers = values.astype(np.float64)
        bad = ~np.isfinite(numbers) & ~(before.missing & np.isnan(numbers))
        if bad.any():
            raise InvalidParameter(
                f"'{feature.name}' is not a number for {int(bad.sum()):,} objects: a division by "
                "zero, the logarithm of a negative number, or an alternative that is not on offer"
            )
        return replace(before, values=numbers)
    texts, labels = values.astype(np.str_), list(feature.categories)
    unknown = sorted({*np.unique(texts).tolist()} - {*labels, ""})
    if unknown:
        raise InvalidParameter(
            f"'{feature.name}' cannot be '{unknown[0]}': {nearest(unknown[0], labels)}the model "
            f"knows {listed(labels)}"
        )
    place = {label: number for number, label in enumerate(labels)}
    codes = np.array([place.get(text, -1) for text in texts.tolist()], dtype=np.int64)
    return RawFeature(feature.name, codes, labels)


def listed(names: Mapping[str, Any] | Sequence[str]) -> str:
    """List names, the first of many.

    >>> listed(["car", "bus"]), listed([str(number) for number in range(99)])[-10:]
    ('car, bus', '19, … (99)')
    """
    shown = ", ".join(list(names)[:_TOLD])
    return f"{shown}, … ({len(names)})" if len(names) > _TOLD else shown
