"""PairwiseSVM: a linear utility that separates what was chosen from what was not."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from cschoice.errors import InvalidParameter
from cschoice.learners.base import Arrays, Learner
from cschoice.learners.layout import linear_utilities
from cschoice.seeding import seed_for
from cschoice.space import Dimension, Real
from cschoice.tasks import ChoiceTasks

Entries = NDArray[np.int64]


class PairwiseSVM(Learner):
    """A linear support vector machine on differences of chosen and other objects of a task.

    Every pair counts the same; where there are more than ``max_pairs`` a random selection of so
    many is used. Half of the differences are turned round, so that both classes are balanced,
    and there is no intercept: a difference has no preferred direction.
    """

    name = "pairwise-svm"
    search_space: ClassVar[Mapping[str, Dimension]] = {
        "C": Real(1.0, 12.0),
        "tol": Real(1e-4, 0.5),
    }

    coefficients_: NDArray[np.float64]

    def __init__(self, C: float = 1.0, tol: float = 1e-4, max_pairs: int = 50_000) -> None:  # noqa: N803
        self.C = C
        self.tol = tol
        self.max_pairs = max_pairs

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        if self.max_pairs < 2:
            raise InvalidParameter(f"max_pairs must be 2 or larger, got {self.max_pairs}")
        rng = np.random.default_rng(seed_for(seed, "pairs"))
        chosen, others = sample_pairs(tasks, self.max_pairs, rng)
        self.coefficients_ = np.zeros(tasks.n_features)
        if len(chosen) == 0:
            return
        if len(chosen) == 1:  # both directions of the only pair, for two classes
            chosen, others = np.repeat(chosen, 2), np.repeat(others, 2)
        differences = tasks.table[tasks.items[chosen]].astype(np.float64)
        differences -= tasks.table[tasks.items[others]]
        signs = np.where(np.arange(len(differences)) % 2 == 0, 1, -1)
        differences *= signs[:, None]
        machine = LinearSVC(
            C=self.C, tol=self.tol, fit_intercept=False, random_state=int(rng.integers(2**31))
        )
        with warnings.catch_warnings():
            # The tolerance is a hyperparameter: an early stop is one of its values.
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(differences, signs)
        self.coefficients_ = machine.coef_[0]

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        return linear_utilities(tasks, self.coefficients_)

    def _state(self) -> Arrays:
        return {"coefficients_": self.coefficients_}

    def _set_state(self, arrays: Arrays) -> None:
        self.coefficients_ = arrays["coefficients_"]


def sample_pairs(
    tasks: ChoiceTasks, max_pairs: int, rng: np.random.Generator
) -> tuple[Entries, Entries]:
    """Return entries of pairs (chosen, not chosen): all, or so many at random.

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
