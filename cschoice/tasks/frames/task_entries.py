"""The objects on offer, task by task, and the tasks that cannot be learned from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidTable
from cschoice.tasks.frames.columns import row
from cschoice.tasks.frames.missing_values import RawFeature
from cschoice.tasks.frames.objects import Objects
from cschoice.tasks.kind import Kind
from cschoice.tasks.ragged import Ragged, starts_of

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]

_ADVICE = "correct the table, or leave such tasks out (drop-invalid)"


@dataclass(frozen=True)
class TaskEntries(Ragged):
    """The available objects, task by task."""

    objects: Numbers  # their numbers, as ``Objects`` counts them
    tasks: Numbers  # numbers of the tasks
    offsets: Numbers

    def only(self, kept: Mask) -> TaskEntries:
        """Return some of the tasks."""
        entries = self.objects[self.spread(kept)]
        return TaskEntries(entries, self.tasks[kept], starts_of(self.sizes[kept]))

    def differ(self, values: NDArray[np.generic]) -> Mask:
        """Mark the tasks whose objects do not all have the same value."""
        values = values[self.objects]
        differ: Mask = self.reduce(np.maximum, values) != self.reduce(np.minimum, values)
        return differ

    def any(self, marks: Mask) -> Mask:
        """Mark the tasks that have a marked object."""
        return self.reduce(np.logical_or, marks[self.objects])


@dataclass(frozen=True)
class Problem:
    """A problem of some tasks."""

    text: str  # after "3 tasks"
    where: Mask
    hint: str = ""

    @property
    def count(self) -> int:
        """Count the tasks that have it."""
        return int(self.where.sum())


def entries_of(objects: Objects) -> TaskEntries:
    """Put the available objects of each task behind each other, in the order of the table."""
    numbers = np.flatnonzero(objects.available)
    if not len(numbers):
        raise InvalidTable(["no object is available in any task"])
    tasks = objects.tasks[numbers]
    if (tasks[1:] < tasks[:-1]).any():
        numbers = numbers[np.argsort(tasks, kind="stable")]
    sizes = np.bincount(tasks)
    return TaskEntries(numbers, np.flatnonzero(sizes), starts_of(sizes[sizes > 0]))


def without_invalid_tasks(
    objects: Objects,
    entries: TaskEntries,
    kind: Kind,
    features: Sequence[RawFeature],
    of_chooser: Sequence[RawFeature],
    filled: Callable[[RawFeature], bool],
    drop: bool,
) -> tuple[TaskEntries, dict[str, int]]:
    """Refuse tasks that cannot be learned from, or drop them and count them by their problem."""
    problems = _found(
        _unlearnable(objects, entries, kind), _contradictions(objects, entries, of_chooser)
    )
    gaps = [
        raw
        for raw in [*features, *of_chooser]
        if not filled(raw) and raw.missing[entries.objects].any()
    ]
    if drop:
        for raw in gaps:
            text = f"with missing values of '{raw.name}'"
            problems.append(Problem(text, entries.any(raw.missing)))
    elif gaps:
        missing = _missing_values(objects, entries, gaps)
        raise InvalidTable([*_lines(objects, entries, problems), missing])
    if not problems:
        return entries, {}
    if not drop:
        raise InvalidTable(_lines(objects, entries, problems))
    invalid = np.logical_or.reduce([problem.where for problem in problems])
    if invalid.all():
        raise InvalidTable(["no task is left", *_lines(objects, entries, problems)])
    return entries.only(~invalid), {problem.text: problem.count for problem in problems}


def refuse_contradictions(
    objects: Objects, entries: TaskEntries, of_chooser: Sequence[RawFeature]
) -> None:
    """Refuse tasks that contradict themselves, whether choices are known or to be predicted."""
    problems = _found(_contradictions(objects, entries, of_chooser))
    if problems:
        raise InvalidTable(_lines(objects, entries, problems, "correct the table"))


def _found(*candidates: Iterator[Problem]) -> list[Problem]:
    return [problem for problem in chain(*candidates) if problem.count]


def _unlearnable(objects: Objects, entries: TaskEntries, kind: Kind) -> Iterator[Problem]:
    """Yield the possible problems of choices and of who chose."""
    assert objects.chosen is not None
    n_chosen = entries.reduce(np.add, objects.chosen[entries.objects], dtype=np.int64)
    elsewhere = np.isin(entries.tasks, objects.tasks[objects.chosen & ~objects.available])
    yield Problem("whose chosen object is not available", elsewhere)
    yield Problem("without a chosen object", (n_chosen == 0) & ~elsewhere)
    if kind is Kind.SINGLETON:
        yield Problem("with more than one chosen object (is the kind subset?)", n_chosen > 1)
    if objects.groups is not None:
        yield Problem("of more than one group", entries.differ(objects.groups))
    if objects.folds is not None:
        yield Problem("of more than one fold", entries.differ(objects.folds))
    if objects.weights is not None:
        yield Problem("of more than one weight", entries.differ(objects.weights))


def _contradictions(
    objects: Objects, entries: TaskEntries, of_chooser: Sequence[RawFeature]
) -> Iterator[Problem]:
    """Yield the possible problems of alternatives and of properties of the chooser."""
    if objects.alternatives is not None:
        duplicates = _with_duplicates(objects.alternatives.codes, entries)
        yield Problem("with several rows of one alternative", duplicates)
    for raw in of_chooser:
        values = np.where(raw.missing, -np.inf, raw.values)  # a gap is a value here
        text = f"whose objects differ in '{raw.name}'"
        yield Problem(
            text,
            entries.differ(values),
            f"if '{raw.name}' is not the chooser's, make it a feature; ",
        )


def _with_duplicates(names: Numbers, entries: TaskEntries) -> Mask:
    """Mark the tasks in which an alternative occurs more than once."""
    task = entries.spread(np.arange(len(entries)))
    named = names[entries.objects]
    _, first = np.unique(task * (named.max() + 1) + named, return_index=True)
    n_different = np.bincount(task[first], minlength=len(entries))
    duplicates: Mask = n_different < entries.sizes
    return duplicates


def _lines(
    objects: Objects, entries: TaskEntries, problems: Sequence[Problem], advice: str = _ADVICE
) -> list[str]:
    """Return a line per problem: how many tasks have it, and the first of them."""
    return [
        f"{problem.count:,} task{'s' if problem.count != 1 else ''} {problem.text} "
        f"(first: {objects.keys.named(entries.tasks[problem.where.argmax()])}): "
        f"{problem.hint}{advice}"
        for problem in problems
    ]


def _missing_values(objects: Objects, entries: TaskEntries, gaps: Sequence[RawFeature]) -> str:
    """Return a line with the columns that have gaps, how many rows and the first of them."""
    columns = []
    for raw in gaps:
        rows = np.unique(objects.rows[entries.objects[raw.missing[entries.objects]]])
        columns.append(
            f"'{raw.name}' ({len(rows):,} row{'s' * (len(rows) != 1)}, first: {row(rows[0])})"
        )
    return (
        f"values are missing in {', '.join(columns)}: say how to fill them (impute mean, median, "
        "most-frequent or COLUMN=VALUE), or leave these tasks out (drop-invalid)"
    )
