"""Everything that is said of a fitted model and its data, computed in one go."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.explanations.decisions import Decision, check_number, decision, striking
from cschoice.explanations.dependence import Grid, dependence
from cschoice.explanations.features import FeatureGroup, differing, feature_groups
from cschoice.explanations.gain import Gain, Refits, label_of, refit
from cschoice.explanations.halo import influences, orders
from cschoice.explanations.importance import importance, loss_name
from cschoice.explanations.objects import Objects, objects_of
from cschoice.explanations.relations import Relation, relations
from cschoice.explanations.sets import Values, sample
from cschoice.explanations.sources import repeated
from cschoice.explanations.structures import Structure, structure
from cschoice.explanations.support import Support, support
from cschoice.explanations.triples import (
    Directions,
    Triples,
    added,
    directions_of,
    model_directions,
    moved,
    triples,
)
from cschoice.explanations.uncertainty import Measured, jackknife, measured, over_folds
from cschoice.learners.learner import Learner
from cschoice.seeding import seed_for
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.given import check_tasks

Progress = Callable[[str], object]

_MOST_ENTRIES = 6_000  # objects of the sets that effects are averaged over
_CURVES = 4  # features with partial dependence


@dataclass(frozen=True)
class About:
    """The model and the data that are explained."""

    model: str  # the label of the learner
    dataset: str
    kind: Kind
    probabilistic: bool
    folds: int  # of the copies that intervals come from; 0 for none
    n_averaged: int  # sets that effects are averaged over
    weighted: bool = False  # whether tasks have weights that only fits count

    @property
    def unit(self) -> str:
        """The unit of effects."""
        return "log-odds" if self.probabilistic else "utility"


@dataclass(frozen=True)
class TripleEffect:
    """One of the effects of three objects, over all sets that have such a triple."""

    triples: Triples
    added: Measured | None  # one value: the mean over triples
    moved: Measured | None
    changes: Values  # of each triple, as the third object is added or, if that is main, moved
    moves: bool  # whether the data lack the sets without a third object: moving is the measure

    @property
    def main(self) -> Measured | None:
        """The measure that needs no sets of a size that the data do not have."""
        return self.moved if self.moves else self.added


@dataclass(frozen=True)
class Curve:
    """Partial dependence on one feature, with intervals; (values, names)."""

    grid: Grid
    own: Measured
    rival: Measured


@dataclass(frozen=True)
class Explanation:
    """The answers about one model; the report lays them out."""

    about: About
    support: Support
    objects: Objects
    gain: Gain | None
    matrix: Measured  # influences by name: of (rows), by (columns)
    meetings: NDArray[np.int64]  # sets averaged over that have both
    orders: Measured
    relations: tuple[Relation, ...]
    structure: Structure | None
    directions: Directions
    declared: bool
    triples: tuple[TripleEffect, ...]
    features: tuple[str, ...]  # whose importance was measured
    importance: Measured | None  # (features, roles): own, rivals'
    loss: str
    curves: tuple[Curve, ...]
    decisions: tuple[Decision, ...]


def explain(
    learner: Learner,
    tasks: ChoiceTasks,
    *,
    dataset: str = "the data",
    better: Mapping[str, str] | None = None,
    decisions: Sequence[int] = (),
    folds: int = 5,
    seed: int = 0,
    progress: Progress = lambda _: None,
) -> Explanation:
    """Explain a fitted learner on the tasks it was fitted on.

    ``better`` declares which values of features are better, ``{"price": "low"}``; without it the
    model is asked. ``decisions`` are numbers of tasks that are explained one by one; without any,
    the one in which rivals matter most is. ``folds`` copies of the learner, fitted without a part
    of the tasks each, show how sure all of it is, and what context adds to predictions; 0 does
    without.
    """
    learner.utilities(check_tasks(tasks)[:1])  # refuses a learner that does not fit the tasks
    if folds == 1 or folds < 0:
        raise InvalidParameter(f"folds must be 0 or at least 2, got {folds}")
    if (tasks.sizes < 2).all():
        raise InvalidTasks(["every task has one object: there is no context to explain"])
    declared = directions_of(better, tasks.feature_names) if better else None
    for number in decisions:  # a wrong one is found before long computations
        check_number(tasks, number)
    fitted, every = Refits((), None), repeated(tasks)
    if folds:
        fitted = refit(learner, every, folds, seed, progress)
    explainer = _Explainer(learner, every, fitted, declared, seed, progress)
    return explainer.explanation(dataset, explainer.decisions(tasks, decisions))


class _Explainer:
    """One explanation in the making: the model, its copies, and the sets that are averaged over."""

    def __init__(
        self,
        learner: Learner,
        tasks: ChoiceTasks,
        fitted: Refits,
        declared: Directions | None,
        seed: int,
        progress: Progress,
    ) -> None:
        self.learner, self.tasks, self.fitted = learner, tasks, fitted
        self.seed, self.progress = seed, progress
        self.all_objects = objects_of(tasks, seed)
        numbers = sample(tasks, _MOST_ENTRIES, seed_for(seed, "sets"))
        self.some = tasks[numbers]
        self.objects = self.all_objects.of(tasks.entries(numbers))
        self.declared = declared
        self.directions = declared or model_directions(learner, self.some)

    def explanation(self, dataset: str, decisions: Iterable[Decision]) -> Explanation:
        """Compute one part after the other."""
        some, objects = self.some, self.objects
        self.progress("who helps and who hurts whom")
        groups = differing(feature_groups(some), some)
        found = influences(self.learner, some)
        return Explanation(
            about=About(
                label_of(self.learner),
                dataset,
                self.tasks.kind,
                self.learner.probabilistic,
                len(self.fitted.folds),
                len(some),
                self.tasks.weights is not None,
            ),
            support=support(self.tasks, self.all_objects),
            objects=objects,
            gain=self.fitted.gain,
            matrix=self._measured(lambda one: influences(one, some).by_names(objects)),
            meetings=found.meetings(objects),
            orders=self._measured(lambda one: orders(one, some, self.seed)),
            relations=tuple(relations(some, found, self.directions)),
            structure=structure(self.learner, self.tasks, some, objects),
            directions=self.directions,
            declared=self.declared is not None,
            triples=tuple(self._triples()),
            features=tuple(group.name for group in groups if not group.is_identity),
            importance=self._importance(groups),
            loss=loss_name(self.learner, some),
            curves=tuple(self._curves(groups)),
            decisions=tuple(decisions),
        )

    def _measured(self, quantity: Callable[[Learner], Values]) -> Measured:
        return measured(self.learner, self.fitted.copies, quantity)

    def _triples(self) -> Iterator[TripleEffect]:
        """Yield the effects of the triples in the data, which need declared directions."""
        if self.declared is None:
            return
        self.progress("attraction, compromise and similarity")
        for found in triples(self.tasks, self.declared, self.seed):
            if len(found.entries) == 0:
                yield TripleEffect(found, None, None, np.zeros(0), moves=False)
                continue
            yield self._effect(found, self.declared)

    def _effect(self, found: Triples, directions: Directions) -> TripleEffect:
        """Return the means over triples, as the third object is added and as it is moved."""
        tasks, learner = self.tasks, self.learner
        moves = not set(tasks.sizes[found.sets] - 1) <= set(tasks.sizes)
        return TripleEffect(
            found,
            self._measured(lambda one: _mean(added(one, tasks, found))),
            self._measured(lambda one: _mean(moved(one, tasks, found, directions))),
            moved(learner, tasks, found, directions) if moves else added(learner, tasks, found),
            moves,
        )

    def _importance(self, groups: Sequence[FeatureGroup]) -> Measured | None:
        """Return the loss by permuting features, of copies on the tasks they have not seen."""
        groups = [group for group in groups if not group.is_identity]
        if not groups:
            return None
        parts = []
        for place, one in enumerate(self.fitted.folds):
            self.progress(f"importance of features: {place + 1} of {len(self.fitted.folds)}")
            numbers = sample(one.test, _MOST_ENTRIES, seed_for(self.seed, "test", fold=place))
            held_out = one.test[numbers]
            named = objects_of(held_out, self.seed)
            parts.append(importance(one.learner, held_out, named, groups, self.seed))
        if not parts:
            return jackknife(
                importance(self.learner, self.some, self.objects, groups, self.seed), []
            )
        return over_folds(parts)

    def _curves(self, groups: Sequence[FeatureGroup]) -> Iterator[Curve]:
        """Yield the curves of the first features that are numbers."""
        grids = [grid for group in groups if (grid := Grid.of(self.some, group))]
        numbers = sample(self.some, _MOST_ENTRIES // 4, self.seed)
        some, objects = self.some[numbers], self.objects.of(self.some.entries(numbers))
        for grid in grids[:_CURVES]:
            self.progress(f"dependence on {grid.group.name}")
            yield self._curve(grid, some, objects)

    def _curve(self, grid: Grid, some: ChoiceTasks, objects: Objects) -> Curve:
        both = self._measured(lambda one: dependence(one, some, objects, grid))
        return Curve(grid, both.at(0), both.at(1))

    def decisions(self, tasks: ChoiceTasks, numbers: Sequence[int]) -> Iterator[Decision]:
        """Yield the decisions of these tasks, which are numbered as people know them."""
        objects = self.all_objects if tasks is self.tasks else objects_of(tasks, self.seed)
        for number in numbers or [striking(self.learner, tasks, self.seed)]:
            self.progress(f"task {number}")
            yield decision(self.learner, tasks, objects, number, seed=self.seed)


def _mean(values: Values) -> Values:
    return np.atleast_1d(values.mean())
