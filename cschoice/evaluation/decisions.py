"""Turn utilities into choices and probabilities.

Singleton choice takes the largest utility. Subset choice needs a rule that is learned from tasks
that were held out: a threshold on utilities, or a calibration that turns them into probabilities,
of which the largest expected F1 is chosen. ``RULES`` names both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.evaluation.expected_f1 import Calibration
from cschoice.evaluation.metrics import check_values
from cschoice.tasks import ChoiceTasks, Kind

Rule = float | Calibration  # of subset choice: a threshold, or probabilities for expected F1
Decision = Literal["threshold", "expected-f1"]


def choose(
    tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]], threshold: Rule | None = None
) -> NDArray[np.bool_]:
    """Choose from each task (eqs. detsingleton and detsubset of the paper).

    Singleton: the object with the largest utility, the first of several. Subset: every object
    whose utility reaches ``threshold``; there may be none. A calibration in its place chooses
    the largest expected F1.
    """
    utilities = check_values(tasks, utilities)
    if tasks.kind is Kind.SUBSET:
        if isinstance(threshold, Calibration):
            return threshold.choose(tasks, utilities)
        if threshold is None or np.isnan(threshold):
            raise InvalidParameter(f"subset choice needs a threshold, got {threshold}")
        # In float64: rounded to float32, a threshold could fall on the next smaller utility.
        return utilities >= np.float64(threshold)
    if threshold is not None:
        raise InvalidParameter(f"singleton choice takes no threshold, got {threshold}")
    largest = np.flatnonzero(utilities == tasks.spread(tasks.reduce(np.maximum, utilities)))
    chosen = np.zeros(tasks.n_entries, dtype=bool)
    chosen[largest[np.searchsorted(largest, tasks.offsets[:-1])]] = True
    return chosen


def probabilities(tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return the probability of each entry to be chosen, given the utilities of a likelihood model.

    Singleton choice: the softmax over the task (eq. mnl); the utilities of other models are
    log-probabilities, which the softmax does not change. Subset choice: the logistic function of
    each utility (eq. likebin).
    """
    largest = np.finfo(np.float32).max  # an infinite utility has no difference to another one
    values = np.clip(check_values(tasks, utilities).astype(np.float64), -largest, largest)
    if tasks.kind is Kind.SUBSET:
        return np.asarray(np.exp(-np.logaddexp(0, -values)))
    weights = np.exp(values - tasks.spread(tasks.reduce(np.maximum, values)))
    share: NDArray[np.float64] = weights / tasks.spread(tasks.reduce(np.add, weights))
    return share


def tune_threshold(tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> float:
    """Return the threshold with the largest F1-measure, averaged over tasks, on these tasks.

    Exact, by two sorts: lower the threshold past one entry after the other. Each entry changes
    the F1 of its own task only, by an amount that follows from its rank within the task, so the
    mean F1 at every threshold is a running sum of these changes in the order of utilities.
    The result lies halfway to the next smaller utility: the choices here are the same, and on
    other tasks neither side is favoured.

    >>> from cschoice.tasks import ChoiceTasks, Kind
    >>> x = np.zeros((2, 2, 1))
    >>> tasks = ChoiceTasks.from_dense(x, [[True, False], [True, True]], Kind.SUBSET)
    >>> tune_threshold(tasks, np.array([3.0, 0.0, 2.0, 1.0]))
    0.5
    """
    utilities = check_values(tasks, utilities)
    if tasks.kind is not Kind.SUBSET:
        raise InvalidTasks(["a threshold is for subset choice, these are singleton tasks"])
    within = tasks.descending(utilities)
    change = np.empty(tasks.n_entries)
    change[within] = _f1_changes(tasks, tasks.chosen[within])
    if tasks.weights is not None:
        change *= tasks.spread(tasks.weights)

    order = np.argsort(-utilities)
    values = utilities[order].astype(np.float64)
    gained = np.cumsum(change[order])
    # Entries of one utility are chosen together: only the last of them is a threshold.
    last = np.append(values[1:] < values[:-1], True)
    gained, values = gained[last], values[last]
    best = int(np.argmax(gained))
    if best == len(values) - 1:
        return float(values[best])
    with np.errstate(over="ignore", invalid="ignore"):
        middle = values[best] / 2 + values[best + 1] / 2
    return float(middle if values[best + 1] < middle <= values[best] else values[best])


def _f1_changes(tasks: ChoiceTasks, chosen: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the F1 that each entry adds to its task when chosen after those before it."""
    rank = np.arange(1, tasks.n_entries + 1) - tasks.spread(tasks.offsets[:-1])
    right = np.cumsum(chosen)
    before = np.concatenate([[0], right])[tasks.offsets[:-1]]
    truly = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
    f1 = 2 * (right - tasks.spread(before)) / (tasks.spread(truly) + rank)
    previous = np.concatenate([[0.0], f1[:-1]])
    previous[tasks.offsets[:-1]] = 0
    changes: NDArray[np.float64] = f1 - previous
    return changes


RULES: Mapping[Decision, Callable[[ChoiceTasks, NDArray[np.floating[Any]]], Rule]] = {
    "threshold": tune_threshold,
    "expected-f1": Calibration.learn,
}


def tune_rule(decision: Decision, tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> Rule:
    """Return the rule of subset choice that these tasks ask for; best if they were held out."""
    if decision not in RULES:
        raise InvalidParameter(f"decision must be one of {', '.join(RULES)}, got {decision!r}")
    return RULES[decision](tasks, utilities)
