"""Tables to tasks: learn the encoding from the first table, apply it to later ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.registry import unknown_name
from cschoice.tasks.frames.columns import COMMAS, Column, Table, free_unused, has_commas, row
from cschoice.tasks.frames.description import Description
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.feature_matrix import Matrix, feature_matrix
from cschoice.tasks.frames.missing_values import (
    Impute,
    RawFeature,
    learned_fill,
    parse_impute,
    raw_feature,
)
from cschoice.tasks.frames.objects import Objects, chooser_features, objects_of, own_features
from cschoice.tasks.frames.task_entries import (
    TaskEntries,
    entries_of,
    refuse_contradictions,
    without_invalid_tasks,
)
from cschoice.tasks.ragged import cuts

_AT_ONCE = 200_000  # objects
_MANY = 100  # categories that nobody declared: rather names or free text

Given = TypeVar("Given")
Result = TypeVar("Result")
Values = TypeVar("Values", NDArray[np.int64], NDArray[np.float64])


@dataclass(frozen=True)
class EncodedTable:
    """The tasks of a table, as arrays with one row per available object."""

    features: Matrix
    objects: Objects
    entries: TaskEntries
    encoding: Encoding
    dropped: Mapping[str, int] = field(default_factory=dict)  # problem -> tasks that had it

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Return where each task starts."""
        return self.entries.offsets

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """Return which objects were chosen; none where the table does not tell."""
        if self.objects.chosen is None:
            return np.zeros(len(self.features), dtype=bool)
        return self.objects.chosen[self.entries.objects]

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Return the chooser of each task, a number, where it is known."""
        return self._of_tasks(self.objects.groups)

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Return how much each task counts, where they do not count alike."""
        return self._of_tasks(self.objects.weights)

    @property
    def folds(self) -> tuple[NDArray[np.int64], list[str]] | None:
        """Return the fold in which each task is tested and the names of the folds, if given.

        Where the folds are called train and test there is one, and -1 for what is never tested.
        """
        of_tasks = self._of_tasks(self.objects.folds)
        if of_tasks is None:
            return None
        used, numbers = np.unique(of_tasks, return_inverse=True)
        names = [self.objects.fold_names[k] for k in used]
        lower = [name.lower() for name in names]
        if len(names) < 2:
            column = self.encoding.description.fold
            raise InvalidTable([f"column '{column}' has only one value, {names[0]}: no folds"])
        if sorted(lower) == ["test", "train"]:
            tested = lower.index("test")
            return np.where(numbers == tested, 0, -1), [names[tested]]
        return numbers, names

    def _of_tasks(self, values: Values | None) -> Values | None:
        """Return the value of each task's first object: all its objects have the same."""
        return None if values is None else values[self.entries.objects[self.offsets[:-1]]]

    def labels(self) -> dict[str, Any]:
        """Return the columns that name the task and the alternative of each object, as they are."""
        used = self.entries.objects
        task = self.objects.tasks[used]
        keys = self.objects.keys.columns.items()
        columns = {name: values.take(task).to_pandas() for name, values in keys}
        named = self.objects.alternatives
        if named is None:
            return columns | {"row": self.objects.rows[used] + 1}
        return columns | {named.column: named.values.take(named.codes[used]).to_pandas()}

    @property
    def in_order(self) -> NDArray[np.int64]:
        """Return the objects in the order of the table's rows."""
        return np.argsort(self.objects.rows[self.entries.objects], kind="stable")

    @property
    def n_copies(self) -> int:
        """Count objects that equal another one of their task, where they have no names."""
        import pandas as pd

        if self.objects.alternatives is not None:
            return 0
        sizes = np.diff(self.offsets)
        n_copies = 0
        for first, last in pairwise(cuts(self.offsets, _AT_ONCE)):
            tasks = np.arange(first, last)
            start, stop = self.offsets[tasks[0]], self.offsets[tasks[-1] + 1]
            objects = pd.DataFrame(self.features[start:stop])
            objects["task"] = np.repeat(tasks, sizes[tasks])
            n_copies += int(objects.duplicated().sum())
        return n_copies


def learn_encoding(
    table: Table, description: Description, impute: Any = (), drop_invalid: bool = False
) -> tuple[Encoding, EncodedTable]:
    """Learn the encoding of a table and encode it."""
    objects = objects_of(table, description)
    table = table.only(description.feature_columns)
    raws = _each(lambda values: _learned_raw(values, description), own_features(table, description))
    choosers = _each(
        lambda values: _learned_raw(values, description), chooser_features(table, description)
    )
    del table  # from here on it is not needed
    free_unused()
    ways = parse_impute(impute, [raw.name for raw in [*raws, *choosers]])
    entries, dropped = without_invalid_tasks(
        objects,
        entries_of(objects),
        description.kind,
        raws,
        choosers,
        lambda raw: raw.name in ways or None in ways,
        drop_invalid,
    )
    encoding = Encoding(
        description,
        tuple(_each(lambda raw: _feature(raw, entries, ways), raws)),
        tuple(_each(lambda raw: _feature(raw, entries, ways), choosers)),
        *_alternatives(objects, entries, description),
    )
    matrix = feature_matrix(encoding, objects.alternatives, entries.objects, raws, choosers)
    return encoding, EncodedTable(matrix, objects, entries, encoding, dropped)


