"""Whether a score agrees with the paper's, told from means and deviations over folds.

Two questions, each asked by itself at the level of all tests here. Is there a difference? Welch's
test (1947) on the two means, deviations and numbers of folds. Is it too small to matter? Two
one-sided tests (Schuirmann, 1987): the 90 % interval of the difference lies within the margin.
Agreement has to be shown; a difference that is not found may hide behind large deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from cschoice.report.compute.paper import ROUNDING, Score
from cschoice.report.compute.statistics import LEVEL

MARGIN = 0.01  # a difference within it does not matter


class Agreement(StrEnum):
    """How a score compares with the paper's."""

    SAME = "as in the paper"  # shown to lie within the margin
    ABOVE = "above"
    BELOW = "below"
    UNCLEAR = "cannot be told"
    TRIVIAL = "repeats AllPositive"  # on both sides: nothing was learned that could be compared
    ONE_FOLD = "one fold"


@dataclass(frozen=True)
class Welch:
    """The difference between two means, with intervals of two levels."""

    difference: float
    error: float  # standard error
    degrees: float  # of freedom
    p: float  # of no difference
    slack: float = 0.0  # the difference itself is known up to this

    @property
    def differs(self) -> bool:
        """Tell whether the means differ."""
        return self.p < LEVEL

    def within(self, margin: float) -> bool:
        """Tell whether the means are shown to differ by less than a margin."""
        from scipy.stats import t

        reach = float(t.isf(LEVEL, self.degrees)) * self.error
        return abs(self.difference) + self.slack + reach < margin


def welch(ours: Score, theirs: Score, rounding: float = ROUNDING) -> Welch:
    """Compare two means over at least two folds each; the second is printed with rounding.

    >>> found = welch(Score(0.896, 0.005, 5), Score(0.738, 0.351, 5))
    >>> round(found.p, 2), found.within(0.01)
    (0.37, False)
    """
    from scipy.stats import t

    difference = ours.mean - theirs.mean
    half = rounding / 2
    variances = ours.std**2 / ours.n_folds, (theirs.std + half) ** 2 / theirs.n_folds
    total = sum(variances)
    if total == 0:
        p = 0.0 if abs(difference) > half else 1.0
        return Welch(difference, 0.0, math.inf, p, half)
    degrees = total**2 / (
        variances[0] ** 2 / (ours.n_folds - 1) + variances[1] ** 2 / (theirs.n_folds - 1)
    )
    error = math.sqrt(total)
    p = 2 * float(t.sf(max(0.0, abs(difference) - half) / error, degrees))
    return Welch(difference, error, degrees, min(1.0, p), half)


def agreement(ours: Score, theirs: Score) -> Agreement:
    """Tell how a score compares with the paper's.

    >>> str(agreement(Score(0.896, 0.005, 5), Score(0.738, 0.351, 5)))
    'cannot be told'
    >>> str(agreement(Score(0.942, 0.004, 5), Score(0.940, 0.006, 5)))
    'as in the paper'
    """
    if ours.n_folds < 2:
        return Agreement.ONE_FOLD
    found = welch(ours, theirs)
    if found.within(MARGIN):
        return Agreement.SAME
    if not found.differs:
        return Agreement.UNCLEAR
    return Agreement.ABOVE if found.difference > 0 else Agreement.BELOW
