"""Intervals from the covariance of estimates: the delta method, and draws of Krinsky and Robb."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.models import Model
from cschoice.effects.uncertainty import (
    DELTA,
    KRINSKY_ROBB,
    Floats,
    OfModels,
    Progress,
    Quantity,
    Ranges,
    symmetric,
)
from cschoice.errors import InvalidParameter
from cschoice.estimates.estimates import Estimates

_STEP = 1e-3  # standard errors by which a parameter is moved


@dataclass(frozen=True, eq=False)
class DeltaMethod(OfModels):
    """The quantity as a linear function of the estimates near where they are."""

    model: Model
    kind: str = "robust"  # of standard errors
    level: float = 0.95
    name: str = DELTA

    @property
    def n_models(self) -> int:
        """Return the number of moved parameters, twice."""
        return 2 * len(self._free)

    @property
    def _free(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.diag(_covariance(self.model, self.kind)) > 0)

    def models(self) -> Iterator[Model]:
        """Yield the model, and for each parameter the models with more and with less of it."""
        yield self.model
        estimates = _estimates(self.model)
        errors = np.sqrt(np.diag(_covariance(self.model, self.kind)))
        for k in self._free:
            for sign in (1, -1):
                moved = estimates.values.copy()
                moved[k] += sign * _STEP * errors[k]
                yield self.model.with_parameters(moved)

    def ranges(self, quantity: Quantity, progress: Progress | None = None) -> Ranges:
        """Return intervals from the gradient by the parameters and their covariance."""
        values, others = self.asked(quantity, progress)
        free = self._free
        joint = _covariance(self.model, self.kind)[np.ix_(free, free)]
        errors = np.sqrt(np.diag(joint))
        slopes = (others[::2] - others[1::2]) / (2 * _STEP)  # per standard error
        scaled = joint / np.outer(errors, errors)
        flat = slopes.reshape(len(free), -1)
        variance = np.einsum("ik,ij,jk->k", flat, scaled, flat).reshape(values.shape)
        return symmetric(values, np.sqrt(np.maximum(variance, 0)), self.level)


@dataclass(frozen=True, eq=False)
class KrinskyRobb(OfModels):
    """The quantity of estimates drawn from their estimated distribution."""

    model: Model
    kind: str = "robust"
    level: float = 0.95
    draws: int = 500
    seed: int = 0
    name: str = KRINSKY_ROBB

    @property
    def n_models(self) -> int:
        """Return the number of draws."""
        return self.draws

    def models(self) -> Iterator[Model]:
        """Yield the model, and models with parameters drawn."""
        yield self.model
        estimates, covariance = _estimates(self.model), _covariance(self.model, self.kind)
        free = np.flatnonzero(np.diag(covariance) > 0)
        rng = np.random.default_rng(self.seed)
        joint = covariance[np.ix_(free, free)]
        low, high = (bound[free] for bound in estimates.bounds)
        for drawn in rng.multivariate_normal(estimates.values[free], joint, size=self.draws):
            parameters = estimates.values.copy()
            parameters[free] = np.clip(drawn, low, high)
            yield self.model.with_parameters(parameters)

    def ranges(self, quantity: Quantity, progress: Progress | None = None) -> Ranges:
        """Return the interval between quantiles of the draws."""
        values, others = self.asked(quantity, progress)
        tails = [50 * (1 - self.level), 50 * (1 + self.level)]
        low, high = np.nanpercentile(others, tails, axis=0)
        return Ranges(values, others.std(axis=0, ddof=1), low, high)


def _estimates(model: Model) -> Estimates:
    if model.estimates is None:
        raise InvalidParameter(
            f"intervals of '{model.name}' come from folds or bootstrap: only estimates have "
            "standard errors"
        )
    return model.estimates


def _covariance(model: Model, kind: str) -> Floats:
    covariance: Floats = _estimates(model).covariance(kind)
    return np.nan_to_num(covariance)
