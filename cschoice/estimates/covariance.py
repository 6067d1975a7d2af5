"""Covariance matrices from scores, by task, person or cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.inference import Mask, Matrix


def sandwich(inverse: Matrix, known: Mask, scores: Matrix) -> Matrix:
    """Return the covariance that holds whether or not the likelihood is the true one.

    ``scores`` has one row per independent observation: a task, a person, a cluster. There is no
    correction for small samples.
    """
    filled = inverse @ scores.T
    result: Matrix = filled @ filled.T
    result[~known], result[:, ~known] = np.nan, np.nan
    return result


def summed(scores: Matrix, clusters: NDArray[np.int64]) -> Matrix:
    """Return the sums of the rows of each cluster."""
    _, codes = np.unique(clusters, return_inverse=True)
    sums = np.zeros((int(codes.max()) + 1, scores.shape[1]))
    np.add.at(sums, codes, scores)
    return sums
