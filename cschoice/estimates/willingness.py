"""Willingness to pay: the amount of money that makes up for one unit more of a feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.estimates.estimates import Coefficient, Estimates, row_of
from cschoice.estimates.kinds import CLASSICAL
from cschoice.estimates.samples import CONSTANT
from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.panel_mixed_logit import PanelMixedLogit

DELTA, KRINSKY_ROBB = "delta", "krinsky-robb"
_DRAWS = 20_000


@dataclass(frozen=True)
class Willingness:
    """The willingness to pay for each feature, with intervals of both methods."""

    money: str
    rows: tuple[Coefficient, ...]  # z, p and interval by the delta method
    simulated: tuple[tuple[float, float], ...]  # intervals of Krinsky and Robb
    covariance: Matrix  # of the amounts, by the delta method
    kind: str


def willingness_to_pay(
    estimates: Estimates,
    money: str,
    kind: str = CLASSICAL,
    level: float = 0.95,
    draws: int = _DRAWS,
) -> Willingness:
    """Return the willingness to pay for one unit more of each feature: −coefficient / money's.

    The delta method takes the ratio as linear; Krinsky and Robb draw coefficients from their
    estimated distribution, whose ratios may be skewed. For a multinomial logit these are also the
    estimates of the model in willingness-to-pay space: a maximum does not depend on how its
    parameters are written.
    """
    matrix = estimates.covariance(kind)
    pairs = [pair for place in _places(estimates, money) for pair in _paid(estimates, place, money)]
    pairs = [(k, place) for k, place in pairs if matrix[k, k] > 0]
    if not pairs:
        raise InvalidParameter(f"there is no coefficient beside '{money}' to pay for")
    others, places = (list(part) for part in zip(*pairs, strict=True))
    values = estimates.values
    ratios = -values[others] / values[places]
    rows = np.arange(len(others))
    gradients = np.zeros((len(others), len(values)))
    gradients[rows, others] = -1 / values[places]
    gradients[rows, places] = values[others] / values[places] ** 2
    used = np.flatnonzero((gradients != 0).any(axis=0))
    joint = matrix[np.ix_(used, used)]
    covariance = gradients[:, used] @ joint @ gradients[:, used].T
    rng = np.random.default_rng(estimates.seed)
    drawn = rng.multivariate_normal(values[used], joint, size=draws, method="cholesky")
    tails = [50 * (1 - level), 50 * (1 + level)]
    at = {int(k): column for column, k in enumerate(used)}
    above, below = (drawn[:, [at[k] for k in part]] for part in (others, places))
    low, high = np.percentile(-above / below, tails, axis=0)
    names = [estimates.names[k] for k in others]
    errors = np.sqrt(np.diag(covariance))
    return Willingness(
        money,
        tuple(
            row_of(name, float(ratio), float(error), level)
            for name, ratio, error in zip(names, ratios, errors, strict=True)
        ),
        tuple(zip(low.tolist(), high.tolist(), strict=True)),
        covariance,
        kind,
    )


def _places(estimates: Estimates, money: str) -> list[int]:
    """Return the places of money's coefficients: one, or one for each class."""
    if getattr(estimates.learner, "money_feature", None) is not None:
        raise InvalidParameter("the estimates are amounts already: leave out wtp, or money")
    found = [
        k
        for k in range(estimates.n_coefficients)
        if estimates.names[k] == money or estimates.names[k].endswith(f": {money}")
    ]
    places = found or [estimates.place(money)]
    if lost := [remark for k in places if (remark := estimates.remarks[k])]:
        raise InvalidParameter(f"'{money}' has no standard error: {lost[0]}")
    if "random" in _kinds(estimates, places[0]):
        raise InvalidParameter(
            f"'{money}' is random: a ratio to it has no mean; keep it fixed to say what is paid"
        )
    return places


def _paid(estimates: Estimates, place: int, money: str) -> list[tuple[int, int]]:
    """Return the coefficients that are paid for with one of money, each with its place."""
    before = estimates.names[place].removesuffix(money)
    return [
        (k, place)
        for k in range(estimates.n_coefficients)
        if k != place
        and estimates.names[k].startswith(before)
        and not estimates.names[k].removeprefix(before).startswith((CONSTANT, "error of "))
        and "transformed" not in _kinds(estimates, k)
    ]


def _kinds(estimates: Estimates, place: int) -> set[str]:
    """Return whether a coefficient is random, and whether its mean is not its parameter."""
    learner = estimates.learner
    if not isinstance(learner, PanelMixedLogit) or place not in learner._random():
        return set()
    name = learner._names_of_kinds()[learner._random().tolist().index(place)]
    return {"random", "transformed"} if DISTRIBUTIONS[name].sign else {"random"}
