"""PairwiseSVM: a linear utility that separates chosen objects from the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol

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
_MANY_FEATURES = 2_000  # more of them have no Hessian in memory, nor differences of all pairs
_ROWS = 1_024  # of a table that are in double precision at once
_PRECISE = 1e-10  # residual of a Newton step without its Hessian


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
        first, second = tasks.items[chosen], tasks.items[others]
        margins: Vectors | float = 1.0
        if tasks.weights is not None:  # their squares are how much pairs count
            margins = np.sqrt(tasks.spread(tasks.weights)[chosen])
        if tasks.n_features > _MANY_FEATURES:
            differences: Differences = TableDifferences(tasks.table, first, second, margins)
        else:
            rows = tasks.table[first].astype(np.float64)
            rows -= tasks.table[second]
            if not isinstance(margins, float):
                rows *= margins[:, None]
            differences = RowDifferences(rows)
        self.coefficients_ = separate(differences, self.C, self.tol, margins)

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


class Differences(Protocol):
    """The differences d of pairs, one row each."""

    n_features: int

    def times(self, w: Vectors) -> Vectors:
        """Return w·d of each pair."""

    def sums(self, weights: Vectors) -> Vectors:
        """Return the weighted sum of the differences."""

    def newton(self, active: NDArray[np.bool_], C: float, gradient: Vectors) -> Vectors:  # noqa: N803
        """Return the solution s of (1 + 2 C Σ d dᵀ) s = −gradient, over the active pairs."""


class RowDifferences:
    """Differences in memory, of few features: the Hessian is small, and exact."""

    def __init__(self, rows: Vectors) -> None:
        self.rows, self.n_features = rows, rows.shape[1]

    def times(self, w: Vectors) -> Vectors:
        """Return w·d of each pair."""
        return self.rows @ w

    def sums(self, weights: Vectors) -> Vectors:
        """Return the weighted sum of the differences."""
        used = weights != 0
        return np.asarray(weights[used] @ self.rows[used])

    def newton(self, active: NDArray[np.bool_], C: float, gradient: Vectors) -> Vectors:  # noqa: N803
        """Return the step by the Hessian itself."""
        violating = self.rows[active]
        hessian = 2 * C * (violating.T @ violating)
        hessian.flat[:: self.n_features + 1] += 1
        return np.linalg.solve(hessian, -gradient).astype(np.float64, copy=False)


class TableDifferences:
    """Differences between rows of a table, of many features: nothing larger than the table is made.

    Products with differences are differences of products with rows; Newton's step is found by
    conjugate gradients, which need no more than these. Differences are multiplied by ``scale``.
    """

    def __init__(
        self,
        table: NDArray[np.float32],
        first: Entries,
        second: Entries,
        scale: Vectors | float = 1.0,
    ) -> None:
        self.table, self.first, self.second, self.scale = table, first, second, scale
        self.n_features = table.shape[1]

    def times(self, w: Vectors) -> Vectors:
        """Return w·d of each pair."""
        products = np.concatenate([rows @ w for _, rows in self._blocks()])
        return np.asarray(self.scale * (products[self.first] - products[self.second]))

    def sums(self, weights: Vectors) -> Vectors:
        """Return the weighted sum of the differences."""
        n_rows, weights = len(self.table), self.scale * weights
        of_rows = np.bincount(self.first, weights, n_rows)
        of_rows -= np.bincount(self.second, weights, n_rows)
        total = np.zeros(self.n_features)
        for start, rows in self._blocks():
            total += of_rows[start : start + len(rows)] @ rows
        return total

    def newton(self, active: NDArray[np.bool_], C: float, gradient: Vectors) -> Vectors:  # noqa: N803
        """Return the step by conjugate gradients."""
        step: Vectors = np.zeros(self.n_features)
        residual: Vectors = -gradient
        direction, length = residual, float(residual @ residual)
        enough = _PRECISE**2 * length
        for _ in range(len(active) + 1):  # in exact arithmetic, more make no difference
            if length <= enough:
                break
            curved = direction + 2 * C * self.sums(active * self.times(direction))
            ahead = length / float(direction @ curved)
            step = step + ahead * direction
            residual = residual - ahead * curved
            length, before = float(residual @ residual), length
            direction = residual + length / before * direction
        return step

    def _blocks(self) -> Iterator[tuple[int, Vectors]]:
        """Yield rows in double precision with the number of the first, a few at a time."""
        for start in range(0, len(self.table), _ROWS):
            yield start, self.table[start : start + _ROWS].astype(np.float64)


def separate(
    differences: Differences,
    C: float,  # noqa: N803
    tol: float,
    margins: Vectors | float = 1.0,
) -> Vectors:
    """Minimize |w|² / 2 + C Σ max(0, m − w·d)² by Newton's method; the margins m are mostly 1.

    With few features and many pairs, a handful of steps does what takes solvers without a Hessian
    hundreds of passes over the pairs where features are correlated. Ends when the gradient has
    shrunk to ``tol`` / 2 of its first length, as liblinear does.
    """
    w = np.zeros(differences.n_features)
    value, slack = _objective(w, differences, C, margins)
    enough = tol / 2 * np.linalg.norm(2 * C * differences.sums(slack))
    for _ in range(_MAX_STEPS):
        gradient = w - 2 * C * differences.sums(slack)
        if np.linalg.norm(gradient) <= enough:
            break
        direction = differences.newton(slack > 0, C, gradient)
        step, promised = 1.0, _SUFFICIENT * (gradient @ direction)
        ahead, slack = _objective(w + direction, differences, C, margins)
        while ahead > value + step * promised and step > _SHORTEST:
            step /= 2
            ahead, slack = _objective(w + step * direction, differences, C, margins)
        if ahead > value:
            break
        w, value = w + step * direction, ahead
    return w


def _objective(
    w: Vectors,
    differences: Differences,
    C: float,  # noqa: N803
    margins: Vectors | float,
) -> tuple[float, Vectors]:
    slack = np.maximum(margins - differences.times(w), 0)
    return float(w @ w / 2 + C * (slack @ slack)), slack
