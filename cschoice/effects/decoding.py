"""Choice situations from a table, or from tasks whose encoding is known, read backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets import DATASETS, make_dataset
from cschoice.datasets.imported import ImportedDataset
from cschoice.effects.situations import Situations
from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, frames
from cschoice.tasks.frames.description import CONSTANTS
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.missing_values import RawFeature
from cschoice.tasks.given import is_table

Matrix = NDArray[np.float32]
_ALTERNATIVE = "alternative"


def situations_of(source: Any, encoding: Encoding | None = None) -> Situations:
    """Return the choice situations of a dataset, by its name, of a table, or of tasks.

    A table, a data frame or the path of a file, is read by the ``encoding`` of the model. Of a
    built-in dataset these are the test tasks of fold 0.
    """
    if isinstance(source, Situations):
        return source
    if isinstance(source, ChoiceTasks):
        return of_tasks(source)
    if isinstance(source, str) and source in DATASETS:
        dataset = make_dataset(source)
        if isinstance(dataset, ImportedDataset):
            return of_tasks(dataset.tasks())
        return of_tasks(dataset.fold(0, 0)[1])
    if not is_table(source):
        kind = type(source).__name__
        raise InvalidParameter(f"give a table, the name of a dataset, or tasks; got {kind}")
    if encoding is None:
        raise InvalidParameter(
            f"a table is read as one that was imported: give the name of a dataset, not '{source}'"
        )
    if not hasattr(source, "columns") and not Path(source).exists():
        raise InvalidParameter(f"'{source}' is neither a dataset imported here nor a file")
    return of_table(source, encoding)


def of_table(source: Any, encoding: Encoding) -> Situations:
    """Return the choice situations of a table like the one that was learned from."""
    raw = frames.read(source, encoding)
    objects, entries = raw.objects, raw.entries
    used, first = entries.objects, entries.objects[entries.offsets[:-1]]

    def of(columns: Sequence[RawFeature]) -> dict[str, RawFeature]:
        return {one.name: _taken(one, used) for one in columns}

    named = objects.alternatives
    return Situations(
        encoding,
        entries.offsets,
        of(raw.features),
        of(raw.of_chooser),
        None if named is None else RawFeature(named.column, named.codes[used], named.labels),
        chosen=None if objects.chosen is None else objects.chosen[used],
        groups=None if objects.groups is None else objects.groups[first],
        weights=None if objects.weights is None else objects.weights[first],
    )


def of_tasks(tasks: ChoiceTasks) -> Situations:
    """Return the choice situations behind encoded tasks."""
    encoding = tasks.encoding or frames.plain(tasks.feature_names, tasks.kind)
    table = tasks.features
    own = dict(zip(encoding.own, _split(table, encoding), strict=True))
    alternatives = _alternatives(encoding, own)
    features = {
        feature.name: _feature(feature, own[feature.name], encoding)
        for feature in encoding.features
    }
    n_own = len(encoding.own_names)
    appended = dict(_appended(encoding, table[:, n_own:]))
    n_appended = sum(len(feature.names) for feature in encoding.appended)
    crossed = _crossed(encoding, table[:, :n_own], table[:, n_own + n_appended :], tasks)
    found = {**dict(crossed), **appended}
    return Situations(
        encoding,
        tasks.offsets,
        features,
        {feature.name: found[feature.name] for feature in encoding.of_chooser},
        alternatives,
        chosen=tasks.chosen if tasks.chosen.any() else None,
        groups=tasks.groups,
        weights=tasks.weights,
    )


def _taken(raw: RawFeature, objects: NDArray[np.int64]) -> RawFeature:
    values = raw.values[objects]
    return RawFeature(raw.name, values if raw.labels is not None else _exact(values), raw.labels)


def _exact(values: NDArray[Any]) -> NDArray[np.float64]:
    exact: NDArray[np.float64] = values.astype(np.float64)
    return exact


def _split(table: Matrix, encoding: Encoding) -> Iterator[Matrix]:
    """Yield the columns of each feature of the objects, and of the constants."""
    start = 0
    for names in encoding.own.values():
        yield table[:, start : start + len(names)]
        start += len(names)


def _feature(feature: Feature, columns: Matrix, encoding: Encoding) -> RawFeature:
    """Return a feature from its columns: one per category, and per alternative if specific."""
    if encoding.is_specific(feature):
        columns = columns.reshape(len(columns), -1, len(encoding.alternatives)).sum(axis=2)
    return _number_or_category(feature, columns)


def _number_or_category(feature: Feature, columns: NDArray[Any]) -> RawFeature:
    if feature.categories is None:
        return RawFeature(feature.name, _exact(columns[:, 0]))
    codes = np.where(columns.any(axis=1), columns.argmax(axis=1), -1)
    return RawFeature(feature.name, codes, list(feature.categories))


def _alternatives(encoding: Encoding, own: dict[str, Matrix]) -> RawFeature | None:
    """Return the alternatives by their constants, or by the features that only one of them has."""
    known = list(encoding.known_alternatives)
    name = encoding.description.object or _ALTERNATIVE
    if encoding.constants:
        constants = own[CONSTANTS]
        place = [known.index(one) for one in encoding.constants]
        reference = -1 if encoding.reference is None else known.index(encoding.reference)
        codes = np.array([*place, reference])[_first_of(constants)]
        return RawFeature(name, codes, known)
    specific = [own[feature.name] for feature in encoding.features if encoding.is_specific(feature)]
    if not specific:
        return None
    shown = np.sum(
        [np.abs(part.reshape(len(part), -1, len(known))).sum(axis=1) for part in specific], axis=0
    )
    if not shown.any(axis=1).all():
        raise InvalidParameter(
            "the imported tasks do not tell which alternative each object is: give the table "
            "that was imported, or import it with --constants"
        )
    return RawFeature(name, shown.argmax(axis=1), known)


def _first_of(columns: Matrix) -> NDArray[np.int64]:
    """Return the first column that is not zero; -1 if there is none."""
    return np.where(columns.any(axis=1), columns.argmax(axis=1), -1)


def _appended(encoding: Encoding, table: Matrix) -> Iterator[tuple[str, RawFeature]]:
    start = 0
    for feature in encoding.appended:
        columns = table[:, start : start + len(feature.names)]
        yield feature.name, _number_or_category(feature, columns)
        start += len(feature.names)


def _crossed(
    encoding: Encoding, own: Matrix, table: Matrix, tasks: ChoiceTasks
) -> Iterator[tuple[str, RawFeature]]:
    """Yield the chooser's columns that are only known from products with the objects' own.

    Each is the product divided by the other factor, the largest in the task: by a constant, which
    is 1, nothing is lost.
    """
    start = 0
    for feature, places in encoding.crossed:
        n_columns = len(feature.names) * len(places)
        products = table[:, start : start + n_columns].astype(np.float64)
        start += n_columns
        factors = own[:, places].astype(np.float64)
        place = np.abs(factors).argmax(axis=1)
        rows = np.arange(len(own))
        sizes = np.abs(factors[rows, place])
        best = tasks.descending(sizes)[tasks.offsets[:-1]]
        if not sizes[best].all():
            raise InvalidParameter(
                f"the imported tasks do not tell '{feature.name}' everywhere: give the table that "
                f"was imported, or import it with --context {feature.name}"
            )
        by_category = products.reshape(len(own), len(feature.names), len(places))
        found = by_category[best, :, place[best]] / factors[best, place[best]][:, None]
        yield feature.name, _number_or_category(feature, np.repeat(found, tasks.sizes, axis=0))
