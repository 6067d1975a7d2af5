"""Willingness to pay: the amount of money that makes up for one unit more of a feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.estimates.estimates import Coefficient, Estimates, row_of
from cschoice.estimates.kinds import CLASSICAL
from cschoice.estimates.samples import CONSTANT
from cschoice.learners.logit.inference import Matrix

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
    place = estimates.place(money)
    matrix = estimates.covariance(kind)
    if not matrix[place, place] > 0:
        raise InvalidParameter(f"'{money}' has no standard error: {estimates.remarks[place]}")
    others = [
        k
        for k in range(estimates.n_coefficients)
        if k != place and not estimates.names[k].startswith(CONSTANT) and matrix[k, k] > 0
    ]
    if not others:
        raise InvalidParameter(f"there is no coefficient beside '{money}' to pay for")
    values = estimates.values
    ratios = -values[others] / values[place]
    gradients = np.zeros((len(others), len(values)))
    gradients[np.arange(len(others)), others] = -1 / values[place]
    gradients[:, place] = values[others] / values[place] ** 2
    used = [*others, place]
    joint = matrix[np.ix_(used, used)]
    covariance = gradients[:, used] @ joint @ gradients[:, used].T
    rng = np.random.default_rng(estimates.seed)
    drawn = rng.multivariate_normal(values[used], joint, size=draws, method="cholesky")
    tails = [50 * (1 - level), 50 * (1 + level)]
    low, high = np.percentile(-drawn[:, :-1] / drawn[:, -1:], tails, axis=0)
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
