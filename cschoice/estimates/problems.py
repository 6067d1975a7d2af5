"""Obstacles to estimates, each in one line that names it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cschoice.errors import NotEstimable
from cschoice.estimates.estimates import AT_BOUND, FIXED, RUNS_AWAY, UNIDENTIFIED, Estimates
from cschoice.estimates.optimum import Optimum
from cschoice.estimates.samples import CONSTANT
from cschoice.estimates.specification import Design
from cschoice.learners.logit.layout import TaskLayout
from cschoice.tasks import Kind

_LARGE = 15.0  # a coefficient times the deviation of its feature: odds of a million
_CHECKED_VALUES = 20_000_000  # differences of features in the linear program


def check_choices(made: Design) -> None:
    """Refuse constants of alternatives that nobody chose."""
    if made.tasks.kind is Kind.SUBSET:
        return
    never = [
        name
        for name, column in made.sample.alternatives.items()
        if not made.sample.column(column)[made.tasks.chosen].any()
    ]
    has = {name for name in made.sample.alternatives if f"{CONSTANT}{name}" in made.names}
    for name in never:
        if name in has:
            raise NotEstimable(
                f"alternative '{name}' is never chosen: its constant would run to minus infinity; "
                "leave the alternative out of the table, or its constant out of the utility"
            )
        if len(has) == len(made.sample.alternatives) - 1:
            raise NotEstimable(
                f"alternative '{name}' is never chosen: as the reference it would make the other "
                "constants run to infinity; leave it out of the table, or a constant out"
            )


def check_separation(made: Design, optimum: Optimum) -> None:
    """Refuse features that predict every choice: their coefficients run to infinity."""
    n = len(made.names)
    features = made.tasks.table[made.tasks.items[: min(made.tasks.n_entries, 100_000)]]
    spread = features.std(axis=0)
    if optimum.converged and (np.abs(optimum.parameters[:n]) * spread < _LARGE).all():
        return
    names = separating(made)
    if names:
        raise NotEstimable(
            f"{', '.join(names)}: a combination of these predicts choices without an error, so "
            "that coefficients run to infinity (perfect separation); leave one out, or fix it"
            if len(names) > 1
            else f"{names[0]} predicts choices without an error, so that its coefficient runs to "
            "infinity (perfect separation); leave it out, or fix it"
        )


def separating(made: Design) -> list[str]:
    """Return the features of a direction in which no chosen object is worse than another.

    The likelihood has a maximum only if there is none: a linear program tells.
    """
    from scipy.optimize import linprog

    if made.tasks.kind is Kind.SUBSET or made.tasks.n_entries * len(made.names) > _CHECKED_VALUES:
        return []
    layout = TaskLayout(made.tasks, chosen_first=True)
    parts = []
    for block in layout.blocks:
        x = layout.features(block)
        parts.append((x[:, :1] - x[:, 1:]).reshape(layout.n_features, -1).T)
    better = np.concatenate(parts)
    scale = np.abs(better).max(axis=0)
    better = better / np.where(scale > 0, scale, 1.0)
    found = linprog(-better.sum(axis=0), A_ub=-better, b_ub=np.zeros(len(better)), bounds=(-1, 1))
    if not found.success or -found.fun < 1e-6:
        return []
    return [name for name, part in zip(made.names, found.x, strict=True) if abs(part) > 1e-6]


def notes_of(estimates: Estimates) -> Estimates:
    """Return the estimates with the number of free parameters and notes on the others."""
    remarks = estimates.remarks
    notes = list(estimates.notes)
    named = {
        remark: [estimates.names[k] for k in estimates.shown if remarks[k] == remark]
        for remark in (UNIDENTIFIED, RUNS_AWAY, AT_BOUND, FIXED)
    }
    if n_network := len(remarks) - len(estimates.shown):
        notes.append(
            f"{n_network} parameters are a network's last layer; standard errors account for them, "
            "and take the layers before it as given"
        )
    if lost := named[UNIDENTIFIED]:
        notes.append(
            f"not identified: {', '.join(lost)}: these columns are collinear, or constant within "
            "tasks; leave one out"
        )
    if away := named[RUNS_AWAY]:
        notes.append(
            f"runs to infinity: {', '.join(away)}: the model predicts some choices without an "
            "error; fewer classes or parameters, or bounds, help"
        )
    notes += _notes_on_people(estimates)
    values = dict(zip(estimates.names, estimates.values.tolist(), strict=True))
    if at := named[AT_BOUND]:
        notes.append(f"at its bound: {', '.join(f'{name} = {values[name]:.6g}' for name in at)}")
    if not estimates.optimum.converged:
        notes.append(
            "not converged: the estimates are about "
            f"{estimates.optimum.distance:.2g} standard errors from the optimum"
        )
    n_parameters = estimates.rank + remarks.count(AT_BOUND)
    fit = replace(estimates.fit, n_parameters=n_parameters)
    return replace(estimates, notes=tuple(notes), fit=fit)


def _notes_on_people(estimates: Estimates) -> list[str]:
    """Return a note on people who chose once, where a model tells people from their choices."""
    units = estimates.learner.units(estimates.tasks)
    if units is None:
        return []
    n_tasks = np.bincount(units)
    n_once, n_people = int((n_tasks == 1).sum()), len(n_tasks)
    if not n_once:
        return []
    if n_once < n_people:
        return [f"{n_once:,} of {n_people:,} people have one task only"]
    return [
        "every person has one task only: differences between people cannot be told from chance "
        "by repeated choices, but by the form of the model alone"
    ]
