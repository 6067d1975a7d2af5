"""Measures of predicted utilities, choices and probabilities, in NumPy on ragged tasks.

A metric is one function and one row of the table at the end: its name, its label, the kinds of
choice it applies to, what it needs, which direction is better and whether reports give it a column
stand there and nowhere else; its place in the table is that of its column. Each takes the tasks
and one value per entry and returns the mean over tasks (``micro-f1``: over all objects).
Conventions, where the paper's formulas leave a case open:

- Tasks count by their weights, where they have some: a weight of two is a task that occurs twice.
- Ties count as their expected share, as if broken by lot: of three objects that share the largest
  utility, the chosen one is worth a third of a hit; for top-k alike, so top-1 is accuracy. Where
  the paper's formula says "among the largest", a constant utility would be perfect; so it is
  worth a guess.
- An empty prediction scores 0 in F1 and precision.
- Tasks that cannot tell good from bad are left out of the mean: those of one object in
  normalized accuracy, those where everything is chosen in informedness and AUC-ROC. The code
  released with the paper also leaves out of AUC-ROC the tasks with a single chosen or a single
  other object: ``auc-roc-released``. Where no task remains the result is NaN.
- Log-loss is in nats. Singleton choice: −log of the probability of the chosen object. Subset
  choice: the negative Bernoulli log-likelihood per object, so that large tasks count as much as
  small ones. No likelihood counts as less than 2⁻⁵²: whoever was certain and wrong pays 36 for
  it, where the logarithm would let one task outweigh all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cschoice.errors import InvalidUtilities, UnknownName
from cschoice.registry import Plugins, Registry
from cschoice.tasks import ChoiceTasks, Kind

Utilities = NDArray[np.floating[Any]]
Choices = NDArray[np.bool_]
Probabilities = NDArray[np.floating[Any]]
Needs = Literal["utilities", "choices", "probabilities"]


@dataclass(frozen=True)
class Metric:
    """A measure, its function and its properties."""

    name: str
    label: str  # in tables and figures
    kinds: frozenset[Kind]
    needs: Needs
    compute: Callable[[ChoiceTasks, NDArray[Any]], float]
    summary: str
    higher_is_better: bool = True
    shown: bool = False  # in the result tables of reports; all are in their files of numbers

    def __call__(self, tasks: ChoiceTasks, values: ArrayLike) -> float:
        """Return the metric for utilities, predicted choices or probabilities, as it needs."""
        if tasks.kind not in self.kinds:
            allowed = " or ".join(sorted(self.kinds))
            raise InvalidUtilities(
                f"{self.name} is for {allowed} choice, the tasks are {tasks.kind}"
            )
        return self.compute(tasks, check_values(tasks, values, self.needs))


def check_values(tasks: ChoiceTasks, values: ArrayLike, noun: Needs = "utilities") -> NDArray[Any]:
    """Return the values as an array of floats (or booleans), one per entry; refuse others."""
    array = np.asarray(values)
    if array.shape != (tasks.n_entries,):
        raise InvalidUtilities(
            f"{noun} must be one value per entry, shape {(tasks.n_entries,)}, got {array.shape}"
        )
    if noun == "choices":
        if array.dtype != np.bool_:
            raise InvalidUtilities(f"choices must be boolean, got {array.dtype}")
        return array
    if array.dtype.kind not in "fiu":
        raise InvalidUtilities(f"{noun} must be real numbers, got {array.dtype}")
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    n_nan = int(np.isnan(array).sum())
    if n_nan:
        raise InvalidUtilities(
            f"{n_nan:,} of {len(array):,} {noun} are NaN: the learner that made them has diverged"
        )
    if noun == "probabilities" and (array.min() < 0 or array.max() > 1):
        raise InvalidUtilities(
            f"probabilities must lie between 0 and 1, got {array.min():g} to {array.max():g}"
        )
    return array


# --- singleton choice, from utilities ---------------------------------------------------------


def _hits(tasks: ChoiceTasks, utilities: Utilities, k: int = 1) -> NDArray[np.float64]:
    """Return, per task, how probably the chosen object is among the first k, ties by lot."""
    own = tasks.spread(utilities[tasks.chosen])
    n_better = tasks.reduce(np.add, utilities > own, dtype=np.int64)
    n_tied = tasks.reduce(np.add, utilities == own, dtype=np.int64)  # the chosen one is of them
    shares: NDArray[np.float64] = np.clip((k - n_better) / n_tied, 0, 1)
    return shares


def top_k(tasks: ChoiceTasks, utilities: Utilities, k: int) -> float:
    """Return how often the chosen object is among the k largest (eq. topkaccuracy)."""
    return _mean(tasks, _hits(tasks, utilities, k))


def normalized_accuracy(tasks: ChoiceTasks, utilities: Utilities) -> float:
    """Return the accuracy corrected for guessing, task by task (eq. normaccuracy)."""
    hit = _hits(tasks, utilities)
    guess = 1 / tasks.sizes
    return _mean_where(tasks, tasks.sizes > 1, hit - guess, 1 - guess)


# --- subset choice, from choices --------------------------------------------------------------


def _counts(tasks: ChoiceTasks, choices: Choices) -> tuple[NDArray[np.int64], ...]:
    """Count, per task, the objects rightly chosen, truly chosen, and predicted as chosen."""
    right = tasks.reduce(np.add, choices & tasks.chosen, dtype=np.int64)
    truly = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
    predicted = tasks.reduce(np.add, choices, dtype=np.int64)
    return right, truly, predicted


def f1(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return the F1-measure, the mean over tasks (eq. f1x)."""
    right, truly, predicted = _counts(tasks, choices)
    return _mean(tasks, 2 * right / (truly + predicted))


