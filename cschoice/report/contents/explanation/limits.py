"""The limits of an explanation: of its data, its intervals and its averages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cschoice.explanations.explanation import Explanation
from cschoice.report.contents.outline import Section

_FEW = 30  # sets in which two objects meet, below which little is known of them


def limits_section(explanation: Explanation) -> Section:
    """Return the section on the meaning of intervals and on where the model leaves the data."""
    return Section("limits", "What the data can tell", tuple(_lines(explanation)))


def counts(explanation: Explanation) -> str:
    """Return how many sets there are, in a sentence."""
    found = explanation.support
    sizes = [size for size, _ in found.sizes]
    of = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    people = "" if found.n_people is None else f" by {found.n_people:,} people"
    line_ups = (
        ""
        if found.n_line_ups is None
        else (
            f", {found.n_line_ups:,} different line-up{'s' * (found.n_line_ups != 1)} of "
            f"{explanation.objects.plural}"
        )
    )
    return (
        f"The data: {found.n_tasks:,} sets of {of} objects{people}; {found.n_distinct:,} of them "
        f"differ in their objects{line_ups}."
    )


def _lines(explanation: Explanation) -> Iterator[str]:
    found, about = explanation.support, explanation.about
    yield counts(explanation)
    if about.folds:
        yield (
            f"Intervals come from copies of the model, each fitted without one of {about.folds} "
            "parts of the data, networks from two starts (jackknife over folds): they hold what "
            "other data and another start would change, not what another model would say."
        )
    else:
        yield "No copies were fitted (--folds 0): nothing is known of the noise in the numbers."
    if about.weighted:
        yield "Tasks have weights: fits use them, averages and scores here count each task once."
    sizes = {size for size, _ in found.sizes}
    smaller = sorted({size - 1 for size in sizes if size > 2} - sizes)
    if smaller:
        words = " or ".join(str(size) for size in smaller)
        yield (
            f"Leaving an object out makes sets of {words}, and the data have none: effects of "
            "objects that join or are added are what the model makes of larger sets. Effects of "
            "objects that are moved need no such step."
        )
    if found.n_line_ups == 1:
        yield (
            f"Every set has the same {explanation.objects.plural}: effects of their presence are "
            "told from their features alone."
        )
    elif found.n_line_ups is not None:
        yield from _rare(explanation)
    if found.n_distinct * 20 < found.n_tasks:
        yield (
            f"There are only {found.n_distinct:,} different sets: a model can know the share of "
            "each choice in each of them, but little of sets between them."
        )
    if about.folds:
        total = int(np.isfinite(explanation.matrix.values).sum())
        clear = int((explanation.matrix.clear & np.isfinite(explanation.matrix.values)).sum())
        if total:
            yield f"Of {total} effects in the matrix, {clear} are more than noise."


def _rare(explanation: Explanation) -> Iterator[str]:
    meetings, names = explanation.support.meetings, explanation.objects.names
    never, rarely = [], []
    for j in range(len(names)):
        for k in range(j):
            pair = f"{names[k]} and {names[j]}"
            if meetings[j, k] == 0:
                never.append(pair)
            elif meetings[j, k] < _FEW:
                rarely.append(f"{pair} ({meetings[j, k]} sets)")
    if never:
        yield f"Never on offer together: {'; '.join(never[:10])}{' …' * (len(never) > 10)}."
    if rarely:
        yield f"Rarely on offer together: {'; '.join(rarely[:10])}{' …' * (len(rarely) > 10)}."
