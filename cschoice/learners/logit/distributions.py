"""Distributions of random coefficients, as functions of standard draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cschoice.learners.logit.layout import Values

Uniform = NDArray[np.float64]  # between zero and one


@dataclass(frozen=True)
class Distribution:
    """A coefficient g(mean + spread · z): the draw z of a uniform number, g and its derivative."""

    draw: Callable[[Uniform], NDArray[np.float64]]
    value: Callable[[Values], Values]
    slope: Callable[[Values, Values], Values]  # of the argument and the value
    bend: Callable[[Values], Values] = lambda value: 0.0 * value  # the second derivative of g
    normal: bool = True  # z is normal, so that it can be correlated with others
    sign: float = 0.0  # of all values; 0: both


def _same(values: Values) -> Values:
    return values


def _one(values: Values, _: Values) -> Values:
    return np.ones_like(values)


def _positive(values: Values) -> Values:
    return np.where(values.real > 0, values, 0.0)


def _negative(values: Values) -> Values:
    return np.where(values.real < 0, values, 0.0)


def _triangular(uniform: Uniform) -> NDArray[np.float64]:
    """Return draws between −1 and 1 with the density of a tent."""
    low = np.sqrt(2 * uniform) - 1
    high = 1 - np.sqrt(2 * (1 - uniform))
    return np.where(uniform < 0.5, low, high)


DISTRIBUTIONS: Mapping[str, Distribution] = {
    "normal": Distribution(ndtri, _same, _one),
    "lognormal": Distribution(ndtri, np.exp, lambda _, value: value, _same, sign=1.0),
    "negative-lognormal": Distribution(
        ndtri, lambda x: -np.exp(x), lambda _, value: value, _same, sign=-1.0
    ),
    "censored": Distribution(ndtri, _positive, lambda x, _: (x.real > 0) + 0.0, sign=1.0),
    "negative-censored": Distribution(ndtri, _negative, lambda x, _: (x.real < 0) + 0.0, sign=-1.0),
    "triangular": Distribution(_triangular, _same, _one, normal=False),
    "uniform": Distribution(lambda u: 2 * u - 1, _same, _one, normal=False),
}
