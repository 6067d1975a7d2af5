"""Inference from a Hessian: which parameters are identified, and their covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.optimization import Vector

Matrix = NDArray[np.float64]
Mask = NDArray[np.bool_]

_NO_CURVATURE = 1e-12  # relative to the curvature that a parameter's feature could have
_FLAT = 1e-10  # an eigenvalue of the Hessian scaled to a unit diagonal; rounding is below it
_LOADING = 1e-8  # squared, of a parameter on a flat direction


class IdentificationWarning(UserWarning):
    """A parameter without a standard error: not identified by the tasks, or at its bound."""


def identified(hessian: Matrix, sizes: Vector) -> Mask:
    """Return which parameters have a unique estimate, given the Hessian of the loss.

    A parameter is not identified if it moves along a direction in which the loss is flat, as
    the constants of all alternatives do together. ``sizes`` is the curvature that each parameter
    would have if its feature varied freely: it tells a flat direction from a small unit.
    """
    curved = np.diag(hessian) > _NO_CURVATURE * sizes
    values, vectors = _scaled_eigen(hessian[np.ix_(curved, curved)])
    loadings = (vectors[:, values < _FLAT] ** 2).sum(axis=1)
    curved[np.flatnonzero(curved)[loadings > _LOADING]] = False
    return curved


def redundant(hessian: Matrix, sizes: Vector) -> Mask:
    """Return which parameters add nothing to those before them, given a Hessian of the loss.

    Without them the rest are identified, and the likelihood can reach what it could with them.

    >>> redundant(np.array([[1.0, 1, 0], [1, 1, 0], [0, 0, 2]]), np.ones(3))
    array([False,  True, False])
    """
    curved = np.diag(hessian) > _NO_CURVATURE * sizes
    scale = np.sqrt(np.where(curved, np.diag(hessian), 1.0))
    left = hessian / np.outer(scale, scale)
    lost = ~curved
    for k in range(len(left)):
        lost[k] |= left[k, k] < _FLAT
        if not lost[k]:
            rest = slice(k + 1, None)
            left[rest, rest] -= np.outer(left[rest, k], left[k, rest]) / left[k, k]
    return lost


def covariance(hessian: Matrix, penalty: Vector, sizes: Vector, fixed: Mask) -> Matrix:
    """Return the inverse Hessian of loss and penalty; NaN for parameters without an estimate.

    Those are the ``fixed`` parameters and the ones that are not identified, whatever the penalty.
    """
    inverse, known = inverted(hessian, penalty, sizes, fixed)
    inverse[~known], inverse[:, ~known] = np.nan, np.nan
    return inverse


def inverted(hessian: Matrix, penalty: Vector, sizes: Vector, fixed: Mask) -> tuple[Matrix, Mask]:
    """Return a generalized inverse Hessian of loss and penalty, and which parameters are known.

    Flat directions stay where they are: identified parameters do not depend on them.
    """
    free = ~fixed
    inner = hessian[np.ix_(free, free)]
    known = free.copy()
    known[free] = identified(inner, sizes[free])
    free &= np.diag(hessian) > _NO_CURVATURE * sizes
    inner = hessian[np.ix_(free, free)]
    values, vectors = _scaled_eigen(inner)
    scale = np.sqrt(np.diag(inner))
    basis = vectors[:, values >= _FLAT] / scale[:, None]
    curvature = basis.T @ (inner + np.diag(penalty[free])) @ basis
    inverse = np.zeros_like(hessian)
    inverse[np.ix_(free, free)] = basis @ np.linalg.inv(curvature) @ basis.T
    return inverse, known


def _scaled_eigen(hessian: Matrix) -> tuple[Vector, Matrix]:
    """Return eigenvalues and eigenvectors of a Hessian scaled to a unit diagonal."""
    scale = np.sqrt(np.diag(hessian))
    values, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    return values, vectors
