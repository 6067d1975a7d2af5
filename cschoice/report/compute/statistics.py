"""Tests whether differences between learners are more than noise, on one dataset and several.

On one dataset: the corrected resampled t-test (Nadeau and Bengio, 2003). Folds of a dataset
share training tasks, so their differences vary together and a plain t-test sees too much; the
variance is multiplied by 1/k + n_test/n_train instead of 1/k. Several comparisons are made at
once, and p-values and intervals are adjusted alike (Bonferroni), so that an interval without zero
and a p-value below the level say the same. Over datasets: Friedman's test on ranks in the form of
Iman and Davenport, then Nemenyi's critical difference (Demšar, 2006).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.05
_NOTHING = 1e-12  # differences this small are rounding


@dataclass(frozen=True)
class Difference:
    """The difference between two learners on the folds of both; above 0 the first is better."""

    mean: float
    low: float  # of the interval; with 95 % confidence all intervals compared hold their values
    high: float
    effect: float  # the mean in units of its standard deviation over folds
    p: float  # of this comparison by itself
    adjusted: float  # the same for the number of comparisons
    n_folds: int


def corrected_t_test(
    differences: Sequence[float], test_to_train: float, n_comparisons: int = 1
) -> Difference | None:
    """Test whether the mean difference over folds is other than zero; None for a single fold.

    ``test_to_train`` is the number of test tasks per training task, 0 if every fold is a fresh
    draw; ``n_comparisons`` the number of tests that are looked at together.

    >>> test = corrected_t_test([0.02, 0.03, 0.04, 0.03, 0.03], 0.25, n_comparisons=3)
    >>> print(f"{test.mean:.3f} [{test.low:.3f}, {test.high:.3f}] p={test.adjusted:.3f}")
    0.030 [0.011, 0.049] p=0.010
    """
    from scipy.stats import t

    n = len(differences)
    if n < 2:
        return None
    mean, std = statistics.mean(differences), statistics.stdev(differences)
    if std < _NOTHING:
        equal = abs(mean) < _NOTHING
        effect = 0.0 if equal else math.copysign(math.inf, mean)
        p = 1.0 if equal else 0.0
        return Difference(mean, mean, mean, effect, p, p, n)
    error = std * math.sqrt(1 / n + test_to_train)
    p = 2 * float(t.sf(abs(mean) / error, n - 1))
    margin = error * float(t.isf(LEVEL / 2 / n_comparisons, n - 1))
    adjusted = min(1.0, n_comparisons * p)
    return Difference(mean, mean - margin, mean + margin, mean / std, p, adjusted, n)


@dataclass(frozen=True)
class Friedman:
    """Ranks of learners over datasets, and whether they are more than chance."""

    ranks: tuple[float, ...]  # the mean over datasets; 1 is best
    p: float
    agreement: float  # Kendall's W: 0 no agreement between datasets, 1 all rank alike
    critical_difference: float  # mean ranks closer than this cannot be told apart

    @property
    def differs(self) -> bool:
        """Tell whether any of the learners differs from another."""
        return self.p < LEVEL


def friedman(scores: NDArray[np.float64]) -> Friedman:
    """Compare learners by their ranks; ``scores`` are (datasets, learners), larger is better.

    >>> friedman(np.array([[3, 2, 1], [3, 1, 2], [9, 4, 1], [7, 6, 5.0]])).ranks
    (1.0, 2.25, 2.75)
    """
    from scipy.stats import f, friedmanchisquare, rankdata

    n, k = scores.shape
    ranks = rankdata(-scores, axis=1).mean(axis=0)
    chi_square = float(friedmanchisquare(*scores.T).statistic) if np.ptp(scores, 1).any() else 0.0
    largest = n * (k - 1)
    if largest - chi_square < _NOTHING:
        p = 0.0  # every dataset ranks them alike
    else:
        p = float(f.sf((n - 1) * chi_square / (largest - chi_square), k - 1, (k - 1) * (n - 1)))
    return Friedman(
        tuple(float(rank) for rank in ranks), p, chi_square / largest, critical_difference(n, k)
    )


def critical_difference(n_datasets: int, n_learners: int) -> float:
    """Return the smallest distance at which mean ranks differ (Nemenyi, 1963).

    >>> round(critical_difference(14, 4), 2)
    1.25
    """
    from scipy.stats import studentized_range

    q = float(studentized_range.isf(LEVEL, n_learners, np.inf)) / math.sqrt(2)
    return q * math.sqrt(n_learners * (n_learners + 1) / (6 * n_datasets))


def groups(ranks: Sequence[float], distance: float) -> list[tuple[int, int]]:
    """Return the longest runs of sorted ranks that lie within a distance: first and last.

    >>> groups([1.0, 1.5, 2.4, 4.0], distance=1.0)
    [(0, 1), (1, 2)]
    """
    runs: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = max(k for k in range(first, len(ranks)) if ranks[k] - ranks[first] <= distance)
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
