"""Specifications applied to samples: the tasks that are kept, with one feature per term."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.estimates.expressions import Expression
from cschoice.estimates.samples import CONSTANT, Sample, constant_within
from cschoice.estimates.specification import Specification
from cschoice.registry import unknown_name
from cschoice.tasks import ChoiceTasks

EACH = ":constants"  # after a term: one coefficient for each alternative


@dataclass(frozen=True)
class Design:
    """The tasks as a model sees them: one feature per term."""

    tasks: ChoiceTasks
    names: tuple[str, ...]
    sample: Sample  # the tasks kept, with all features
    notes: tuple[str, ...] = ()


def design(sample: Sample, specification: Specification) -> Design:
    """Return the design of a specification: tasks that are kept, and a column per term."""
    sample = _kept(sample, specification.where)
    reference = _reference(sample, specification.reference)
    if not specification.utility:
        return _all_features(sample, reference)
    columns = _terms_of(sample, specification, reference)
    made = with_columns(sample.tasks, np.column_stack(list(columns.values())))
    return Design(made, tuple(columns), sample)


def design_of(sample: Sample, specification: Specification, terms: Sequence[str]) -> Design:
    """Return the design of other tasks with the same terms, whatever their features are now."""
    if specification.utility:
        columns = _terms_of(sample, specification, None)
    else:
        columns = {name: sample.column(k) for k, name in enumerate(sample.features)}
    made = with_columns(sample.tasks, np.column_stack([columns[name] for name in terms]))
    return Design(made, tuple(terms), sample)


def _terms_of(
    sample: Sample, specification: Specification, reference: str | None
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of all terms; without a reference, one for every alternative."""
    columns: dict[str, NDArray[np.float64]] = {}
    for name, text in specification.utility:
        for label, values in _columns(sample, name, text, reference).items():
            if label in columns:
                raise InvalidParameter(f"the utility has two terms named '{label}'")
            columns[label] = values
    return columns


def with_columns(tasks: ChoiceTasks, columns: NDArray[Any]) -> ChoiceTasks:
    """Return the tasks with other features, one row per entry."""
    if not np.isfinite(columns).all():
        raise InvalidParameter("a term of the utility is not finite: a division by zero, or log(0)")
    table = columns.astype(np.float32)
    return tasks.with_arrays(table=table, items=np.arange(tasks.n_entries), encoding=None)


def term_columns(
    sample: Sample, terms: Sequence[tuple[str, str]]
) -> dict[str, NDArray[np.float64]]:
    """Return the values of terms, one per entry."""
    columns = {}
    for name, text in terms:
        expression, values = _formula(sample, text)
        column = np.asarray(expression.value(values), dtype=np.float64)
        columns[name] = np.broadcast_to(column, (sample.tasks.n_entries,))
    return columns


def chooser_columns(
    sample: Sample, terms: Sequence[tuple[str, str]]
) -> dict[str, NDArray[np.float64]]:
    """Return terms of the chooser: each has one value for all objects of a task."""
    columns = term_columns(sample, terms)
    for name, column in columns.items():
        if not constant_within(sample.tasks, column):
            raise InvalidParameter(
                f"membership: '{name}' differs between the objects of a task: name what is known "
                "of the chooser (import with --context)"
            )
    return columns


def _kept(sample: Sample, where: str | None) -> Sample:
    if where is None:
        return sample
    expression, values = _formula(sample, where)
    keep = np.broadcast_to(expression.value(values), (sample.tasks.n_entries,)) != 0
    if not constant_within(sample.tasks, keep):
        raise InvalidParameter(f"where: '{where}' differs between the objects of a task")
    numbers = np.flatnonzero(keep[sample.tasks.offsets[:-1]])
    if not len(numbers):
        raise InvalidParameter(f"where: no task satisfies '{where}'")
    return sample[numbers]


def _formula(sample: Sample, text: str) -> tuple[Expression, dict[str, Any]]:
    """Return a formula over features and alternatives, and the values of its names."""
    places = sample.alternatives | {name: k for k, name in enumerate(sample.features)}
    expression = Expression.parse(text, list(places))
    return expression, {name: sample.column(places[name]) for name in expression.names}


def _columns(
    sample: Sample, name: str, text: str, reference: str | None
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a term."""
    others = {one: k for one, k in sample.alternatives.items() if one != reference}
    if text == "constants":
        _need_alternatives(sample, text)
        return {f"{CONSTANT}{one}": sample.column(k) for one, k in others.items()}
    each = text.endswith(EACH)
    expression, values = _formula(sample, text.removesuffix(EACH))
    column = np.broadcast_to(
        np.asarray(expression.value(values), dtype=np.float64), (sample.tasks.n_entries,)
    )
    if not each:
        return {name: column}
    _need_alternatives(sample, text)
    if not constant_within(sample.tasks, column):
        others = sample.alternatives  # of an object's feature every alternative can have one
    label = name.removesuffix(EACH)
    return {f"{label}:{one}": column * sample.column(k) for one, k in others.items()}


def _need_alternatives(sample: Sample, text: str) -> None:
    if not sample.alternatives:
        raise InvalidParameter(
            f"'{text}' needs to know the alternatives: import with --object (or --wide) and "
            "--constants"
        )


def _reference(sample: Sample, given: str | None) -> str | None:
    """Return the alternative without a constant: given here, else at import, else the first."""
    given = given or sample.reference
    if given is not None:
        if given not in sample.alternatives:
            raise InvalidParameter(unknown_name("alternative", given, sample.alternatives))
        return given
    constants = [sample.column(k) for k in sample.alternatives.values()]
    complete = bool(constants) and bool((np.sum(constants, axis=0) == 1).all())
    return next(iter(sample.alternatives)) if complete else None


def _all_features(sample: Sample, reference: str | None) -> Design:
    """Return the design with all features that can have a coefficient."""
    if sample.reference and reference != sample.reference:
        _refuse_interactions(sample)
    of_reference = [
        name
        for name in sample.features
        if name == f"{CONSTANT}{reference}" or name.startswith(f"{CONSTANT}{reference} × ")
    ]
    of_chooser = [name for k, name in enumerate(sample.features) if sample.is_of_chooser(k)]
    left_out = {*of_chooser, *of_reference}
    notes = []
    if of_chooser:
        notes.append(
            f"left out, the same for all objects of a task: {', '.join(of_chooser)} (as "
            f"'{of_chooser[0]}{EACH}' in a utility they can have coefficients)"
        )
    kept = [k for k, name in enumerate(sample.features) if name not in left_out]
    if not kept:
        raise InvalidParameter("there is no feature that differs between the objects of a task")
    tasks = sample.tasks
    if left_out:
        tasks = replace(tasks, table=tasks.table[:, kept], encoding=None)
    return Design(tasks, tuple(sample.features[k] for k in kept), sample, tuple(notes))


def _refuse_interactions(sample: Sample) -> None:
    """Refuse another reference where interactions with its constant were never made."""
    made = [name for name in sample.features if name.startswith(CONSTANT) and " × " in name]
    if made:
        raise InvalidParameter(
            f"the interactions with constants, such as '{made[0]}', leave out {sample.reference}: "
            "import with another --reference, or write them in a utility, such as "
            f"'{made[0].partition(' × ')[2]}{EACH}'"
        )
