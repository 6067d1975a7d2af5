"""Consumer surplus: the change of the expected largest utility, in units of money."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.models import Model
from cschoice.effects.situations import Situations
from cschoice.errors import InvalidParameter

Floats = NDArray[np.float64]
_HAVE = "mnl, nl, gnl, cnl"


def surpluses(model: Model, worlds: Sequence[Situations], money: str) -> Floats:
    """Return the change of surplus from the first situations to each other, (tasks, others).

    That is the difference of logsums, divided by what one unit of money is worth.
    """
    start, *others = (_logsums(model, world) for world in worlds)
    worth = worth_of_money(model, worlds[0], money)
    return (np.array(others) - start).T / worth[:, None]


def _logsums(model: Model, situations: Situations) -> Floats:
    found = model.learner.inclusive_values(model.seen(situations))
    if found is None:
        raise InvalidParameter(
            f"{model.name} has no consumer surplus: its choices are not those of the largest of "
            f"random utilities whose expectation is known ({_HAVE} of singleton choice have one)"
        )
    return found


def worth_of_money(model: Model, situations: Situations, money: str) -> Floats:
    """Return the utility that each chooser loses by paying one unit more, whatever is bought."""
    if money not in situations.features:
        raise InvalidParameter(situations.unknown("column of money", money, [*situations.features]))
    per_unit = model.per_unit(situations, money)
    if per_unit is None:
        raise InvalidParameter(
            f"the utility is not linear in '{money}': what a unit is worth depends on the amount"
        )
    coefficients: Floats = np.asarray(model.learner.coefficients_)  # type: ignore[attr-defined]
    lost = -(per_unit[:, : len(coefficients)] @ coefficients)
    first = lost[situations.offsets[:-1]]
    if not np.allclose(situations.spread(first), lost, rtol=1e-3):
        raise InvalidParameter(
            f"a unit of '{money}' is worth different amounts for the alternatives of a task: "
            "there is no common unit of surplus"
        )
    if not (first > 0).all():
        raise InvalidParameter(f"more '{money}' does not lower the utility: it is no price here")
    return first
