"""The last digits of an estimate: Newton's method with exact Hessians, fixed values and bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.inference import Mask, Matrix
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.optimization import Bounds, Vector

_DECREMENT = 1e-12  # squared standard errors: an error of a millionth of a standard error
_CONVERGED = 1e-6
_MAX_STEPS = 50
_FLAT = 1e-11  # an eigenvalue of the Hessian scaled to a unit diagonal


@dataclass(frozen=True)
class Optimum:
    """The maximum of a likelihood, and the shape of the likelihood there."""

    parameters: Vector
    log_likelihood: float  # without the penalty
    hessian: Matrix  # of the negative log-likelihood, without the penalty
    free: Mask  # not fixed and not at a bound
    distance: float  # from the exact optimum, in standard errors, as the last step promised

    @property
    def converged(self) -> bool:
        """Tell whether the optimum is exact for all practical purposes."""
        return self.distance**2 < _CONVERGED


def climb(
    learner: LogitLearner, data: Any, start: Vector, bounds: Bounds, penalty: Vector
) -> Optimum:
    """Return the maximum of the penalized likelihood between bounds, from a start near it.

    A parameter whose two bounds are equal is fixed.
    """
    low, high = bounds

    def value(at: Vector) -> tuple[float, Vector]:
        loss, gradient = learner._loss(data, at)
        return float(loss + 0.5 * (penalty * at) @ at), gradient + penalty * at

    at = np.clip(start, low, high)
    loss, gradient = value(at)
    hessian = learner._hessian(data, at)
    promise = np.inf
    for _ in range(_MAX_STEPS):
        free = _free(at, gradient, low, high)
        step = np.zeros_like(at)
        step[free] = -_solve((hessian + np.diag(penalty))[np.ix_(free, free)], gradient[free])
        promise = float(-gradient @ step)
        if promise < _DECREMENT:
            break
        shorter = _search(value, at, step, loss, gradient, bounds)
        if shorter is None:
            break
        at, loss, gradient = shorter
        hessian = learner._hessian(data, at)
    free = _free(at, gradient, low, high)
    log_likelihood = -float(learner._loss(data, at)[0])
    distance = float(np.sqrt(max(promise, 0.0))) if np.isfinite(promise) else np.inf
    return Optimum(at, log_likelihood, hessian, free, distance)


def _search(
    value: Any, at: Vector, step: Vector, loss: float, gradient: Vector, bounds: Bounds
) -> tuple[Vector, float, Vector] | None:
    """Return the first point along a step that lowers the loss, with value and gradient."""
    for _ in range(40):
        trial = np.clip(at + step, *bounds)
        new_loss, new_gradient = value(trial)
        promise = float(gradient @ (at - trial))
        # Rounding hides descents below the precision of the value.
        if np.isfinite(new_loss) and new_loss <= loss - 1e-4 * promise + 1e-13 * abs(loss):
            return trial, new_loss, new_gradient
        step = step / 2
    return None


def _free(at: Vector, gradient: Vector, low: Vector, high: Vector) -> Mask:
    """Return which parameters may move: not fixed, and not pressed against a bound."""
    pressed = ((at <= low) & (gradient >= 0)) | ((at >= high) & (gradient <= 0))
    free: NDArray[np.bool_] = ~pressed & (low < high)
    return free


def _solve(hessian: Matrix, gradient: Vector) -> Vector:
    """Return the Newton step; uphill curvature is turned around, flat directions stay."""
    scale = np.sqrt(np.abs(np.diag(hessian)))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(hessian / np.outer(scale, scale))
    size = np.abs(values)
    inverse = np.divide(1.0, size, out=np.zeros_like(values), where=size > _FLAT)
    step: Vector = vectors @ (inverse * (vectors.T @ (gradient / scale))) / scale
    return step
