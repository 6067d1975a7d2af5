"""Tests of hypotheses: Wald, likelihood ratio, Hausman–McFadden, each also robust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.estimates.covariance import summed
from cschoice.estimates.estimates import Estimates
from cschoice.estimates.expressions import hide_names
from cschoice.estimates.kinds import CLASSICAL, CLUSTERED
from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.optimization import Vector
from cschoice.registry import unknown_name


@dataclass(frozen=True)
class Test:
    """The outcome of a test: a statistic that is χ² distributed under the hypothesis."""

    hypothesis: str
    name: str
    statistic: float
    degrees: int
    kind: str = CLASSICAL  # of the covariance behind it

    @property
    def p(self) -> float:
        """Return the probability of a statistic as large, if the hypothesis holds."""
        from scipy.stats import chi2

        return float(chi2.sf(self.statistic, self.degrees))


def wald(estimates: Estimates, hypothesis: str, kind: str = CLASSICAL) -> Test:
    """Test equations between functions of the estimates, such as ``time = cost, freq = 0``."""
    formulas = list(_zeros(hypothesis, estimates.names))
    found = [estimates.linearized(formula) for formula in formulas]
    values = np.array([value for value, _ in found])
    gradients = np.array([gradient for _, gradient in found])
    used = (gradients != 0).any(axis=0)
    variance = (
        gradients[:, used] @ estimates.covariance(kind)[np.ix_(used, used)] @ gradients[:, used].T
    )
    if not np.isfinite(variance).all():
        lost = [
            name
            for name, is_used, remark in zip(estimates.names, used, estimates.remarks, strict=True)
            if is_used and remark
        ]
        raise InvalidParameter(f"'{hypothesis}': no standard error of {', '.join(lost)}")
    if np.linalg.matrix_rank(variance, hermitian=True) < len(values):
        raise InvalidParameter(f"'{hypothesis}': an equation follows from the others")
    return Test(
        f"{estimates.model}: {hypothesis}", "Wald", _square(values, variance), len(values), kind
    )


def _zeros(hypothesis: str, names: Sequence[str]) -> list[str]:
    """Return for each equation a formula that is zero if it holds."""
    hidden, found = hide_names(hypothesis, names)
    formulas = []
    for equation in hidden.split(","):
        left, sign, right = equation.partition("=")
        if not (sign and left.strip() and right.strip()) or "=" in right:
            raise InvalidParameter(
                f"'{hypothesis}' is not an equation: write a hypothesis as 'time = cost'"
            )
        formula = f"{left.strip()} - ({right.strip()})"
        for word, name in found.items():
            formula = formula.replace(word, name)
        formulas.append(formula)
    return formulas


def _square(values: Vector, variance: Matrix) -> float:
    return float(values @ np.linalg.solve(variance, values))


def nested_in(restricted: Estimates, full: Estimates) -> bool:
    """Tell whether all free parameters of one model are parameters of another on the same tasks."""
    return (
        restricted.fit.n_parameters < full.fit.n_parameters
        and restricted.fit.null == full.fit.null
        and set(_free(restricted)) <= set(_free(full))
    )


def likelihood_ratio(restricted: Estimates, full: Estimates, kind: str = CLASSICAL) -> Test:
    """Test a model that is nested in another one.

    Unless classical, the statistic is divided by the mean eigenvalue that it has when the
    likelihood is not the true one (Satorra and Bentler).
    """
    if restricted.fit.null != full.fit.null:
        raise InvalidParameter("models must be estimated on the same tasks")
    degrees = full.fit.n_parameters - restricted.fit.n_parameters
    if degrees <= 0:
        raise InvalidParameter(
            f"{restricted.model} has {restricted.fit.n_parameters} parameters, {full.model} "
            f"{full.fit.n_parameters}: the first must be nested in the second"
        )
    statistic = 2 * (full.fit.log_likelihood - restricted.fit.log_likelihood)
    if kind != CLASSICAL:
        statistic /= _scale(restricted, full, kind)
    return Test(
        f"{restricted.model} against {full.model}",
        "likelihood ratio",
        max(statistic, 0.0),
        degrees,
        kind,
    )


def _scale(restricted: Estimates, full: Estimates, kind: str) -> float:
    """Return how much larger than classical the variance of the restricted parameters is."""
    lost = [full.place(name) for name in _free(full) if name not in set(_free(restricted))]
    if len(lost) != full.fit.n_parameters - restricted.fit.n_parameters:
        raise InvalidParameter(
            "a robust likelihood ratio needs a model whose parameters are some of the other's"
        )
    classical = full.covariance(CLASSICAL)[np.ix_(lost, lost)]
    robust = full.covariance(kind)[np.ix_(lost, lost)]
    return float(np.trace(np.linalg.solve(classical, robust))) / len(lost)


def _free(estimates: Estimates) -> list[str]:
    return [
        name
        for name, remark in zip(estimates.names, estimates.remarks, strict=True)
        if remark in ("", "at its bound")
    ]


def hausman_mcfadden(full: Estimates, left_out: str, kind: str = CLASSICAL) -> Test:
    """Test the independence of irrelevant alternatives by leaving one out.

    The model is estimated again from the tasks in which the alternative was not chosen, without
    it. Under independence both estimate the same. Unless classical, the variance of the
    difference comes from the scores of both, so that it is positive whatever the data.
    """
    rows, part = _without(full, left_out)
    common = [name for name in _free(part) if name in set(_free(full))]
    if not common:
        raise InvalidParameter(f"without '{left_out}' no coefficient can be estimated")
    places = [full.place(name) for name in common]
    difference = (part.values - full.values)[places]
    if kind == CLASSICAL:
        variance = (part.covariance() - full.covariance())[np.ix_(places, places)]
    else:
        moved = -full.influence()[:, places]
        moved[rows] += part.influence()[:, places]
        if kind == CLUSTERED:
            moved = summed(moved, full.known_clusters())
        variance = moved.T @ moved
    values, vectors = np.linalg.eigh(variance)
    positive = values > 1e-10 * np.abs(values).max()
    parts = vectors.T @ difference
    statistic = float((parts[positive] ** 2 / values[positive]).sum())
    hypothesis = f"{full.model}: independence of irrelevant alternatives, without {left_out}"
    return Test(hypothesis, "Hausman–McFadden", statistic, int(positive.sum()), kind)


def _without(full: Estimates, left_out: str) -> tuple[NDArray[np.int64], Estimates]:
    """Return the tasks kept without an alternative, and the estimates from them."""
    sample = full.sample
    if left_out not in sample.alternatives:
        raise InvalidParameter(unknown_name("alternative", left_out, sample.alternatives))
    tasks = full.tasks
    here = sample.column(sample.alternatives[left_out]) != 0
    sizes = tasks.reduce(np.add, (~here).astype(np.int64))
    chosen = tasks.reduce(np.add, (here & tasks.chosen).astype(np.int64))
    rows = np.flatnonzero((chosen == 0) & (sizes > 1))
    if not len(rows):
        raise InvalidParameter(f"without '{left_out}' there is no task with two objects left")
    entries = tasks.entries(rows)
    entries = entries[~here[entries]]
    part = replace(
        tasks,
        items=tasks.items[entries],
        offsets=np.append(0, np.cumsum(sizes[rows])),
        chosen=tasks.chosen[entries],
        groups=None if tasks.groups is None else tasks.groups[rows],
        weights=None if tasks.weights is None else tasks.weights[rows],
    )
    clusters = None if full.clusters is None else full.clusters[rows]
    return rows, replace(full, tasks=part, optimum=full.refitted(part), clusters=clusters)
