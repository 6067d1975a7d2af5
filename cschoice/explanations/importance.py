"""Permutation importance: the loss when an object's, or its rivals', feature is another's.

An object's feature matters in two ways: for the object itself and for the others, as a part of
their context. Each object is judged by itself: its utility is computed with its own value
permuted, its rivals' as they are, or the other way round, or both. Values are permuted among
objects of one name, so that a train gets the price of another train.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cschoice.evaluation.decisions import choose, probabilities
from cschoice.evaluation.metrics import METRICS, TARGETS
from cschoice.explanations.features import FeatureGroup
from cschoice.explanations.objects import Objects
from cschoice.explanations.sets import Entries, Values, by_size, utilities, utilities_with
from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks

OWN, RIVALS = "own", "rivals"
ROLES = (OWN, RIVALS)


def loss_name(learner: Learner, tasks: ChoiceTasks) -> str:
    """Return the metric that importance is measured by: log-loss where there are probabilities."""
    return "log-loss" if learner.probabilistic else TARGETS[tasks.kind]


def loss(learner: Learner, tasks: ChoiceTasks, found: Values) -> float:
    """Return the loss of utilities: larger is worse."""
    if learner.probabilistic:
        return METRICS["log-loss"](tasks, probabilities(tasks, found))
    metric = METRICS[TARGETS[tasks.kind]]
    if metric.needs == "utilities":
        return -metric(tasks, found)
    return -metric(tasks, choose(tasks, found, learner.preparation_.rule))


def importance(
    learner: Learner,
    tasks: ChoiceTasks,
    objects: Objects,
    groups: Sequence[FeatureGroup],
    seed: int = 0,
) -> Values:
    """Return the growth of the loss as each feature is permuted, (features, own and rivals')."""
    rng = np.random.default_rng(seed)
    before = loss(learner, tasks, utilities(learner, tasks))
    rows = []
    for group in groups:
        donors = _permuted_within(objects.codes, rng)
        rows.append(
            [
                loss(learner, tasks, _seen_by_each(learner, tasks, group, donors, role)) - before
                for role in ROLES
            ]
        )
    return np.array(rows).reshape(-1, len(ROLES))


def _permuted_within(codes: Entries, rng: np.random.Generator) -> Entries:
    """Return for each entry another one of the same name, each once."""
    order = np.lexsort((rng.random(len(codes)), codes))
    donors = np.empty_like(order)
    donors[np.argsort(codes, kind="stable")] = order
    return donors


def _seen_by_each(
    learner: Learner, tasks: ChoiceTasks, group: FeatureGroup, donors: Entries, role: str
) -> Values:
    """Return each object's utility when its own, or all its rivals', values are permuted."""
    columns = list(group.columns)
    found = np.empty(tasks.n_entries)
    features = tasks.features
    permuted = features.copy()
    permuted[:, columns] = features[donors][:, columns]
    for same in by_size(tasks):
        n = same.n_objects
        own = np.eye(n, dtype=bool)
        changed = own if role == OWN else ~own
        entries = same.entries[:, None, :]  # one set for each of its objects
        sets = np.where(changed[None, :, :, None], permuted[entries], features[entries])
        seen = utilities_with(learner, tasks, sets)  # (tasks, seen by, objects)
        found[same.entries] = np.diagonal(seen, axis1=1, axis2=2)
    return found
