"""Minimizers in double precision, and exact Hessians from analytic gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimize

from cschoice.learners.logit.layout import Values

Vector = NDArray[np.float64]
Bounds = tuple[Vector, Vector]  # infinite where there is none
Objective = Callable[[Vector], tuple[float, Vector]]

_SMALL_STEP = 1e-30  # of the complex step: no difference is formed, so it can be this small


def newton(
    objective: Callable[[Vector], tuple[float, Vector, NDArray[np.float64]]],
    start: Vector,
    *,
    decrement: float = 1e-10,
    max_steps: int = 100,
) -> Vector:
    """Return the minimum of a convex function by Newton's method with step halving.

    The search ends when a step would lower the value by less than ``decrement``. Directions
    without curvature are not searched.
    """
    point = start
    value, gradient, hessian = objective(point)
    for _ in range(max_steps):
        step = -_solve(hessian, gradient)
        promise = -float(gradient @ step)
        if promise < decrement:
            return point + step
        for _ in range(30):
            trial = objective(point + step)
            # Rounding hides descents below the precision of the value.
            if trial[0] <= value - 1e-4 * promise + 1e-13 * abs(value):
                break
            step, promise = step / 2, promise / 2
        else:
            return point
        point = point + step
        value, gradient, hessian = trial
    return point


def minimize(
    objective: Objective,
    start: Vector,
    information: NDArray[np.float64],
    *,
    bounds: Bounds | None = None,
    tolerance: float = 1e-4,
    accuracy: float = 1e-14,
    max_steps: int = 1000,
) -> Vector:
    """Return the minimum of a smooth function by L-BFGS in scaled coordinates.

    ``information`` approximates the Hessian, or its diagonal if it is a vector. In coordinates
    that turn it into the identity few steps are needed, and a gradient of ``tolerance`` means
    an error of that many standard errors, whatever the data. The search ends when a step
    improves the value by a relative amount below ``accuracy``. The information must be zero
    between a bounded parameter and any other.
    """
    factor = _inverse_root(information)

    def unscaled(inner: Vector) -> Vector:
        return start + (factor * inner if factor.ndim == 1 else factor @ inner)

    def scaled_objective(inner: Vector) -> tuple[float, Vector]:
        value, gradient = objective(unscaled(inner))
        return value, factor * gradient if factor.ndim == 1 else factor.T @ gradient

    low, high = bounds if bounds is not None else (-np.inf, np.inf)
    scale = factor if factor.ndim == 1 else np.diag(factor)
    found = scipy_minimize(
        scaled_objective,
        np.zeros_like(start),
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([(low - start) / scale, (high - start) / scale], axis=1),
        options={
            "maxiter": max_steps, "maxcor": 30, "ftol": accuracy, "gtol": tolerance, "maxls": 40
        },
    )  # fmt: skip
    # At a bound, rounding in the change of coordinates may have crossed it.
    return np.clip(unscaled(np.asarray(found.x)), low, high)


def complex_hessian(gradient: Callable[[Values], Values], at: Vector) -> NDArray[np.float64]:
    """Return the Hessian by complex steps of an analytic gradient: exact to rounding.

    >>> complex_hessian(lambda x: x**3, np.array([1.0, 2.0]))
    array([[ 3.,  0.],
           [ 0., 12.]])
    """
    rows = [gradient(at + 1j * _SMALL_STEP * unit).imag / _SMALL_STEP for unit in np.eye(len(at))]
    hessian = np.array(rows)
    return (hessian + hessian.T) / 2


def _solve(matrix: NDArray[np.float64], vector: Vector) -> Vector:
    """Return the solution of a symmetric system, zero in directions without curvature."""
    scale = np.sqrt(np.diag(matrix))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-12)
    solution: Vector = (vectors @ (inverse * (vectors.T @ (vector / scale)))) / scale
    return solution


def _inverse_root(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F with F F' the inverse of the information, as a vector if F is diagonal."""
    if information.ndim == 1:
        return 1 / np.sqrt(np.where(information > 0, information, 1.0))
    scale = np.sqrt(np.diag(information))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = information / np.outer(scale, scale)
    # A ridge bounds the directions in which the tasks carry no information.
    root = np.linalg.cholesky(correlation + 1e-8 * np.eye(len(scale)))
    factor: NDArray[np.float64] = np.linalg.inv(root).T / scale[:, None]
    return factor
