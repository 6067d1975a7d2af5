"""Features as one matrix: a column for each number, one for each category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.encoding import Encoding, Feature
from cschoice.tasks.frames.missing_values import RawFeature
from cschoice.tasks.frames.objects import Objects

Matrix = NDArray[np.float32]
Numbers = NDArray[np.int64]


def feature_matrix(
    encoding: Encoding,
    objects: Objects,
    entries: Numbers,
    raws: Sequence[RawFeature],
    choosers: Sequence[RawFeature],
) -> Matrix:
    """Lay out the features of these objects: own, constants, appended, crossed."""
    own = list(zip(encoding.features, raws, strict=True))
    if encoding.constants and (named := objects.alternatives) is not None:
        own.append(_constants(encoding.constants, named.codes, named.labels, entries))
    of = {raw.name: raw for raw in choosers}
    appended = [(feature, of[feature.name]) for feature in encoding.appended]
    matrix = np.empty((len(entries), len(encoding.names)), dtype=np.float32)
    columns = iter(matrix.T)
    for feature, raw in own + appended:
        for values in _columns(feature, raw, entries):
            next(columns)[:] = values
    n_own = sum(len(feature.names) for feature, _ in own)
    for feature in encoding.crossed:
        for by in _columns(feature, of[feature.name], entries):
            for k in range(n_own):
                np.multiply(matrix[:, k], by, out=next(columns))
    return matrix


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


def _constants(
    known: Sequence[str], codes: Numbers, names: list[str], entries: Numbers
) -> tuple[Feature, RawFeature]:
    """Return the alternatives as a categorical feature; refuse those without a constant."""
    used = {names[k] for k in np.unique(codes[entries])}
    if used - set(known):
        unseen = f"{', '.join(sorted(used - set(known)))}; known: {', '.join(known)}"
        raise InvalidTable([f"alternatives not seen at import have no constant: {unseen}"])
    return Feature("constant", tuple(known)), RawFeature("constant", codes, names)
