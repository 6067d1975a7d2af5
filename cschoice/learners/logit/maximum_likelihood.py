"""Penalized maximum likelihood: the base class of the logit family.

A learner of the family defines the names and shapes of its parameters, the negative
log-likelihood and its gradient. The penalty, standard errors and saving are here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, TrainingDiverged
from cschoice.learners.learner import Arrays, Learner
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.optimization import Objective, Vector, complex_hessian
from cschoice.tasks import ChoiceTasks

_SCALARS = ("log_likelihood_", "seed_")  # saved as arrays, restored as numbers


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
        """Return True: the model is fitted by its likelihood."""
        return True

    @abstractmethod
    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        """Return the names and shapes of the estimated attributes, in order."""

    @abstractmethod
    def _loss(self, data: Any, parameters: Values) -> tuple[Any, Values]:
        """Return the negative log-likelihood and its gradient, also at complex parameters."""

    @abstractmethod
    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> Any:
        """Return the tasks in the form that ``_loss`` takes; to predict, choices are ignored."""

    @abstractmethod
    def _penalty_weights(self, layout: TaskLayout) -> Vector:
        """Return the weight of each squared parameter in the penalty, for an ``l2`` of one."""

    def standard_errors(self, tasks: ChoiceTasks) -> dict[str, Vector]:
        """Return the standard errors of each estimated attribute, given the tasks of the fit.

        They are the square roots of the diagonal of the inverse Hessian of the penalized loss.
        A parameter that the tasks do not identify has the standard error NaN.
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
        """Return the loss plus the penalty, with its gradient, as a function of parameters."""

        def objective(parameters: Vector) -> tuple[float, Vector]:
            loss, gradient = self._loss(data, parameters)
            pull = weights * parameters
            return float(loss + 0.5 * (pull @ parameters)), gradient + pull

        return objective

    def _parameters(self) -> Vector:
        """Return the estimated attributes as one vector."""
        return np.concatenate([np.ravel(getattr(self, name)) for name in self._shapes()])

    def _split(self, parameters: Values) -> dict[str, Values]:
        """Return the estimated attributes by name, cut from one vector."""
        shapes = self._shapes()
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
        parts = np.split(parameters, ends[:-1])
        return {
            name: part.reshape(shape)
            for part, (name, shape) in zip(parts, shapes.items(), strict=True)
        }

    def _take(self, parameters: Vector, log_likelihood: float) -> None:
        """Store the estimates; refuse those that are not finite."""
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


def _standard_errors(hessian: NDArray[np.float64]) -> Vector:
    size = np.abs(hessian).max(axis=1)
    known = size > 1e-12 * size.max()
    errors = np.full(len(hessian), np.nan)
    variances = np.diag(np.linalg.pinv(hessian[np.ix_(known, known)], hermitian=True))
    errors[known] = np.sqrt(np.where(variances > 0, variances, np.nan))
    return errors
