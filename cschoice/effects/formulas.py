"""Formulas over the columns of choice situations: ``train.time * 0.8``, ``income > 50``."""

from __future__ import annotations

import numpy as np

from cschoice.effects.situations import Situations, Values
from cschoice.errors import InvalidParameter
from cschoice.estimates.expressions import Expression


def formula(situations: Situations, text: str) -> Expression:
    """Read a formula; refuse names that there are not.

    Names are columns (``cost``: of each object its own), those of an alternative
    (``train.cost``) and alternatives (``train``: 1 for that one, else 0).
    """
    known = known_names(situations)
    try:
        return Expression.parse(text, known, texts=True)
    except InvalidParameter as error:
        told = str(error).partition("Known: ")[0].rstrip(": ")
        raise InvalidParameter(f"{told}; there are {situations.described}") from None


def known_names(situations: Situations) -> list[str]:
    """Return all names that a formula may use; one that is a number stays a number."""
    names = situations.names
    dotted = [f"{one}.{name}" for one in names for name in situations.features]
    words = [name for name in names if not name.replace(".", "").isdigit()]
    return [*situations.features, *situations.of_chooser, *words, *dotted]


def evaluated(situations: Situations, text: str) -> Values:
    """Return the value of a formula for every object."""
    expression = formula(situations, text)
    values = {name: _value(situations, name) for name in expression.names}
    try:
        with np.errstate(all="ignore"):  # what is no number is refused where it matters
            found = np.asarray(expression.value(values))
    except (TypeError, ValueError, ArithmeticError):
        raise InvalidParameter(f"'{text}' cannot be computed: it mixes texts and numbers") from None
    return np.broadcast_to(found, (situations.n_objects,))


def where(situations: Situations, condition: str) -> Situations:
    """Return the tasks that satisfy a condition on the chooser, or on one alternative."""
    return situations[np.flatnonzero(truth(situations, condition))]


def truth(situations: Situations, condition: str) -> Values:
    """Tell for each task whether a condition holds; refuse one that holds nowhere."""
    holds = situations.per_task(evaluated(situations, condition) != 0, condition)
    if not holds.any():
        raise InvalidParameter(f"no task satisfies '{condition}'")
    return holds


def split_name(situations: Situations, name: str) -> tuple[str | None, str]:
    """Return the alternative and the column of a name; no alternative: of all objects.

    A name that is both stands for the column.
    """
    if name in situations.features or name in situations.of_chooser:
        return None, name
    for alternative in sorted(situations.names, key=len, reverse=True):
        column = name.removeprefix(f"{alternative}.")
        if column != name and column in situations.features:
            return alternative, column
    raise InvalidParameter(situations.unknown("column", name, known_names(situations)))


def _value(situations: Situations, name: str) -> Values:
    plain = {*situations.features, *situations.of_chooser}
    if name not in plain and name in situations.names:
        return situations.is_alternative(name).astype(np.float64)
    alternative, column = split_name(situations, name)
    if alternative is None:
        return situations.column(column)
    return situations.column_of(alternative, column)
