"""PairwiseSVM: a linear utility that separates chosen objects from the others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.learner import Arrays, Learner
from cschoice.learners.logit.layout import linear_utilities
from cschoice.seeding import seed_for
from cschoice.space import Dimension, Limit, Number, Real, Whole
from cschoice.tasks import ChoiceTasks

Entries = NDArray[np.int64]
Vectors = NDArray[np.float64]

_MAX_STEPS = 100
_SUFFICIENT = 1e-4  # of the decrease that the slope promises
_SHORTEST = 1e-8  # step: rounding decides below


class PairwiseSVM(Learner):
    """A linear support vector machine on differences of chosen and other objects of a task.

    Every pair counts the same; where there are more than ``max_pairs`` a random selection of so
    many is used. There is no intercept: a difference has no preferred direction. ``C`` and
    ``tol`` mean what they do for scikit-learn's LinearSVC, whose minimum this is. A margin means
    nothing without a scale: ``fit`` standardizes features, and coefficients are of these.
    """

    name = "pairwise-svm"
    standardize: ClassVar[bool] = True
    search_space: ClassVar[Mapping[str, Dimension]] = {
        "C": Real(1.0, 12.0),
        "tol": Real(1e-4, 0.5),
    }
    limits: ClassVar[Mapping[str, Limit]] = {
        "C": Number(0, above=True),
        "tol": Number(0, above=True),
        "max_pairs": Whole(2, 100_000_000),
    }

    coefficients_: Vectors

    def __init__(self, C: float = 1.0, tol: float = 1e-4, max_pairs: int = 50_000) -> None:  # noqa: N803
        self.C = C
        self.tol = tol
        self.max_pairs = max_pairs

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        rng = np.random.default_rng(seed_for(seed, "pairs"))
        chosen, others = sample_pairs(tasks, self.max_pairs, rng)
        differences = tasks.table[tasks.items[chosen]].astype(np.float64)
        differences -= tasks.table[tasks.items[others]]
        self.coefficients_ = separate(differences, self.C, self.tol)

    def _utilities(self, tasks: ChoiceTasks) -> Vectors:
        return linear_utilities(tasks, self.coefficients_)

    def _state(self) -> Arrays:
        return {"coefficients_": self.coefficients_}

    def _set_state(self, arrays: Arrays) -> None:
        self.coefficients_ = arrays["coefficients_"]


def sample_pairs(
    tasks: ChoiceTasks, max_pairs: int, rng: np.random.Generator
) -> tuple[Entries, Entries]:
    """Return the entries of all pairs (chosen, not chosen), or of ``max_pairs`` random ones.

    Pairs are numbered task by task and never listed before they are drawn: large sets have more
    of them than memory.
    """
    n_chosen = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
    n_others = tasks.sizes - n_chosen
    ends = np.cumsum(n_chosen * n_others)
    total = int(ends[-1])
    if total <= max_pairs:
        numbers = np.arange(total)
    else:
        numbers = rng.choice(total, max_pairs, replace=False, shuffle=False)
    task = np.searchsorted(ends, numbers, side="right")
    within = numbers - (ends - n_chosen * n_others)[task]
    # Entries with the chosen of each task first, in their order.
    by_choice = np.lexsort((~tasks.chosen, tasks.spread(np.arange(len(tasks)))))
    start, width = tasks.offsets[task], n_others[task]
    return by_choice[start + within // width], by_choice[start + n_chosen[task] + within % width]


def separate(differences: Vectors, C: float, tol: float) -> Vectors:  # noqa: N803
    """Minimize |w|² / 2 + C Σ max(0, 1 − w·d)² by Newton's method with exact Hessians.

    Few features and many pairs: the Hessian is small, and a handful of steps does what takes
    solvers without one hundreds of passes over the pairs where features are correlated. Ends
    when the gradient has shrunk to ``tol`` / 2 of its first length, as liblinear does.
    """
    w = np.zeros(differences.shape[1])
    value, slack = _objective(w, differences, C)
    enough = tol / 2 * np.linalg.norm(2 * C * differences.sum(axis=0))
    for _ in range(_MAX_STEPS):
        active = slack > 0
        violating = differences[active]
        gradient = w - 2 * C * (slack[active] @ violating)
        if np.linalg.norm(gradient) <= enough:
            break
        hessian = 2 * C * (violating.T @ violating)
        hessian.flat[:: len(w) + 1] += 1
        direction = np.linalg.solve(hessian, -gradient)
        step, promised = 1.0, _SUFFICIENT * (gradient @ direction)
        ahead, slack = _objective(w + direction, differences, C)
        while ahead > value + step * promised and step > _SHORTEST:
            step /= 2
            ahead, slack = _objective(w + step * direction, differences, C)
        if ahead > value:
            break
        w, value = w + step * direction, ahead
    return w


def _objective(w: Vectors, differences: Vectors, C: float) -> tuple[float, Vectors]:  # noqa: N803
    slack = np.maximum(1 - differences @ w, 0)
    return float(w @ w / 2 + C * (slack @ slack)), slack