@dataclass(frozen=True)
class RawTable:
    """The tasks of a table with the features as the table has them, before they are encoded."""

    objects: Objects
    entries: TaskEntries
    features: Sequence[RawFeature]
    of_chooser: Sequence[RawFeature]
    encoding: Encoding

    def encoded(self) -> EncodedTable:
        """Return the tasks as arrays."""
        matrix = feature_matrix(
            self.encoding,
            self.objects.alternatives,
            self.entries.objects,
            self.features,
            self.of_chooser,
        )
        return EncodedTable(matrix, self.objects, self.entries, self.encoding)


def read_raw(table: Table, encoding: Encoding, learning: bool = False) -> RawTable:
    """Read another table as the first one was; with ``learning``, its choices, too."""
    description = encoding.description
    objects = objects_of(table, description, learning)
    table = table.only(description.feature_columns)
    entries = entries_of(objects)

    def raws(features: Sequence[Feature], columns: Iterable[Column]) -> list[RawFeature]:
        of = {feature.name: feature for feature in features}
        return _each(lambda values: _known_raw(of[values.name], values, objects, entries), columns)

    own = raws(encoding.features, own_features(table, description))
    choosers = raws(encoding.of_chooser, chooser_features(table, description))
    del table  # from here on it is not needed
    free_unused()
    refuse_contradictions(objects, entries, choosers)
    return RawTable(objects, entries, own, choosers, encoding)


def _each(function: Callable[[Given], Result], values: Iterable[Given]) -> list[Result]:
    """Apply a function to all values; raise all errors together."""
    results, problems = [], []
    for value in values:
        try:
            results.append(function(value))
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise InvalidTable(problems)
    return results


def _learned_raw(values: Column, description: Description) -> RawFeature:
    """Read labels of a feature declared categorical or made of words, else numbers."""
    declared = values.name in description.categorical
    raw = raw_feature(values, declared or values.categorical)
    if raw.labels is not None and not declared and has_commas(raw.labels):
        first = next(label for label in raw.labels if has_commas([label]))
        raise ValueError(
            f"feature '{raw.name}' holds texts such as '{first}', which are neither numbers nor "
            f"categories: {COMMAS}"
        )
    if raw.labels is not None and not declared and len(raw.labels) > _MANY:
        raise ValueError(
            f"feature '{raw.name}' has {len(raw.labels):,} different texts, such as "
            f"'{raw.labels[0]}': leave it out, or declare it categorical"
        )
    return raw


def _feature(raw: RawFeature, entries: TaskEntries, ways: Impute) -> Feature:
    """Learn categories and the fill from the objects that are used."""
    used = RawFeature(raw.name, raw.values[entries.objects], raw.labels)
    fill = learned_fill(used, ways)
    if raw.labels is None:
        return Feature(raw.name, None, fill)
    found = {raw.labels[k] for k in np.unique(used.values[~used.missing])}
    return Feature(
        raw.name, tuple(sorted(found | ({str(fill)} if fill is not None else set()))), fill
    )


def _known_raw(
    feature: Feature, values: Column, objects: Objects, entries: TaskEntries
) -> RawFeature:
    """Read a feature of a later table; refuse gaps and categories that the import did not have."""
    raw = raw_feature(values, feature.categories is not None)
    rows, used = objects.rows, entries.objects
    gaps = raw.missing[used]
    if gaps.any() and feature.fill is None:
        first = row(rows[used[gaps.argmax()]])
        raise ValueError(
            f"'{raw.name}' is missing in {first}, and at import it was not said how to fill it"
        )
    if feature.categories is not None and raw.labels is not None:
        known = np.isin(raw.labels, feature.categories)
        unseen = ~np.append(known, True)[raw.values[used]]
        if unseen.any():
            first = used[unseen.argmax()]
            raise ValueError(
                f"'{raw.name}' is '{raw.labels[raw.values[first]]}' in {row(rows[first])}, a "
                f"category not seen at import; known: {', '.join(feature.categories)}"
            )
    return raw


def _alternatives(
    objects: Objects, entries: TaskEntries, description: Description
) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
    """Return the alternatives with constants, the reference, which has none, and all of them."""
    named = objects.alternatives
    if named is None or not (description.constants or description.specific):
        return (), None, ()
    used = tuple(named.labels[k] for k in np.unique(named.codes[entries.objects]))
    if not description.constants:
        return (), None, used
    reference = description.reference or used[0]
    if reference not in used:
        raise InvalidTable([unknown_name("reference", reference, used)])
    return tuple(name for name in used if name != reference), reference, used
