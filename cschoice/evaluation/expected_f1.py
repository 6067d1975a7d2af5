"""The choices with the largest expected F1-measure, from calibrated probabilities.

A threshold asks of every task the same utility. The best answer to a task depends on all of it:
where nothing stands out, more objects have to be chosen. With objects chosen independently, it is
always the k objects of the largest probabilities for some k, and each k has an expected F1 that
can be computed exactly (Ye, Chai, Lee and Chieu, ICML 2012).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.evaluation.metrics import check_values
from cschoice.tasks import ChoiceTasks

Values = NDArray[np.float64]

_NUMBERS_AT_ONCE = 10_000_000
_MAX_STEPS = 100
_SMALLEST_STEP = 1e-10  # of Newton's method, in standardized utilities


@dataclass(frozen=True)
class Calibration:
    """Log-odds of being chosen that are linear in the utility (Platt, 2000)."""

    slope: float
    intercept: float

    @classmethod
    def learn(cls, tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> Calibration:
        """Fit the utilities of tasks that the learner has not seen, by maximum likelihood.

        Platt's targets, a little inside 0 and 1, keep the estimate finite where the utilities
        separate perfectly.
        """
        values = _finite(check_values(tasks, utilities))
        counts = None if tasks.weights is None else tasks.spread(tasks.weights)
        n_entries = tasks.n_entries if counts is None else float(counts.sum())
        n_chosen = (tasks.chosen if counts is None else counts[tasks.chosen]).sum()
        n_others = n_entries - n_chosen
        targets = np.where(tasks.chosen, (n_chosen + 1) / (n_chosen + 2), 1 / (n_others + 2))
        mean, deviation = values.mean(), values.std()
        if deviation == 0:  # nothing to tell objects apart by
            return cls(0.0, _log_odds(float(np.average(targets, weights=counts))))
        slope, intercept = _logistic_fit((values - mean) / deviation, targets, counts)
        return cls(slope / deviation, intercept - slope * mean / deviation)

    def probabilities(self, utilities: NDArray[np.floating[Any]]) -> Values:
        """Return the probability of each entry to be chosen."""
        return _logistic(self.slope * _finite(utilities) + self.intercept)

    def choose(self, tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> NDArray[np.bool_]:
        """Choose from each task the objects with the largest expected F1."""
        return largest_expected_f1(tasks, self.probabilities(check_values(tasks, utilities)))


def largest_expected_f1(tasks: ChoiceTasks, probabilities: Values) -> NDArray[np.bool_]:
    """Choose from each task the objects with the largest expected F1, the first of equals.

    >>> from cschoice.tasks import Kind
    >>> tasks = ChoiceTasks.from_dense(np.zeros((2, 3, 1)), np.eye(3)[:2] > 0, Kind.SUBSET)
    >>> largest_expected_f1(tasks, np.array([0.9, 0.1, 0.1, 0.3, 0.3, 0.3])).tolist()
    [True, False, False, True, True, True]
    """
    chosen = np.zeros(tasks.n_entries, dtype=bool)
    order = tasks.descending(probabilities)
    for size in np.unique(tasks.sizes):
        starts = tasks.offsets[:-1][tasks.sizes == size]
        step = max(1, _NUMBERS_AT_ONCE // int(size + 1) ** 2)
        for begin in range(0, len(starts), step):
            entries = order[starts[begin : begin + step, None] + np.arange(size)]
            best = expected_f1(probabilities[entries]).argmax(axis=1)
            chosen[entries[np.arange(size) <= best[:, None]]] = True
    return chosen


def expected_f1(probabilities: Values) -> Values:
    """Return the expected F1 of choosing the first k objects, for each k from 1 to all.

    ``probabilities`` are (tasks, objects), independent. With a of the first k and b of the others
    truly chosen, F1 is 2a / (k + a + b). The distribution of a grows object by object from the
    first on, the mean of 1 / (k + a + b) over b from the last on: quadratic in the objects.

    >>> expected_f1(np.array([[0.5, 0.5]])).round(4).tolist()
    [[0.4167, 0.5833]]
    """
    n_tasks, n = probabilities.shape
    among = np.zeros((n + 1, n_tasks, n + 1))  # [k, task, a]: a of the first k are chosen
    among[0, :, 0] = 1
    for k in range(1, n + 1):
        p = probabilities[:, k - 1, None]
        among[k] = among[k - 1] * (1 - p)
        among[k, :, 1:] += among[k - 1, :, :-1] * p
    inverse = np.tile(1 / np.arange(1.0, 2 * n + 1), (n_tasks, 1))  # [task, c - 1]: of 1 / (c + b)
    values = np.empty_like(probabilities)
    for k in range(n, 0, -1):
        a = np.arange(1, k + 1)
        values[:, k - 1] = (among[k, :, 1 : k + 1] * inverse[:, k : 2 * k]) @ (2.0 * a)
        p = probabilities[:, k - 1, None]
        inverse = p * inverse[:, 1:] + (1 - p) * inverse[:, :-1]
    return values


def _logistic_fit(x: Values, targets: Values, counts: Values | None) -> tuple[float, float]:
    """Return slope and intercept of the most likely log-odds, by Newton's method."""
    design = np.column_stack([x, np.ones_like(x)])
    w = np.array([0.0, _log_odds(float(np.average(targets, weights=counts)))])
    each = 1.0 if counts is None else counts  # how much an entry counts
    loss = _loss(design @ w, targets, each)
    for _ in range(_MAX_STEPS):
        p = _logistic(design @ w)
        gradient = design.T @ (each * (p - targets))
        hessian = (design.T * (each * p * (1 - p))) @ design
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        ahead = _loss(design @ (w - step), targets, each)
        while not ahead <= loss and np.abs(step).max() > _SMALLEST_STEP:
            step /= 2
            ahead = _loss(design @ (w - step), targets, each)
        if ahead > loss or np.abs(step).max() <= _SMALLEST_STEP:
            break
        w, loss = w - step, ahead
    return float(w[0]), float(w[1])


def _loss(log_odds: Values, targets: Values, each: Values | float) -> float:
    return float((each * (np.logaddexp(0, log_odds) - targets * log_odds)).sum())


def _logistic(log_odds: Values) -> Values:
    return np.asarray(np.exp(-np.logaddexp(0, -log_odds)))


def _log_odds(p: float) -> float:
    return float(np.log(p / (1 - p)))


def _finite(values: NDArray[np.floating[Any]]) -> Values:
    largest = np.finfo(np.float32).max
    return np.clip(values.astype(np.float64), -largest, largest)
