"""Estimates of one model: values with names, their uncertainty of every kind, and the fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.estimates.covariance import sandwich, summed
from cschoice.estimates.expressions import Expression
from cschoice.estimates.kinds import BOOTSTRAP, CLASSICAL, ROBUST, check_kind
from cschoice.estimates.optimum import Optimum, climb
from cschoice.estimates.samples import Sample
from cschoice.estimates.specification import Specification
from cschoice.learners.logit.inference import Mask, Matrix, inverted
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.optimization import Bounds, Vector
from cschoice.registry import unknown_name
from cschoice.tasks import ChoiceTasks

FIXED, AT_BOUND, UNIDENTIFIED = "fixed", "at its bound", "not identified"
RUNS_AWAY = "runs to infinity"
_LARGE = 15.0  # a coefficient times the size of its feature: odds of a million
_STEP = 1e-20  # of complex derivatives
Progress = Callable[[int, int], None]  # replications done, and of how many


@dataclass(frozen=True)
class Coefficient:
    """One row of a table of estimates."""

    name: str
    value: float
    error: float  # NaN without a standard error
    z: float
    p: float
    low: float
    high: float
    remark: str = ""  # why there is no standard error


@dataclass(frozen=True)
class Fit:
    """How well a model fits."""

    log_likelihood: float
    null: float  # log-likelihood of equal shares
    constants: float | None  # of constants alone, where alternatives are known
    n_parameters: int
    n_tasks: int
    n_people: int | None

    @property
    def rho2(self) -> float:
        """Return McFadden's ρ²."""
        return 1 - self.log_likelihood / self.null if self.null else math.nan

    @property
    def adjusted_rho2(self) -> float:
        """Return ρ² with a penalty of one log-likelihood unit per parameter."""
        if not self.null:
            return math.nan
        return 1 - (self.log_likelihood - self.n_parameters) / self.null

    @property
    def aic(self) -> float:
        """Return Akaike's information criterion."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Return the Bayesian information criterion; the sample size is the number of tasks."""
        return math.log(self.n_tasks) * self.n_parameters - 2 * self.log_likelihood


