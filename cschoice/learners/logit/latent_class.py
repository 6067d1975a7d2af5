"""The latent class logit: people belong to classes, and each class has its own coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners.logit.class_likelihood import (
    Classes,
    class_terms,
    em_step,
    log_shares,
    posterior_classes,
)
from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.multinomial import fit_linear
from cschoice.learners.logit.optimization import Vector, minimize
from cschoice.learners.logit.panel import Panel, people_of
from cschoice.learners.logit.softmax import log_softmax, log_sum
from cschoice.seeding import seed_for
from cschoice.space import Dimension, Integer, Limit, Number, Optional, Real, Several, Whole
from cschoice.tasks import ChoiceTasks, Kind

_FEW_STEPS, _STEPS = 15, 60  # of EM: from each start, and from the best
_SMALL = 1e-4  # a gain of log-likelihood that ends EM: the gradient is faster from there


class LatentClassLogit(LogitLearner):
    """A logit model in which people belong to one of a few classes, nobody knows to which.

    ``membership_features`` are features of the chooser that say how probable the classes are; they
    have no part in the utility. People are the groups of the tasks; without groups each task is
    another person's. The likelihood has several maxima: the best of ``n_starts`` searches is kept,
    each by expectation and maximization first, then by its gradient. Classes are ordered by their
    size, the largest first.
    """

    name = "latent-class"
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})
    limits: ClassVar[Mapping[str, Limit]] = {
        "n_classes": Whole(1, 100),
        "membership_features": Optional(Several(Whole(0))),
        "n_starts": Whole(1, 1000),
        "l2": Number(0),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {
        "n_classes": Integer(2, 6),
        "l2": Real(1e-6, 10.0),
    }

    coefficients_: Vector  # (classes, features of the utility)
    membership_: Vector  # (classes − 1, 1 + membership features)

    def __init__(
        self,
        n_classes: int = 2,
        membership_features: Sequence[int] | None = None,
        n_starts: int = 5,
        l2: float = 1e-5,
    ) -> None:
        self.n_classes = n_classes
        self.membership_features = membership_features
        self.n_starts = n_starts
        self.l2 = l2

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        self._check_membership()
        data = self._data(tasks)
        rng = np.random.default_rng(seed_for(seed, "latent-class"))
        penalty = self.penalty(data)
        linear = fit_linear(data.layout, penalty[: self._n_utility()] / data.layout.n_tasks)
        n_starts = self.n_starts if self.n_classes > 1 else 1
        starts = [self._start(data, linear, rng) for _ in range(n_starts)]
        searched = [self._climbed(data, start, penalty, _FEW_STEPS) for start in starts]
        objective = self._penalized(data, penalty)
        best = min(searched, key=lambda at: objective(at)[0])
        best = self._climbed(data, best, penalty, _STEPS)
        scores = self._scores(data, best)
        curvature = scores.T @ scores + np.diag(penalty)
        found = self._by_size(data, minimize(objective, best, curvature))
        self._take(found, -float(self._loss(data, found)[0]))

    def _start(self, data: Classes, linear: Vector, rng: np.random.Generator) -> Vector:
        """Return coefficients around those of one class, and equal shares."""
        noise = rng.normal(size=(self.n_classes, len(linear))) / np.sqrt(len(linear))
        around = linear + 1.5 * (self.n_classes > 1) * noise / data.layout.moments()[1]
        membership = np.zeros((self.n_classes - 1, data.members.shape[1]))
        return np.append(around.ravel(), membership.ravel())

    def _climbed(self, data: Classes, at: Vector, penalty: Vector, n_steps: int) -> Vector:
        """Return parameters after steps of EM, as long as they gain."""
        objective = self._penalized(data, penalty)
        value = objective(at)[0]
        for _ in range(n_steps if self.n_classes > 1 else 0):
            coefficients, membership = self._split(at).values()
            stepped = em_step(data, coefficients, membership, penalty[: self._n_utility()])
            new = np.concatenate([part.ravel() for part in stepped])
            new_value = objective(new)[0]
            if not new_value < value - _SMALL:
                break
            at, value = new, new_value
        return at

    def _by_size(self, data: Classes, at: Vector) -> Vector:
        """Return the parameters with the largest class first."""
        coefficients, membership = self._split(at).values()
        sizes = np.exp(log_shares(data.members, membership)).mean(axis=0)
        order = np.argsort(-sizes, kind="stable")
        whole = np.concatenate([membership, np.zeros((1, membership.shape[1]))])[order]
        return np.append(coefficients[order].ravel(), (whole[:-1] - whole[-1]).ravel())

    def _loss(self, data: Classes, parameters: Values) -> tuple[Any, Values]:
        logs, scores = class_terms(data, *self._split(parameters).values())
        return -logs.sum(), -scores.sum(axis=0)

    def _scores(self, data: Classes, parameters: Vector) -> Vector:
        """Return the gradient of each person's log-likelihood."""
        scores: Vector = class_terms(data, *self._split(parameters).values())[1]
        return scores

    def units(self, tasks: ChoiceTasks) -> NDArray[np.int64] | None:
        """Return the number of each task's person."""
        return None if tasks.groups is None else people_of(tasks)

    def class_shares(self, tasks: ChoiceTasks) -> Matrix:
        """Return each person's chance of each class before choosing, as people appear."""
        shares: Matrix = np.exp(log_shares(self._data(tasks).members, self.membership_))
        return shares

    def posterior_classes(self, tasks: ChoiceTasks) -> Matrix:
        """Return each person's chance of each class given the choices, as people appear."""
        return posterior_classes(self._data(tasks), self.coefficients_, self.membership_)

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        own, of_tasks = self._parted(tasks)
        logs = log_shares(_with_constant(of_tasks), self.membership_)
        layout = TaskLayout(own)
        values = layout.linear(self.coefficients_)
        utilities = np.empty(layout.n_entries)
        for block in layout.blocks:
            view = log_softmax(block.view(values), axis=1)
            view += logs[layout.task_numbers[block.tasks]].T[:, None]
            block.view(utilities)[:] = log_sum(view, axis=0)
        restored: NDArray[np.float64] = layout.restore(utilities)
        return restored

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> Classes:  # noqa: ARG002
        own, of_tasks = self._parted(tasks)
        panel, people = Panel.of(own, self.n_classes), people_of(own)
        members = np.empty((panel.n_people, of_tasks.shape[1]))
        members[people[::-1]] = of_tasks[::-1]  # of the first task of each
        if not np.array_equal(members[people], of_tasks):
            raise InvalidTasks(["features of membership must be the same in all tasks of a person"])
        return Classes(panel, people, _with_constant(members))

    def _parted(self, tasks: ChoiceTasks) -> tuple[ChoiceTasks, Matrix]:
        """Return the tasks without the features of membership, and those, task by task."""
        members = list(self.membership_features or ())
        if not members:
            return tasks, np.empty((len(tasks), 0))
        first = tasks.items[tasks.offsets[:-1]]
        of_tasks = tasks.table[first][:, members].astype(np.float64)
        own = np.delete(tasks.table, members, axis=1)
        return tasks.with_arrays(table=own, encoding=None), of_tasks

    def _n_utility(self) -> int:
        return self.n_features_in_ - len(self.membership_features or ())

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        n_members = 1 + len(self.membership_features or ())
        return {
            "coefficients_": (self.n_classes, self._n_utility()),
            "membership_": (self.n_classes - 1, n_members),
        }

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        n_members = int(np.prod(self._shapes()["membership_"]))
        return np.append(np.tile(by_feature, self.n_classes), np.full(n_members, other))

    def _names(self, features: Sequence[str]) -> list[str]:
        members = list(self.membership_features or ())
        own = [name for number, name in enumerate(features) if number not in members]
        of = ["constant", *(features[number] for number in members)]
        classes = range(1, self.n_classes + 1)
        coefficients = [f"class {number}: {name}" for number in classes for name in own]
        return [
            *coefficients,
            *(f"membership of class {number}: {name}" for number in classes[:-1] for name in of),
        ]

    def _check_membership(self) -> None:
        members = list(self.membership_features or ())
        if members and max(members) >= self.n_features_in_:
            allowed = f"numbers from 0 to {self.n_features_in_ - 1}"
            raise InvalidParameter(f"membership_features must be {allowed}, got {members}")
        if len(members) >= self.n_features_in_:
            raise InvalidParameter("membership_features leave no feature for the utility")


def _with_constant(members: Matrix) -> Matrix:
    return np.column_stack([np.ones(len(members)), members])
