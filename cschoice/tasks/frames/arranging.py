"""Objects into tasks: what stands together, and which tasks cannot be learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.filling import Raw
from cschoice.tasks.frames.objects import Objects
from cschoice.tasks.frames.values import row
from cschoice.tasks.kind import Kind
from cschoice.tasks.ragged import starts_of

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]

_ADVICE = "correct the table, or leave such tasks out (drop-invalid)"


@dataclass(frozen=True)
class Arranged:
    """The available objects, task by task."""

    entries: Numbers  # numbers of objects
    tasks: Numbers  # numbers of tasks, as ``Objects`` counts them
    offsets: Numbers

    def only(self, kept: Mask) -> Arranged:
        """Return some of the tasks."""
        sizes = np.diff(self.offsets)
        entries = self.entries[np.repeat(kept, sizes)]
        return Arranged(entries, self.tasks[kept], starts_of(sizes[kept]))


def arrange(objects: Objects) -> Arranged:
    """Put the available objects of each task behind each other, in the order of the table."""
    available = np.flatnonzero(objects.available)
    entries = available[np.argsort(objects.tasks[available], kind="stable")]
    tasks, sizes = np.unique(objects.tasks[entries], return_counts=True)
    if not len(tasks):
        raise InvalidTable(["no object is available in any task"])
    return Arranged(entries, tasks, starts_of(sizes))


def without_invalid(
    objects: Objects,
    arranged: Arranged,
    kind: Kind,
    features: Sequence[Raw],
    of_chooser: Sequence[Raw],
    filled: Callable[[Raw], bool],
    drop: bool,
) -> tuple[Arranged, dict[str, int]]:
    """Refuse tasks that cannot be learned from, or drop them and say how many of which sort."""
    problems: dict[str, Mask] = dict(_problems(objects, arranged, kind, of_chooser))
    gaps = [
        raw for raw in [*features, *of_chooser] if not filled(raw) and _gaps(raw, arranged).any()
    ]
    if drop:
        for raw in gaps:
            problems[f"with missing values of '{raw.name}'"] = _any(_gaps(raw, arranged), arranged)
    elif gaps:
        raise InvalidTable([*_said(objects, arranged, problems), _missing(objects, arranged, gaps)])
    if not problems:
        return arranged, {}
    if not drop:
        raise InvalidTable(_said(objects, arranged, problems))
    invalid = np.logical_or.reduce(list(problems.values()))
    if invalid.all():
        raise InvalidTable(["no task is left", *_said(objects, arranged, problems)])
    return arranged.only(~invalid), {what: int(where.sum()) for what, where in problems.items()}


def _problems(
    objects: Objects, arranged: Arranged, kind: Kind, of_chooser: Sequence[Raw]
) -> Iterator[tuple[str, Mask]]:
    """Yield what is wrong and with which of the tasks; only what occurs."""
    for what, where in _candidates(objects, arranged, kind, of_chooser):
        if where.any():
            yield what, where


def _candidates(
    objects: Objects, arranged: Arranged, kind: Kind, of_chooser: Sequence[Raw]
) -> Iterator[tuple[str, Mask]]:
    entries = arranged.entries
    assert objects.chosen is not None
    n_chosen = np.add.reduceat(objects.chosen[entries], arranged.offsets[:-1], dtype=np.int64)
    elsewhere = np.isin(arranged.tasks, objects.tasks[objects.chosen & ~objects.available])
    yield "whose chosen object is not available", elsewhere
    yield "without a chosen object", (n_chosen == 0) & ~elsewhere
    if kind is Kind.SINGLETON:
        yield "with more than one chosen object (is the kind subset?)", n_chosen > 1
    if objects.names is not None:
        n_names = len(objects.names[1])
        task = np.repeat(np.arange(len(arranged.tasks)), np.diff(arranged.offsets))
        _, first = np.unique(task * n_names + objects.names[0][entries], return_index=True)
        again = np.ones(len(entries), dtype=bool)
        again[first] = False
        yield "with several rows of one alternative", _any(again, arranged)
    if objects.groups is not None:
        yield "of more than one group", _differ(objects.groups[entries], arranged)
    for raw in of_chooser:
        values = np.where(raw.missing, -np.inf, raw.values)[entries]  # a gap is a value here
        yield f"whose objects differ in '{raw.name}'", _differ(values, arranged)


def _differ(values: NDArray[np.generic], arranged: Arranged) -> Mask:
    starts = arranged.offsets[:-1]
    differ: Mask = np.maximum.reduceat(values, starts) != np.minimum.reduceat(values, starts)
    return differ


def _any(marks: Mask, arranged: Arranged) -> Mask:
    found: Mask = np.logical_or.reduceat(marks, arranged.offsets[:-1])
    return found


def _gaps(raw: Raw, arranged: Arranged) -> Mask:
    return raw.missing[arranged.entries]


def _said(objects: Objects, arranged: Arranged, problems: dict[str, Mask]) -> list[str]:
    counts = {what: int(where.sum()) for what, where in problems.items()}
    return [
        f"{counts[what]:,} task{'s' if counts[what] != 1 else ''} {what} "
        f"(first: {objects.named(int(arranged.tasks[where.argmax()]))}): {_ADVICE}"
        for what, where in problems.items()
    ]


def _missing(objects: Objects, arranged: Arranged, gaps: Sequence[Raw]) -> str:
    """Say in which columns values are missing, how many, and where the first is."""
    columns = []
    for raw in gaps:
        rows = np.unique(objects.rows[arranged.entries[_gaps(raw, arranged)]])
        columns.append(
            f"'{raw.name}' ({len(rows):,} row{'s' * (len(rows) != 1)}, first: {row(rows[0])})"
        )
    return (
        f"values are missing in {', '.join(columns)}: say how to fill them (impute mean, median, "
        "most-frequent or COLUMN=VALUE), or leave these tasks out (drop-invalid)"
    )
