"""The objects that were chosen: marked, graded, or named."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.tasks.frames.columns import NO, YES, Column
from cschoice.tasks.frames.description import HOLE, Description
from cschoice.tasks.frames.names import Alternatives, TaskKeys

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]


def chosen_objects(
    values: Column, description: Description, alternatives: Alternatives | None, tasks: TaskKeys
) -> Mask:
    """Mark the chosen objects: the column marks them, grades them, or names the chosen one.

    No mark means no: many tables only mark what was chosen.
    """
    if description.chosen_at_least is not None:
        graded: Mask = values.numbers() >= description.chosen_at_least  # no grade: no
        return graded
    wide = description.alternatives is not None
    if alternatives is None or HOLE in description.chosen:
        return _marked(values)
    if wide:
        return _coded(values, description, alternatives)
    if (flags := values.flags()) is not None and not _all_named(values, alternatives, tasks):
        return np.equal(flags, 1)
    return _named(values, alternatives, tasks)


def _marked(values: Column) -> Mask:
    if (flags := values.flags()) is not None:
        return np.equal(flags, 1)
    raise ValueError(
        f"column '{values.name}' must hold 0 and 1 or true and false, got {values.some()}: "
        "for grades say from which one on (chosen-at-least 1), for the name of the chosen "
        "alternative which column has the names (object)"
    )


def _coded(values: Column, description: Description, alternatives: Alternatives) -> Mask:
    """Mark the alternatives of a wide table whose code is in the column."""
    codes = list((description.alternatives or {}).values())
    found, labels = values.labels()
    if not set(codes) & set(labels):
        raise ValueError(
            f"column '{values.name}' names none of the alternatives ({', '.join(codes)}), got "
            f"{', '.join(labels[:5])}: write alternatives as NAME=code, such as "
            f"{alternatives.labels[0]}={(labels or ['1'])[0]}"
        )
    meant = np.tile(_positions(codes, labels)[found], len(codes))
    coded: Mask = meant == alternatives.codes
    return coded


def _all_named(values: Column, alternatives: Alternatives, tasks: TaskKeys) -> bool:
    """Tell whether 0 and 1 are names of alternatives: the same one in all rows of each task."""
    codes, labels = values.labels()
    several = len(codes) > len(tasks)
    known = set(labels) <= set(alternatives.labels)
    return several and known and not (_largest(codes, tasks)[tasks.numbers] != codes).any()


def _named(values: Column, alternatives: Alternatives, tasks: TaskKeys) -> Mask:
    codes, labels = values.labels()
    of_task = _largest(codes, tasks)
    differ = (codes >= 0) & (codes != of_task[tasks.numbers])
    if differ.any():
        task = tasks.named(tasks.numbers[differ.argmax()])
        raise ValueError(
            f"column '{values.name}' differs within a task (first: {task}), so it names no chosen "
            f"alternative; to mark it, it must hold 0 and 1 or true and false, {_no_mark(values)}; "
            "for grades say from which one on (chosen-at-least 1)"
        )
    if not set(labels) & set(alternatives.labels):
        raise ValueError(
            f"column '{values.name}' names none of the alternatives "
            f"({', '.join(alternatives.labels[:9])}), got {', '.join(labels[:5])}"
        )
    meant = _positions(alternatives.labels, labels)[of_task[tasks.numbers]]
    named: Mask = meant == alternatives.codes
    return named


def _no_mark(values: Column) -> str:
    """Name the first row whose value is no mark."""
    codes, labels = values.labels()
    odd = np.array([*(label.lower() not in (*YES, *NO) for label in labels), False])[codes]
    first = int(odd.argmax())
    return f"{values.row(first)} has '{labels[codes[first]]}'"


def _largest(codes: Codes, tasks: TaskKeys) -> Codes:
    """Return the largest code in each task; -1 where there is none."""
    largest = np.full(len(tasks), -1)
    np.maximum.at(largest, tasks.numbers, codes)
    return largest


def _positions(known: list[str], labels: list[str]) -> Codes:
    """Return the position of each label among the known ones, -1 for others and for no label."""
    number = {label: k for k, label in enumerate(known)}
    return np.array([*(number.get(label, -1) for label in labels), -1])
