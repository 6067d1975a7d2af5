"""The limits of parameters: bounds, starts and fixed values, as people write them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.estimates.expressions import hide_names
from cschoice.estimates.specification import Specification
from cschoice.learners.logit.optimization import Bounds, Vector


def limits(
    specification: Specification, names: Sequence[str], own: Bounds, start: Vector
) -> tuple[Bounds, Vector]:
    """Return bounds and start of all parameters, those of the model and those given."""
    low, high, start = own[0].copy(), own[1].copy(), start.copy()
    for text in specification.bounds:
        k, below, above = _bound(text, names)
        low[k], high[k] = max(low[k], below), min(high[k], above)
        if low[k] > high[k]:
            raise InvalidParameter(f"bounds: no value of '{names[k]}' satisfies '{text}'")
    for text in specification.start:
        k, value = _assignment(text, names, "start")
        start[k] = value
    for text in specification.fixed:
        k, value = _assignment(text, names, "fixed")
        low[k] = high[k] = start[k] = value
    return (low, high), np.clip(start, low, high)


def _bound(text: str, names: Sequence[str]) -> tuple[int, float, float]:
    """Read ``cost <= 0`` or ``-1 <= cost <= 0``: the place of the parameter, and its bounds."""
    hidden, found = hide_names(text, names)
    parts = hidden.replace(">=", " >= ").replace("<=", " <= ").split()
    example = "write bounds as 'cost <= 0' or '-1 <= cost <= 0'"
    if len(found) != 1 or len(parts) not in (3, 5):
        raise InvalidParameter(_unread("bounds", text, names, example))
    (name,) = found.values()
    low, high = -np.inf, np.inf
    for left, sign, right in (parts[:3], parts[2:])[: len(parts) // 2]:
        number, name_first = (right, True) if left in found else (left, False)
        if sign not in ("<=", ">=") or not _is_number(number):
            raise InvalidParameter(_unread("bounds", text, names, example))
        if (sign == "<=") == name_first:
            high = min(high, float(number))
        else:
            low = max(low, float(number))
    return list(names).index(name), low, high


def _assignment(text: str, names: Sequence[str], section: str) -> tuple[int, float]:
    hidden, found = hide_names(text, names)
    name, _, value = (part.strip() for part in hidden.partition("="))
    if name not in found or not _is_number(value):
        raise InvalidParameter(_unread(section, text, names, f"write {section} as 'cost = -1'"))
    return list(names).index(found[name]), float(value)


def _unread(section: str, text: str, names: Sequence[str], example: str) -> str:
    return f"{section}: '{text}' is not understood: {example}; known: {', '.join(names)}"


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False
