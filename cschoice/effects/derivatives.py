"""Derivatives of chances by the columns that people know.

A model that knows its gradient is asked for it, and goes through the encoding exactly where
features are linear in the column. Other models are asked near where they are, by differences of
fourth order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.models import Model
from cschoice.effects.situations import Situations
from cschoice.errors import InvalidParameter
from cschoice.tasks import Kind

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
_STEP = 2.0**-5  # of the direction
_STENCIL = ((-2, 1 / 12), (-1, -2 / 3), (1, 2 / 3), (2, -1 / 12))


def slopes(
    model: Model,
    situations: Situations,
    column: str,
    moved: Sequence[Mask],
    observed: Sequence[Mask],
    relative: bool,
) -> Floats:
    """Return the change of total chances, (observed, moved), per unit of a column.

    ``moved`` marks the objects whose column changes, by one unit or, if ``relative``, in
    proportion to its value; ``observed`` those whose chances are added up, weighted by task.
    """
    if not model.probabilistic:
        raise InvalidParameter(
            f"{model.name} was not fitted by its likelihood: it has no probabilities that change "
            "a little with a column (arc elasticities are defined)"
        )
    values = situations.column(column)
    if values.dtype.kind != "f":
        raise InvalidParameter(f"'{column}' is a text: it does not change by a little")
    direction = values if relative else np.ones_like(values)
    found = _by_gradient(model, situations, column, moved, observed, direction)
    if found is not None:
        return found
    scale = 1.0 if relative else float(np.nanstd(values)) or 1.0
    steps = [np.where(mask, direction, 0.0) * scale for mask in moved]
    weights = situations.spread(situations.task_weights)
    totals = np.zeros((len(observed), len(moved)))
    for place, step in enumerate(steps):
        for times, factor in _STENCIL:
            there = situations.with_column(column, values + times * _STEP * step)
            chances = model.chances(there) * weights
            totals[:, place] += [factor * chances[mask].sum() for mask in observed]
    return totals / (_STEP * scale)


def _by_gradient(
    model: Model,
    situations: Situations,
    column: str,
    moved: Sequence[Mask],
    observed: Sequence[Mask],
    direction: Floats,
) -> Floats | None:
    """Return the same by the gradient of the model; None if it has none."""
    per_unit = model.per_unit(situations, column)
    if per_unit is None:
        return None
    tasks = model.seen(situations)
    chances = model.chances(situations)
    weights = situations.spread(situations.task_weights)
    totals = np.empty((len(observed), len(moved)))
    for place, mask in enumerate(observed):
        by_utility = chances * weights * mask
        if situations.kind is Kind.SUBSET:
            by_utility = by_utility * (1 - chances)
        else:
            by_utility = by_utility - chances * tasks.spread(tasks.reduce(np.add, by_utility))
        gradient = model.learner.gradient(tasks, by_utility)
        if gradient is None:
            return None
        by_object = np.einsum("ij,ij->i", gradient, per_unit) * direction
        totals[place] = [by_object[mask].sum() for mask in moved]
    return totals
