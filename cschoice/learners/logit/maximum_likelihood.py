"""Penalized maximum likelihood: the base class of the logit family.

A learner of the family defines the names and shapes of its parameters, the negative
log-likelihood and its gradient. The penalty, standard errors and saving are here.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidFile, TrainingDiverged
from cschoice.learners.learner import Arrays, Learner
from cschoice.learners.logit.inference import IdentificationWarning, Mask, Matrix, covariance
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.optimization import Bounds, Objective, Vector, complex_hessian
from cschoice.tasks import ChoiceTasks

_SCALARS = ("log_likelihood_", "seed_")  # saved as arrays, restored as numbers
_AT_BOUND = 1e-9  # a distance that is rounding


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
    def _scores(self, data: Any, parameters: Vector) -> Vector:
        """Return the gradient of each task's log-likelihood, (n_tasks, n_parameters)."""

    def _hessian(self, data: Any, parameters: Vector) -> Matrix:
        """Return the exact Hessian of the negative log-likelihood."""
        return complex_hessian(lambda at: self._loss(data, at)[1], parameters)

    def levelled(self, hessian: Matrix, parameters: Vector) -> Matrix:  # noqa: ARG002
        """Return the Hessian at an optimum, with directions exactly flat that are so by design.

        An optimum is found to a few digits only, which would look like curvature.
        """
        return hessian

    @abstractmethod
    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> Any:
        """Return the tasks in the form that ``_loss`` takes; to predict, choices are ignored."""

    @abstractmethod
    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        """Return one value per parameter: that of its feature, or ``other`` if it has none."""

    @abstractmethod
    def _names(self, features: Sequence[str]) -> list[str]:
        """Return the names of all parameters, in the order of their vector."""

    def _bounds(self) -> Bounds:
        """Return the lower and upper bounds of all parameters."""
        infinite = np.full(len(self._parameters()), np.inf)
        return -infinite, infinite

    @property
    def at_bound(self) -> dict[str, Mask]:
        """Return for each estimated attribute which of its values lie at a bound."""
        low, high = self._bounds()
        parameters = self._parameters()
        return self._split((parameters <= low + _AT_BOUND) | (parameters >= high - _AT_BOUND))

    def parameter_names(self, features: Sequence[str] = ()) -> list[str]:
        """Return the names of all parameters, given those of the features (x0, x1, … if not)."""
        return self._names(features or [f"x{number}" for number in range(self.n_features_in_)])

    def standard_errors(
        self, tasks: ChoiceTasks, features: Sequence[str] = ()
    ) -> dict[str, Vector]:
        """Return the standard errors of each estimated attribute, given the tasks of the fit.

        They are the square roots of the diagonal of the inverse Hessian of the penalized loss.
        Parameters that the tasks do not identify, or that lie at a bound, have the standard error
        NaN; a warning names them, with the names of the features where those are given.
        """
        data, parameters = self._data(tasks), self._parameters()
        hessian = self.levelled(self._hessian(data, parameters), parameters)
        fixed = np.concatenate([np.ravel(mask) for mask in self.at_bound.values()])
        variances = np.diag(covariance(hessian, self.penalty(data), self.sizes(data), fixed))
        names = self.parameter_names(features)
        self._warn(names, parameters, fixed, np.isnan(variances))
        errors = np.sqrt(np.where(variances >= 0, variances, np.nan))
        return self._split(errors)

    def _warn(self, names: list[str], values: Vector, fixed: Mask, unknown: Mask) -> None:
        """Warn of parameters without a standard error."""
        problems = []
        if lost := [name for name, no in zip(names, unknown & ~fixed, strict=True) if no]:
            problems.append(
                f"not identified by these tasks: {', '.join(lost)} (leave out a column that is "
                "constant within tasks or a sum of others, as one constant per alternative)"
            )
        at = [f"{names[i]} = {values[i]:.4g}" for i in np.flatnonzero(fixed)]
        problems += [f"at its bound: {', '.join(at)}"] if at else []
        if problems:
            text = f"{self.name}: {'; '.join(problems)}; no standard errors for these"
            warnings.warn(text, IdentificationWarning, stacklevel=3)

    def _penalty_weights(self, layout: TaskLayout) -> Vector:
        """Return the weight of each squared parameter in the penalty, for an ``l2`` of one."""
        return self._per_parameter(layout.moments()[1] ** 2, 0.0)

    def penalty(self, data: Any) -> Vector:
        """Return the weight of half of each squared parameter in the penalized loss."""
        layout = _layout(data)
        return self.l2 * layout.n_tasks * self._penalty_weights(layout)

    def sizes(self, data: Any) -> Vector:
        """Return the curvature that each parameter would have if its feature varied freely."""
        layout = _layout(data)
        mean, deviation = layout.moments()
        return layout.n_tasks * self._per_parameter(mean**2 + deviation**2, 1.0)

    def units(self, tasks: ChoiceTasks) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return the number of each task's independent unit; None if each task is one."""
        return None

    def nuisance(self) -> Mask:
        """Return which parameters have no meaning of their own, such as weights of a network."""
        return np.zeros(len(self._parameters()), dtype=bool)

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
            if not name.endswith("_"):
                raise InvalidFile(f"{self.name} has no array '{name}'")
            setattr(self, name, value.item() if name in _SCALARS else value)


def _layout(data: Any) -> TaskLayout:
    """Return the layout behind any form of the data."""
    layout: TaskLayout = data if isinstance(data, TaskLayout) else data.layout
    return layout
