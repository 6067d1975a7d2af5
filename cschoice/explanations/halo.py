"""Halo effects: changes in the utilities of objects by the presence of another one.

By inclusion and exclusion, u_j(S) is the sum of v_j(T) over all T ⊆ S without j, with
v_j(T) = Σ_{R ⊆ T} (−1)^{|T|−|R|} u_j(R ∪ {j}). Only differences of utilities show in choices:
α_jk(T) = [v_j(T) + v_j(T ∪ {k})] − [v_k(T) + v_k(T ∪ {j})] is identified, and the log-odds of j
over k in S are the sum of α_jk(T) over all T ⊆ S without j and k. The order of an effect is |T|:
order 0 is the pair by itself, order 1 what single rivals change in it, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.explanations.objects import Objects
from cschoice.explanations.sets import (
    Entries,
    SameSize,
    Values,
    by_size,
    subsets,
    utilities_of,
    without_each,
)
from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks, Kind

_MOST_OBJECTS = 5  # of a set whose effects are told apart by order
_ORDERS = 3  # pair, single rivals, pairs of rivals; what is left is of higher orders


@dataclass(frozen=True)
class Influences:
    """The changes by each object of a set in each other one, as it joins the rest of the set.

    One row per pair of objects of a set: ``effect`` is the change in the utility of ``of`` when
    ``by`` joins, for singleton choice relative to the mean of the others, where only differences
    show; orders of all sizes together.
    """

    of: Entries  # entry numbers
    by: Entries
    effect: Values
    task: Entries

    def by_names(self, objects: Objects) -> Values:
        """Return the mean effect (of, by) over the sets that have both; NaN where none has."""
        n = len(objects.names)
        cells = objects.codes[self.of] * n + objects.codes[self.by]
        counts = np.bincount(cells, minlength=n * n).astype(float)
        sums = np.bincount(cells, self.effect, minlength=n * n)
        with np.errstate(invalid="ignore"):
            return np.asarray((sums / counts).reshape(n, n))

    def meetings(self, objects: Objects) -> NDArray[np.int64]:
        """Return in how many sets the objects of two names meet, (of, by)."""
        n = len(objects.names)
        cells = objects.codes[self.of] * n + objects.codes[self.by]
        met = np.unique(np.stack([cells, self.task]), axis=1)[0]
        return np.bincount(met, minlength=n * n).reshape(n, n)


def influences(learner: Learner, tasks: ChoiceTasks) -> Influences:
    """Return the effects of all objects on all others of their sets.

    Singleton choice needs a third object, to which the others are compared.
    """
    relative = tasks.kind is Kind.SINGLETON
    parts = [
        _influences(learner, tasks, same, relative)
        for same in by_size(tasks, smallest=3 if relative else 2)
    ]
    if not parts:
        nothing = np.zeros(0, dtype=np.int64)
        return Influences(nothing, nothing, np.zeros(0), nothing)
    return Influences(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _influences(
    learner: Learner, tasks: ChoiceTasks, same: SameSize, relative: bool
) -> tuple[Entries, Entries, Values, Entries]:
    n = same.n_objects
    whole = utilities_of(learner, tasks, same.entries)
    others = without_each(same.entries)  # (tasks, by, of)
    change = whole_of(whole, others, same) - utilities_of(learner, tasks, others)
    if relative:  # to the mean of the remaining n − 2
        total = change.sum(2, keepdims=True)
        change = change - (total - change) / (n - 2)
    by = np.broadcast_to(same.entries[:, :, None], others.shape)
    task = np.broadcast_to(same.numbers[:, None, None], others.shape)
    return others.ravel(), by.ravel(), change.ravel(), task.ravel()


def whole_of(whole: Values, others: Entries, same: SameSize) -> Values:
    """Return the utilities in whole sets of the objects that are left when one is left out."""
    places = others - same.entries[:, :1, None]
    return np.asarray(np.take_along_axis(whole[:, None, :], places, axis=2))


def halo(learner: Learner, tasks: ChoiceTasks, of: Entries, rivals: Entries) -> Values:
    """Return v_j(T) of objects j with sets T of rivals, by inclusion and exclusion.

    ``of`` are entries (n,), ``rivals`` the entries of T, (n, |T|).
    """

    def with_(some: Entries) -> Values:
        sets = np.concatenate([of[:, None], rivals[:, some]], axis=1)
        return utilities_of(learner, tasks, sets)[:, 0]

    return _alternating(with_, rivals.shape[1])


def relative_halo(
    learner: Learner, tasks: ChoiceTasks, first: Entries, second: Entries, rivals: Entries
) -> Values:
    """Return α_jk(T), the change of the log-odds of j over k by the rivals T together.

    The sum of the definition collapses: α_jk(T) = Σ_{R ⊆ T} (−1)^{|T|−|R|} [u_j − u_k](R ∪ {j, k}).
    """

    def with_(some: Entries) -> Values:
        sets = np.concatenate([first[:, None], second[:, None], rivals[:, some]], axis=1)
        found = utilities_of(learner, tasks, sets)
        return np.asarray(found[:, 0] - found[:, 1])

    return _alternating(with_, rivals.shape[1])


def _alternating(value: Callable[[Entries], Values], n: int) -> Values:
    """Return Σ_{R ⊆ T} (−1)^{|T|−|R|} value(R) over the subsets of n rivals."""
    return np.asarray(
        sum((-1) ** (n - size) * value(some) for size in range(n + 1) for some in subsets(n, size))
    )


def orders(learner: Learner, tasks: ChoiceTasks, seed: int = 0) -> Values:
    """Return how much of the log-odds of two objects is due to effects of each order.

    Root mean squares over pairs of objects, one pair of each set of three to five, of the sum of
    all effects of order 0, of order 1, of order 2, and of all higher ones; nothing without such
    sets. In larger sets sums of alternating signs, of sets much smaller than the data's, cancel
    each other and say little.
    """
    rng = np.random.default_rng(seed)
    sizes = (same for same in by_size(tasks, smallest=3) if same.n_objects <= _MOST_OBJECTS)
    parts = [_orders(learner, tasks, same, rng) for same in sizes]
    if not parts:
        return np.zeros(0)
    return np.asarray(np.sqrt(np.mean(np.concatenate(parts) ** 2, axis=0)))


def _orders(
    learner: Learner, tasks: ChoiceTasks, same: SameSize, rng: np.random.Generator
) -> Values:
    """Return the sums of effects of each order for one pair of each set, (pairs, orders + 1)."""
    n_rivals = same.n_objects - 2
    chosen = [subsets(n_rivals, size) for size in range(min(n_rivals, _ORDERS - 1) + 1)]
    shuffled = rng.permuted(same.entries, axis=1)
    pair, rivals = shuffled[:, :2], shuffled[:, 2:]

    def odds(sets: Entries) -> Values:
        found = utilities_of(learner, tasks, sets)
        return np.asarray(found[..., 0] - found[..., 1])

    sums = []  # over all subsets of one size, of the log-odds beside them
    for some in chosen:
        beside = np.repeat(pair[:, None, :], len(some), axis=1)
        sums.append(odds(np.concatenate([beside, rivals[:, some]], axis=2)).sum(1))
    totals = np.zeros((len(shuffled), _ORDERS + 1))
    totals[:, 0] = sums[0]
    if n_rivals >= 1:
        totals[:, 1] = sums[1] - n_rivals * sums[0]
    if n_rivals >= 2:  # each rival is in n − 1 pairs of them
        pairs = n_rivals * (n_rivals - 1) / 2
        totals[:, 2] = sums[2] - (n_rivals - 1) * sums[1] + pairs * sums[0]
    if n_rivals >= 3:
        totals[:, 3] = odds(shuffled) - totals[:, :3].sum(1)
    return totals


def first_order(learner: Learner, tasks: ChoiceTasks, objects: Objects) -> Values:
    """Return the mean of v_j({k}) by name (of, by): FETA's U₁ as it is."""
    parts = []
    for same in by_size(tasks, smallest=2):
        others = without_each(same.entries)
        by = np.broadcast_to(same.entries[:, :, None], others.shape)
        parts.append((others.ravel(), by.ravel()))
    if not parts:
        return np.full((len(objects.names),) * 2, np.nan)
    of, by = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    effect = halo(learner, tasks, of, by[:, None])
    return Influences(of, by, effect, of).by_names(objects)
