"""Willingness-to-pay space: amounts of money in place of coefficients.

The amount w(k) = −b(k) / b(money) makes up for one unit more of feature k. In the place of money
stands its coefficient b(money).
"""

from __future__ import annotations

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.learners.logit.layout import Values
from cschoice.tasks import ChoiceTasks, Kind


def coefficients_of(amounts: Values, money: int | None) -> Values:
    """Return the coefficients of features, (..., features), given amounts."""
    if money is None:
        return amounts
    price = amounts[..., money : money + 1]
    coefficients: Values = -amounts * price
    coefficients[..., money] = price[..., 0]
    return coefficients


def amounts_of(coefficients: Values, money: int | None) -> Values:
    """Return the amounts that make up for one unit more of each feature."""
    if money is None:
        return coefficients
    price = coefficients[..., money : money + 1]
    known = price != 0  # of money that is worth nothing, no amount makes up for anything
    amounts: Values = np.divide(-coefficients, price, out=0 * coefficients, where=known)
    amounts[..., money] = coefficients[..., money]
    return amounts


def by_amounts(gradient: Values, amounts: Values, money: int | None) -> Values:
    """Return the gradient by amounts, given that by coefficients, (..., features)."""
    if money is None:
        return gradient
    moved: Values = -gradient * amounts[money]
    others = gradient @ amounts - gradient[..., money] * amounts[money]
    moved[..., money] = gradient[..., money] - others
    return moved


def check_money(money: int | None, tasks: ChoiceTasks) -> None:
    """Refuse a feature of money that does not exist, and subset choice, which has an intercept."""
    if money is None:
        return
    if tasks.kind is Kind.SUBSET:
        raise InvalidParameter("money_feature is for singleton choice")
    if money >= tasks.n_features:
        raise InvalidParameter(f"money_feature must be 0 to {tasks.n_features - 1}, got {money}")
