"""Intervals of quantities of a model, from copies fitted without a part of the data."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.learner import Learner

Values = NDArray[np.float64]

LEVEL = 0.95


@dataclass(frozen=True)
class Measured:
    """Values of the model with their standard errors and a 95 % interval; NaN without copies."""

    values: Values
    errors: Values
    margins: Values  # half the width of the intervals

    def at(self, place: int) -> Measured:
        """Return a part of the values."""
        return Measured(self.values[place], self.errors[place], self.margins[place])

    @property
    def low(self) -> Values:
        """The lower ends of the intervals."""
        return np.asarray(self.values - self.margins)

    @property
    def high(self) -> Values:
        """The upper ends of the intervals."""
        return np.asarray(self.values + self.margins)

    @property
    def clear(self) -> NDArray[np.bool_]:
        """Whether the interval leaves out zero."""
        return np.asarray(np.abs(self.values) > self.margins)


def measured(
    model: Learner, copies: Sequence[Sequence[Learner]], quantity: Callable[[Learner], Values]
) -> Measured:
    """Return a quantity of the model with its uncertainty: of other data, and of other starts."""
    return jackknife(quantity(model), [[quantity(one) for one in row] for row in copies])


def jackknife(values: Values, of_copies: Sequence[Sequence[Values]]) -> Measured:
    """Return values with the errors that the values of copies show.

    A row of copies has seen all but one of K parts of the data; the copies in a row differ in the
    start of their training. The variance of the data is (K − 1)²/K times that between the means of
    rows, less what starts add to it; the variance of the start is that within rows. The interval
    is Student's with K − 1 degrees of freedom. With one copy in a row, this is the jackknife.

    >>> rows = [[np.array([1.9])], [np.array([2.0])], [np.array([2.1])]]
    >>> one = jackknife(np.array([2.0]), rows)
    >>> one.errors.round(4).tolist(), one.low.round(3).tolist()
    ([0.1155], [1.503])
    """
    from scipy.stats import t

    n = len(of_copies)
    if n < 2:
        nothing = np.full(np.shape(values), math.nan)
        return Measured(values, nothing, nothing)
    copies = np.stack([np.stack(row) for row in of_copies])  # (parts, starts, …)
    starts = copies.shape[1]
    within = copies.var(axis=1, ddof=1).mean(axis=0) if starts > 1 else np.zeros(np.shape(values))
    between = copies.mean(axis=1).var(axis=0, ddof=1)
    of_data = (n - 1) ** 2 / n * np.maximum(between - within / starts, 0)
    errors = np.sqrt(of_data + within)
    return Measured(values, errors, errors * float(t.isf((1 - LEVEL) / 2, n - 1)))


def over_folds(of_folds: Sequence[Values]) -> Measured:
    """Return the mean of values of tasks held out, with the errors of the corrected t-test.

    Folds share training tasks: the variance is multiplied by 1/K + test/train (Nadeau and Bengio).
    """
    from scipy.stats import t

    n, values = len(of_folds), np.stack(of_folds)
    errors = values.std(axis=0, ddof=1) * math.sqrt(1 / n + 1 / (n - 1))
    return Measured(values.mean(axis=0), errors, errors * float(t.isf((1 - LEVEL) / 2, n - 1)))
