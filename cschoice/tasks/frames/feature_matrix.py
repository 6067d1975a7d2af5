"""Features as one matrix: a column for each number, one for each category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.missing_values import RawFeature
from cschoice.tasks.frames.names import Alternatives

Matrix = NDArray[np.float32]
Numbers = NDArray[np.int64]


def feature_matrix(
    encoding: Encoding,
    alternatives: Alternatives | None,
    entries: Numbers,
    raws: Sequence[RawFeature],
    choosers: Sequence[RawFeature],
) -> Matrix:
    """Lay out the features of these objects: own, constants, appended, crossed."""
    of = {raw.name: raw for raw in choosers}
    matrix = np.empty((len(entries), len(encoding.names)), dtype=np.float32)
    columns = iter(matrix.T)
    for values in _own(encoding, alternatives, entries, raws):
        next(columns)[:] = values
    for feature in encoding.appended:
        for values in _columns(feature, of[feature.name], entries):
            next(columns)[:] = values
    for feature, places in encoding.crossed:
        for by in _columns(feature, of[feature.name], entries):
            for place in places:
                np.multiply(matrix[:, place], by, out=next(columns))
    return matrix


def _own(
    encoding: Encoding,
    alternatives: Alternatives | None,
    entries: Numbers,
    raws: Sequence[RawFeature],
) -> Iterator[NDArray[Any]]:
    """Yield the columns of the objects' own features, then those of the constants."""
    codes = _alternatives(encoding, alternatives, entries)
    numbers = range(len(encoding.alternatives))
    for feature, raw in zip(encoding.features, raws, strict=True):
        for values in _columns(feature, raw, entries):
            if encoding.is_specific(feature):
                yield from (np.where(codes == k, values, np.float32(0)) for k in numbers)
            else:
                yield values
    known = encoding.known_alternatives
    yield from (codes == known.index(alternative) for alternative in encoding.constants)


def _columns(feature: Feature, raw: RawFeature, entries: Numbers) -> Iterator[NDArray[Any]]:
    """Yield the numbers of a feature, filled: one column, or one per category."""
    values, gaps = raw.values[entries], raw.missing[entries]
    if feature.categories is None:
        fill = np.nan if feature.fill is None else feature.fill
        yield np.where(gaps, fill, values).astype(np.float32)
        return
    numbers = {category: k for k, category in enumerate(feature.categories)}
    fill = numbers.get(str(feature.fill), -1)
    codes = np.array([*(numbers.get(label, -1) for label in raw.labels or []), fill])[values]
    for k in range(len(feature.categories)):
        yield (codes == k).astype(np.float32)


def _alternatives(encoding: Encoding, named: Alternatives | None, entries: Numbers) -> Numbers:
    """Return each object's alternative by its place among the known; refuse unknown ones."""
    known = encoding.known_alternatives
    if not known or named is None:
        return np.empty(0, dtype=np.int64)
    place = {name: k for k, name in enumerate(known)}
    codes = named.codes[entries]
    unseen = [named.labels[k] for k in np.unique(codes) if named.labels[k] not in place]
    if unseen:
        names = f"{', '.join(sorted(unseen))}; known: {', '.join(known)}"
        raise InvalidTable([f"alternatives not seen at import: {names}"])
    return np.array([place.get(label, -1) for label in named.labels])[codes]
