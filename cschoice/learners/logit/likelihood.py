"""Penalized maximum likelihood: what the learners of the logit family share.

A learner of the family says which parameters it has and what the negative log-likelihood and its
gradient are. The optimizers, the penalty, the exact Hessian behind standard errors and saving are
here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimize

from cschoice.errors import InvalidParameter, TrainingDiverged
from cschoice.learners.learner import Arrays, Learner
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.tasks import ChoiceTasks

Vector = NDArray[np.float64]
Bounds = tuple[Vector, Vector]  # infinite where there is none
Objective = Callable[[Vector], tuple[float, Vector]]

_SCALARS = ("log_likelihood_", "seed_")  # saved as arrays, restored as numbers
_SMALL_STEP = 1e-30  # of the complex step: no difference is formed, so it can be this small


class LogitLearner(Learner):
    """A choice model that is fitted by penalized maximum likelihood.

    ``l2`` weighs half the sum of squared coefficients of standardized features against the mean
    log-likelihood of a task: the same number means the same strength for any number of tasks and
    any unit of measurement. Constants and dissimilarities are not penalized.
    """

    l2: float
    log_likelihood_: float

    @property
    def probabilistic(self) -> bool:
        """Say yes: it is fitted by its likelihood."""
        return True

    @abstractmethod
    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return name and shape of the attributes that are estimated, in order."""

    @abstractmethod
    def _loss(self, data: Any, parameters: Values) -> tuple[Any, Values]:
        """Return the negative log-likelihood and its gradient; complex parameters are allowed."""

    @abstractmethod
    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> Any:
        """Return the tasks in the form that ``_loss`` takes; without choices if not learning."""

    @abstractmethod
    def _penalty_weights(self, layout: TaskLayout) -> Vector:
        """Return the weight of each parameter's square in the penalty, for ``l2`` of one."""

    def standard_errors(self, tasks: ChoiceTasks) -> dict[str, Vector]:
        """Return the standard errors of each estimated attribute, given the tasks of the fit.

        They are the square roots of the diagonal of the inverse Hessian of what was minimized.
        What the tasks do not identify (the dissimilarity of a nest of one object) is NaN.
        """
        data, parameters = self._data(tasks), self._parameters()
        layout = data if isinstance(data, TaskLayout) else data.layout
        weights = self._checked_l2() * layout.n_tasks * self._penalty_weights(layout)
        hessian = complex_hessian(lambda at: self._loss(data, at)[1], parameters)
        return self._split(_standard_errors(hessian + np.diag(weights)))

    def _checked_l2(self) -> float:
        if not (np.isfinite(self.l2) and self.l2 >= 0):
            raise InvalidParameter(f"l2 must be 0 or larger, got {self.l2}")
        return float(self.l2)

    def _penalized(self, data: Any, weights: Vector) -> Objective:
        """Return the objective: the loss plus half the weighted squares."""

        def objective(parameters: Vector) -> tuple[float, Vector]:
            loss, gradient = self._loss(data, parameters)
            pull = weights * parameters
            return float(loss + 0.5 * (pull @ parameters)), gradient + pull

        return objective

    def _parameters(self) -> Vector:
        """Return the estimated attributes as one vector."""
        return np.concatenate([np.ravel(getattr(self, name)) for name in self._shapes()])

    def _split(self, parameters: Values) -> dict[str, Values]:
        """Cut one vector into the estimated attributes."""
        shapes = self._shapes()
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
        parts = np.split(parameters, ends[:-1])
        return {
            name: part.reshape(shape)
            for part, (name, shape) in zip(parts, shapes.items(), strict=True)
        }

    def _take(self, parameters: Vector, log_likelihood: float) -> None:
        if not (np.isfinite(log_likelihood) and np.isfinite(parameters).all()):
            raise TrainingDiverged(f"the likelihood of {self.name} is not finite: check features")
        for name, value in self._split(parameters).items():
            setattr(self, name, value)
        self.log_likelihood_ = log_likelihood

    def _state(self) -> Arrays:
        arrays = {name: getattr(self, name) for name in self._shapes()}
        return {**arrays, "log_likelihood_": np.array(self.log_likelihood_)}

    def _set_state(self, arrays: Arrays) -> None:
        for name, value in arrays.items():
            setattr(self, name, value.item() if name in _SCALARS else value)


