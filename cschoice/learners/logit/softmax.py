"""Softmax, log-sum-exp, softplus and its slope that neither overflow nor lose the imaginary part.

SciPy's own do not take complex values, which derivatives by complex steps need.
"""

from __future__ import annotations

import numpy as np

from cschoice.learners.logit.layout import Values


def log_softmax(values: Values, axis: int = 0) -> Values:
    """Return the logarithm of the softmax along an axis."""
    shifted: Values = values - values.real.max(axis=axis, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return shifted


def log_sum(values: Values, axis: int) -> Values:
    """Return the logarithm of the sum of exponentials along an axis."""
    top: Values = values.real.max(axis=axis)
    sums: Values = np.exp(values - np.expand_dims(top, axis)).sum(axis=axis)
    return np.log(sums) + top


def softplus(values: Values) -> Values:
    """Return log(1 + exp(values))."""
    positive = values.real > 0
    return np.where(positive, values, 0.0) + np.log1p(np.exp(np.where(positive, -values, values)))


def logistic(values: Values) -> Values:
    """Return 1 / (1 + exp(−values)), the slope of softplus."""
    slope: Values = np.exp(-softplus(-values))
    return slope
