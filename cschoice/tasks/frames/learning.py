"""Tables to tasks: learn the encoding from the first table, apply it to later ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.arranging import Arranged, arrange, without_invalid
from cschoice.tasks.frames.description import Description
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.filling import Impute, Raw, fill_for, impute_of, raw_of
from cschoice.tasks.frames.matrix import Matrix, matrix_of
from cschoice.tasks.frames.objects import Objects, objects_of
from cschoice.tasks.frames.values import Values, row

_MANY = 100  # categories that nobody declared: rather names or free text

Given = TypeVar("Given")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Table:
    """The tasks of a table, as arrays with one row per available object."""

    features: Matrix
    objects: Objects
    arranged: Arranged
    dropped: Mapping[str, int] = field(default_factory=dict)  # what was wrong -> tasks

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Return where each task starts."""
        return self.arranged.offsets

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """Return what was chosen; nothing where that is not known."""
        if self.objects.chosen is None:
            return np.zeros(len(self.features), dtype=bool)
        return self.objects.chosen[self.arranged.entries]

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Return who chose, a number per task, where it is known."""
        if self.objects.groups is None:
            return None
        return self.objects.groups[self.arranged.entries[self.offsets[:-1]]]

    def labels(self) -> dict[str, Any]:
        """Return what names the task and the alternative of each object, as columns."""
        task = self.objects.tasks[self.arranged.entries]
        keys = {name: np.asarray(values)[task] for name, values in self.objects.keys.items()}
        if self.objects.names is None:
            return keys | {"row": self.objects.rows[self.arranged.entries] + 1}
        codes, names = self.objects.names
        return keys | {self.objects.naming: np.asarray(names)[codes[self.arranged.entries]]}

    @property
    def in_order(self) -> NDArray[np.int64]:
        """Return the objects in the order of the table's rows."""
        return np.argsort(self.objects.rows[self.arranged.entries], kind="stable")

    @property
    def n_copies(self) -> int:
        """Count objects that equal another one of their task, where they have no names."""
        import pandas as pd

        if self.objects.names is not None:
            return 0
        task = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        return int(pd.DataFrame(self.features).assign(task=task).duplicated().sum())


def learn_encoding(
    table: Any, description: Description, impute: Any = (), drop_invalid: bool = False
) -> tuple[Encoding, Table]:
    """Learn how to turn a table into tasks, and do it."""
    objects = objects_of(table, description)
    raws = _each(lambda values: _learned_raw(values, description), objects.features)
    choosers = _each(lambda values: _learned_raw(values, description), objects.of_chooser)
    ways = impute_of(impute, [raw.name for raw in [*raws, *choosers]])
    arranged, dropped = without_invalid(
        objects,
        arrange(objects),
        description.kind,
        raws,
        choosers,
        lambda raw: raw.name in ways or None in ways,
        drop_invalid,
    )
    encoding = Encoding(
        description,
        tuple(_each(lambda raw: _feature(raw, arranged, ways), raws)),
        tuple(_each(lambda raw: _feature(raw, arranged, ways), choosers)),
        tuple(_alternatives(objects, arranged)) if description.constants else (),
    )
    return encoding, Table(
        matrix_of(encoding, objects, arranged.entries, raws, choosers), objects, arranged, dropped
    )


def apply_encoding(table: Any, encoding: Encoding) -> Table:
    """Turn another table into tasks, exactly as the first one was."""
    objects = objects_of(table, encoding.description, learning=False)
    arranged = arrange(objects)

    def raws(features: Sequence[Feature], values: Sequence[Values]) -> list[Raw]:
        of = {value.name: value for value in values}
        return _each(
            lambda feature: _known_raw(feature, of[feature.name], objects, arranged), features
        )

    own = raws(encoding.features, objects.features)
    choosers = raws(encoding.of_chooser, objects.of_chooser)
    return Table(matrix_of(encoding, objects, arranged.entries, own, choosers), objects, arranged)


def _each(function: Callable[[Given], Result], values: Iterable[Given]) -> list[Result]:
    """Apply a function to all values; say all that is wrong, not only the first."""
    results, problems = [], []
    for value in values:
        try:
            results.append(function(value))
        except ValueError as error:
            problems.append(str(error))
    if problems:
        raise InvalidTable(problems)
    return results


def _learned_raw(values: Values, description: Description) -> Raw:
    """Return labels for what is declared categorical or is words, else numbers."""
    declared = values.name in description.categorical
    raw = raw_of(values, declared or values.categorical)
    if raw.labels is not None and not declared and len(raw.labels) > _MANY:
        raise ValueError(
            f"feature '{raw.name}' has {len(raw.labels):,} different texts, such as "
            f"'{raw.labels[0]}': leave it out, or declare it categorical"
        )
    return raw


def _feature(raw: Raw, arranged: Arranged, ways: Impute) -> Feature:
    """Learn categories and the fill from the objects that are used."""
    used = Raw(raw.name, raw.values[arranged.entries], raw.labels)
    fill = fill_for(used, ways)
    if raw.labels is None:
        return Feature(raw.name, None, fill)
    found = {raw.labels[k] for k in np.unique(used.values[~used.missing])}
    return Feature(
        raw.name, tuple(sorted(found | ({str(fill)} if fill is not None else set()))), fill
    )


def _known_raw(feature: Feature, values: Values, objects: Objects, arranged: Arranged) -> Raw:
    """Read a feature of a later table; refuse what was not there at import."""
    raw = raw_of(values, feature.categories is not None)
    rows, entries = objects.rows, arranged.entries
    gaps = raw.missing[entries]
    if gaps.any() and feature.fill is None:
        first = row(rows[entries[gaps.argmax()]])
        raise ValueError(
            f"'{raw.name}' is missing in {first}, and at import it was not said how to fill it"
        )
    if feature.categories is not None and raw.labels is not None:
        known = np.isin(raw.labels, feature.categories)
        unseen = ~np.append(known, True)[raw.values[entries]]
        if unseen.any():
            first = entries[unseen.argmax()]
            raise ValueError(
                f"'{raw.name}' is '{raw.labels[raw.values[first]]}' in {row(rows[first])}, a "
                f"category not seen at import; known: {', '.join(feature.categories)}"
            )
    return raw


def _alternatives(objects: Objects, arranged: Arranged) -> list[str]:
    assert objects.names is not None
    codes, names = objects.names
    return [names[k] for k in np.unique(codes[arranged.entries])]