def newton(
    objective: Callable[[Vector], tuple[float, Vector, NDArray[np.float64]]],
    start: Vector,
    *,
    decrement: float = 1e-10,
    max_steps: int = 100,
) -> Vector:
    """Minimize a convex function by Newton's method, halving steps that do not descend.

    It stops when the step promises less than ``decrement``, which is the error that remains.
    Directions without curvature are left alone.
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
    """Minimize a smooth function by L-BFGS in coordinates where it is round.

    ``information`` approximates the Hessian: its diagonal where it is a vector. In coordinates
    that make it the identity few steps are needed, and a gradient of ``tolerance`` means an
    error of so many standard errors, whatever the data. A step that improves the value by less
    than ``accuracy``, relatively, is the last one. Bounded parameters must not be mixed with
    others by the information.
    """
    factor = _inverse_root(information)

    def outer(inner: Vector) -> Vector:
        return start + (factor * inner if factor.ndim == 1 else factor @ inner)

    def rounded(inner: Vector) -> tuple[float, Vector]:
        value, gradient = objective(outer(inner))
        return value, factor * gradient if factor.ndim == 1 else factor.T @ gradient

    low, high = bounds if bounds is not None else (-np.inf, np.inf)
    scale = factor if factor.ndim == 1 else np.diag(factor)
    found = scipy_minimize(
        rounded,
        np.zeros_like(start),
        jac=True,
        method="L-BFGS-B",
        bounds=np.stack([(low - start) / scale, (high - start) / scale], axis=1),
        options={
            "maxiter": max_steps, "maxcor": 30, "ftol": accuracy, "gtol": tolerance, "maxls": 40
        },
    )  # fmt: skip
    # At a bound the change of coordinates may have rounded to the other side.
    return np.clip(outer(np.asarray(found.x)), low, high)


def complex_hessian(gradient: Callable[[Values], Values], at: Vector) -> NDArray[np.float64]:
    """Return the Hessian from an analytic gradient, exact to rounding, by complex steps.

    >>> complex_hessian(lambda x: x**3, np.array([1.0, 2.0]))
    array([[ 3.,  0.],
           [ 0., 12.]])
    """
    rows = [gradient(at + 1j * _SMALL_STEP * unit).imag / _SMALL_STEP for unit in np.eye(len(at))]
    hessian = np.array(rows)
    return (hessian + hessian.T) / 2


def log_softmax(values: Values, axis: int = 0) -> Values:
    """Return the logarithm of the softmax without overflow; complex values are allowed."""
    shifted: Values = values - values.real.max(axis=axis, keepdims=True)
    shifted -= np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
    return shifted


def log_sum(values: Values, axis: int) -> Values:
    """Return the logarithm of the sum of exponentials without overflow."""
    top: Values = values.real.max(axis=axis)
    sums: Values = np.exp(values - np.expand_dims(top, axis)).sum(axis=axis)
    return np.log(sums) + top


def _solve(matrix: NDArray[np.float64], vector: Vector) -> Vector:
    """Solve a symmetric system; components without curvature become zero."""
    scale = np.sqrt(np.diag(matrix))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=values > 1e-12)
    solution: Vector = (vectors @ (inverse * (vectors.T @ (vector / scale)))) / scale
    return solution


def _inverse_root(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return F with F F' the inverse of the information, as a vector if that is diagonal."""
    if information.ndim == 1:
        return 1 / np.sqrt(np.where(information > 0, information, 1.0))
    scale = np.sqrt(np.diag(information))
    scale = np.where(scale > 0, scale, 1.0)
    correlation = information / np.outer(scale, scale)
    # A ridge keeps directions that the tasks say nothing of from becoming huge.
    root = np.linalg.cholesky(correlation + 1e-8 * np.eye(len(scale)))
    factor: NDArray[np.float64] = np.linalg.inv(root).T / scale[:, None]
    return factor


def _standard_errors(hessian: NDArray[np.float64]) -> Vector:
    size = np.abs(hessian).max(axis=1)
    known = size > 1e-12 * size.max()
    errors = np.full(len(hessian), np.nan)
    variances = np.diag(np.linalg.pinv(hessian[np.ix_(known, known)], hermitian=True))
    errors[known] = np.sqrt(np.where(variances > 0, variances, np.nan))
    return errors