@dataclass(frozen=True, eq=False)
class Estimates:
    """A fitted model with everything that a table of estimates is made of.

    Kinds of standard errors are chosen afterwards: ``classical`` (inverse Hessian), ``robust``
    (sandwich), ``clustered`` (by person, or by the clusters given), ``bootstrap``.
    """

    model: str
    names: tuple[str, ...]
    learner: LogitLearner
    tasks: ChoiceTasks  # as the model sees them
    sample: Sample  # the same tasks, with all features that are known
    optimum: Optimum
    bounds: Bounds
    fit: Fit
    specification: Specification
    terms: tuple[str, ...]  # of the utility
    clusters: NDArray[np.int64] | None = None  # of each task; the person unless said otherwise
    notes: tuple[str, ...] = ()
    seed: int = 0
    bootstraps: dict[int, Matrix] = field(default_factory=dict)

    @property
    def values(self) -> Vector:
        """Return the estimates."""
        return self.optimum.parameters

    @property
    def n_coefficients(self) -> int:
        """Return the number of coefficients of features, which come first."""
        n_values = len(self.learner._split(self.values)["coefficients_"].ravel())
        return sum(1 for place in self.shown if place < n_values)

    @cached_property
    def shown(self) -> list[int]:
        """Return the places of the parameters that mean something: a network's do not."""
        return np.flatnonzero(~self.learner.nuisance()).tolist()

    @cached_property
    def _data(self) -> Any:
        return self.learner._data(self.tasks)

    @cached_property
    def scores(self) -> Matrix:
        """Return the gradient of the log-likelihood of each independent observation."""
        return self.learner._scores(self._data, self.values)

    @property
    def hessian(self) -> Matrix:
        """Return the exact Hessian of the log-likelihood."""
        return -self.optimum.hessian

    @cached_property
    def _inverse(self) -> tuple[Matrix, Mask]:
        return inverted(
            self.learner.levelled(self.optimum.hessian, self.values),
            self.learner.penalty(self._data),
            self.learner.sizes(self._data),
            ~self.optimum.free,
        )

    @property
    def remarks(self) -> list[str]:
        """Return why each parameter has no standard error; an empty text if it has one."""
        low, high = self.bounds
        known = self._inverse[1]
        sizes = self.learner.sizes(self._data) / len(self.tasks)
        large = np.abs(self.values) * np.sqrt(sizes) > _LARGE
        return [
            FIXED
            if low[k] == high[k]
            else AT_BOUND
            if not self.optimum.free[k]
            else ""
            if known[k]
            else RUNS_AWAY
            if large[k]
            else UNIDENTIFIED
            for k in range(len(self.names))
        ]

    @property
    def rank(self) -> int:
        """Return the number of free directions in which the likelihood is curved."""
        curvature = self.optimum.hessian + np.diag(self.learner.penalty(self._data))
        return round(float(np.sum(self._inverse[0] * curvature)))  # the trace of a projection

    def covariance(self, kind: str = CLASSICAL) -> Matrix:
        """Return the covariance matrix of the estimates; NaN where there is none."""
        check_kind(kind)
        inverse, known = self._inverse
        if kind == CLASSICAL:
            classical = inverse.copy()
            classical[~known], classical[:, ~known] = np.nan, np.nan
            return classical
        if kind == BOOTSTRAP:
            return self.bootstrap()
        if kind == ROBUST:
            return sandwich(inverse, known, self.scores)
        return sandwich(inverse, known, summed(self.scores, self._clusters_of_scores()))

    def influence(self) -> Matrix:
        """Return how far each task moves the estimates, (n_tasks, n_parameters)."""
        if self.learner.units(self.tasks) is not None:
            raise InvalidParameter(f"tasks of a person are not independent in {self.model}")
        return self.scores @ self._inverse[0]

    def known_clusters(self) -> NDArray[np.int64]:
        """Return the cluster of each task; refuse if nobody said which."""
        if self.clusters is None:
            raise InvalidParameter(
                "clustered standard errors need to know who chose: import with --group, or name "
                "a column with --cluster"
            )
        return self.clusters

    def _clusters_of_scores(self) -> NDArray[np.int64]:
        """Return the cluster of each independent observation: a task, or a person."""
        of_tasks, units = self.known_clusters(), self.learner.units(self.tasks)
        if units is None:
            return of_tasks
        _, first = np.unique(units, return_index=True)
        clusters = of_tasks[first]
        if not np.array_equal(clusters[units], of_tasks):
            raise InvalidParameter("a cluster must hold all tasks of a person")
        return clusters

    def bootstrap(self, replications: int = 200, progress: Progress | None = None) -> Matrix:
        """Return the covariance of estimates from tasks, or clusters, drawn with replacement."""
        if replications in self.bootstraps:
            return self.bootstraps[replications]
        known = self._inverse[1]
        rng = np.random.default_rng(self.seed)
        found = []
        for number in range(replications):
            found.append(self._replicate(rng))
            if progress is not None:
                progress(number + 1, replications)
        matrix = np.cov(np.array(found), rowvar=False).reshape(len(known), len(known))
        matrix[~known], matrix[:, ~known] = np.nan, np.nan
        self.bootstraps[replications] = matrix
        return matrix

    def _replicate(self, rng: np.random.Generator) -> Vector:
        """Return the estimates of one sample drawn with replacement from this one."""
        if self.clusters is None:
            drawn = rng.integers(0, len(self.tasks), len(self.tasks))
            groups = None
        else:
            _, codes = np.unique(self.clusters, return_inverse=True)
            order = np.argsort(codes, kind="stable")
            ends = np.cumsum(np.bincount(codes))
            chosen = rng.integers(0, len(ends), len(ends))
            members = np.split(order, ends[:-1])
            drawn = np.concatenate([members[k] for k in chosen])
            # Someone drawn twice is two people.
            groups = np.repeat(np.arange(len(chosen)), [len(members[k]) for k in chosen])
        part = self.tasks[drawn]
        if groups is not None and self.tasks.groups is not None:
            part = replace(part, groups=groups)
        return self.refitted(part).parameters

    def refitted(self, tasks: ChoiceTasks) -> Optimum:
        """Return the optimum on other tasks of the same form, found from these estimates."""
        data = self.learner._data(tasks)
        return climb(self.learner, data, self.values, self.bounds, self.learner.penalty(data))

    def coefficients(self, kind: str = CLASSICAL, level: float = 0.95) -> list[Coefficient]:
        """Return the rows of the table of estimates."""
        errors, remarks = self.standard_errors(kind), self.remarks
        return [
            row_of(self.names[k], float(self.values[k]), float(errors[k]), level, remarks[k])
            for k in self.shown
        ]

    def standard_errors(self, kind: str = CLASSICAL) -> Vector:
        """Return the standard errors of the estimates; NaN where there is none."""
        variances = np.diag(self.covariance(kind))
        errors: Vector = np.sqrt(np.where(variances >= 0, variances, np.nan))
        return errors

    def derived(self, formula: str, kind: str = CLASSICAL, level: float = 0.95) -> Coefficient:
        """Return a function of the estimates with its delta-method standard error."""
        value, gradient = self.linearized(formula)
        matrix = self.covariance(kind)
        used = gradient != 0
        variance = gradient[used] @ matrix[np.ix_(used, used)] @ gradient[used]
        return row_of(formula, value, float(np.sqrt(variance)), level)

    def linearized(self, formula: str) -> tuple[float, Vector]:
        """Return the value of a formula of the estimates, and its gradient."""
        expression = Expression.parse(formula, self.names)
        at = dict(zip(self.names, self.values.tolist(), strict=True))
        gradient = np.zeros(len(self.names))
        for name in expression.names:
            moved = expression.value({**at, name: complex(at[name], _STEP)})
            gradient[self.names.index(name)] = np.imag(moved) / _STEP
        return float(np.real(expression.value(at))), gradient

    def place(self, name: str) -> int:
        """Return the place of a parameter; refuse a name that is none."""
        if name not in self.names:
            raise InvalidParameter(unknown_name("coefficient", name, self.names))
        return self.names.index(name)


def row_of(name: str, value: float, error: float, level: float, remark: str = "") -> Coefficient:
    """Return an estimate with z, p and interval."""
    from scipy.special import ndtr, ndtri

    if not 0 < level < 1:
        raise InvalidParameter(f"the level of intervals must lie between 0 and 1, got {level:g}")
    if not error > 0:
        return Coefficient(name, value, math.nan, math.nan, math.nan, math.nan, math.nan, remark)
    z, reach = value / error, float(ndtri((1 + level) / 2)) * error
    p = float(2 * ndtr(-abs(z)))
    return Coefficient(name, value, error, z, p, value - reach, value + reach, remark)