def micro_f1(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return the F1-measure of all objects of all tasks taken together."""
    right, truly, predicted = _counts(tasks, choices)
    weights = np.ones(len(tasks)) if tasks.weights is None else tasks.weights
    return float(2 * (weights @ right) / (weights @ (truly + predicted)))


def subset_accuracy(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return how often the predicted set is exactly the chosen one."""
    return _mean(tasks, tasks.reduce(np.logical_and, choices == tasks.chosen))


def precision(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return the share of predicted objects that were chosen."""
    right, _, predicted = _counts(tasks, choices)
    return _mean(tasks, right / np.maximum(predicted, 1))


def recall(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return the share of chosen objects that were predicted."""
    right, truly, _ = _counts(tasks, choices)
    return _mean(tasks, right / truly)


def informedness(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return sensitivity plus specificity minus one: 0 for a guess, 1 for perfection."""
    right, truly, predicted = _counts(tasks, choices)
    negatives = tasks.sizes - truly
    rejected = negatives - (predicted - right)
    sensitivity = right / truly
    return _mean_where(tasks, negatives > 0, rejected + (sensitivity - 1) * negatives, negatives)


def hamming(tasks: ChoiceTasks, choices: Choices) -> float:
    """Return the share of objects on which prediction and choice differ."""
    wrong = tasks.reduce(np.add, choices != tasks.chosen, dtype=np.int64)
    return _mean(tasks, wrong / tasks.sizes)


# --- subset choice, from utilities ------------------------------------------------------------


def auc_roc(tasks: ChoiceTasks, utilities: Utilities, least: int = 1) -> float:
    """Return how probably a chosen object beats one that was not; a tie counts one half.

    Of tasks with at least so many objects that were chosen, and so many that were not.
    """
    order = tasks.descending(utilities)
    value, positive = utilities[order], tasks.chosen[order]
    # Objects of one task with one utility form a group; groups run from large to small.
    first = np.ones(tasks.n_entries, dtype=bool)
    first[1:] = value[1:] != value[:-1]
    first[tasks.offsets[:-1]] = True
    starts = np.flatnonzero(first)
    n_positive = np.add.reduceat(positive, starts, dtype=np.int64)
    n_negative = np.diff(np.append(starts, tasks.n_entries)) - n_positive
    # The negatives below a group: all of its task minus those up to and including the group.
    positives = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
    negatives = tasks.sizes - positives
    task_of_group = np.searchsorted(tasks.offsets, starts, side="right") - 1
    below = np.cumsum(negatives)[task_of_group] - np.cumsum(n_negative)
    wins = n_positive * (below + n_negative / 2)
    won = np.bincount(task_of_group, weights=wins, minlength=len(tasks))
    counts = np.minimum(positives, negatives) >= least
    return _mean_where(tasks, counts, won, positives * negatives)


# --- both, from probabilities -----------------------------------------------------------------


def log_loss(tasks: ChoiceTasks, probabilities: Probabilities) -> float:
    """Return the mean negative log-likelihood (eqs. mnl and likebin); smaller is better."""
    p = probabilities.astype(np.float64)
    single = tasks.kind is Kind.SINGLETON
    likelihood = p[tasks.chosen] if single else np.where(tasks.chosen, p, 1 - p)
    losses = -np.log(np.maximum(likelihood, np.finfo(np.float64).eps))
    return _mean(tasks, losses if single else tasks.reduce(np.add, losses) / tasks.sizes)


def _mean(tasks: ChoiceTasks, values: NDArray[Any]) -> float:
    """Return the mean over tasks, by their weights."""
    return float(np.average(values, weights=tasks.weights))


def _mean_where(
    tasks: ChoiceTasks,
    counts: NDArray[np.bool_],
    numerator: NDArray[Any],
    denominator: NDArray[Any],
) -> float:
    """Return the mean ratio of the tasks marked in ``counts``; NaN if there are none."""
    if not counts.any():
        return float("nan")
    weights = None if tasks.weights is None else tasks.weights[counts]
    return float(np.average(numerator[counts] / denominator[counts], weights=weights))


_SINGLETON, _SUBSET = frozenset({Kind.SINGLETON}), frozenset({Kind.SUBSET})


def _top(k: int, name: str = "", label: str = "", shown: bool = False) -> Metric:
    summary = "the chosen object has the largest utility"
    if k > 1:
        summary = f"the chosen object is among the {k} largest utilities"
    compute, names = partial(top_k, k=k), (name or f"top-{k}", label or f"Top-{k}")
    return Metric(*names, _SINGLETON, "utilities", compute, summary, shown=shown)


def _of_plugin(name: str, found: Any, target: str) -> Metric:
    """Return the metric of another package."""
    if not isinstance(found, Metric):
        raise TypeError(f"{target} is no cschoice.evaluation.metrics.Metric")
    return replace(found, name=name)


METRICS: Registry[Metric] = Registry(
    "metric",
    {
        metric.name: metric
        for metric in (
            _top(1, "accuracy", "Accuracy", shown=True),
            _top(3, shown=True),
            _top(5, shown=True),
            Metric("normalized-accuracy", "Normalized accuracy", _SINGLETON, "utilities",
                   normalized_accuracy,
                   "accuracy, corrected for guessing: 0 is chance, 1 is perfect"),
            Metric("f1", "F₁-measure", _SUBSET, "choices", f1, "F1-measure, mean over tasks",
                   shown=True),
            Metric("micro-f1", "Micro-F₁", _SUBSET, "choices", micro_f1,
                   "F1-measure over all objects"),
            Metric("subset-accuracy", "Subset 0/1 accuracy", _SUBSET, "choices", subset_accuracy,
                   "the predicted set is exactly the chosen one", shown=True),
            Metric("precision", "Precision", _SUBSET, "choices", precision,
                   "share of predicted objects that were chosen"),
            Metric("recall", "Recall", _SUBSET, "choices", recall,
                   "share of chosen objects that were predicted"),
            Metric("informedness", "Informedness", _SUBSET, "choices", informedness,
                   "sensitivity + specificity − 1: 0 is chance", shown=True),
            Metric("auc-roc", "AUC-ROC", _SUBSET, "utilities", auc_roc,
                   "how probably a chosen object beats another one", shown=True),
            Metric("auc-roc-released", "AUC-ROC, released", _SUBSET, "utilities",
                   partial(auc_roc, least=2),
                   "AUC-ROC of tasks with two chosen and two other objects or more, as in the "
                   "code released with the paper"),
            Metric("hamming", "Hamming loss", _SUBSET, "choices", hamming,
                   "share of objects predicted wrongly", higher_is_better=False),
            Metric("log-loss", "Log-loss", frozenset(Kind), "probabilities", log_loss,
                   "−log of the probability of what was chosen; per object in subset choice",
                   higher_is_better=False, shown=True),
        )
    },
    more=[Plugins("metric", "cschoice.metrics", _of_plugin, lambda: METRICS.written)],
)  # fmt: skip


# The measure that is tuned for and compared first.
TARGETS: Mapping[Kind, str] = {Kind.SINGLETON: "accuracy", Kind.SUBSET: "f1"}
# The measure of probabilities, which stands beside the target.
BESIDE_TARGET = "log-loss"


def shown_metrics(kind: Kind) -> list[str]:
    """Return the metrics of a kind of choice that have a column in reports, the target first.

    >>> shown_metrics(Kind.SINGLETON)
    ['accuracy', 'top-3', 'top-5', 'log-loss']
    """
    own = [name for name, row in METRICS.items() if row.shown and kind in row.kinds]
    return list(dict.fromkeys([TARGETS[kind], *own]))


def headline(measured: Collection[str]) -> list[str]:
    """Return the metrics to show where there is room for two: the target and the log-loss.

    Where the target was not measured, the first metric that was stands in for it.

    >>> headline({"log-loss", "top-3", "accuracy"}), headline({"normalized-accuracy"})
    (['accuracy', 'log-loss'], ['normalized-accuracy'])
    """
    first = [name for name in (*TARGETS.values(), *METRICS) if name in measured][:1]
    beside = [BESIDE_TARGET] if BESIDE_TARGET in measured else []
    return list(dict.fromkeys([*first, *beside]))


def metric(name: str) -> Metric:
    """Return the metric of that name; ``top-k`` exists for every k.

    >>> metric("top-7").name
    'top-7'
    """
    match = re.fullmatch(r"top-([1-9]\d*)", name)
    if match:
        return _top(int(match[1]))
    try:
        return METRICS[name]
    except UnknownName as error:
        raise UnknownName(f"{error}, top-k for any k") from None
