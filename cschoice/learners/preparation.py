"""The steps around a utility: tables to tasks on a scale, and utilities to choices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from cschoice.evaluation.decisions import Decision, Rule, tune_rule
from cschoice.evaluation.expected_f1 import Calibration
from cschoice.seeding import seed_for
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.frames.encoding import Encoding
from cschoice.tasks.scaling import Scaling
from cschoice.tasks.splits import stratified_shuffle_splits

if TYPE_CHECKING:
    from cschoice.learners.learner import Learner

VERSION = 1
_HELD_OUT = 0.1  # share of the tasks on which a threshold is tuned
_ENOUGH = 200  # tasks for a threshold; fewer are held out several times
_MOST_SPLITS = 3


@dataclass(frozen=True)
class Preparation:
    """The steps around the utility of a fitted learner; networks know nothing of them."""

    threshold: float | None = None  # of subset choice
    scaling: Scaling | None = None
    encoding: Encoding | None = None  # None: features are the columns x0, x1, …
    version: int = VERSION
    calibration: Calibration | None = None  # in place of a threshold, to choose by expected F1

    @classmethod
    def with_rule(
        cls, rule: Rule | None, scaling: Scaling | None, encoding: Encoding | None
    ) -> Self:
        """Return the preparation of a learner that chooses by a rule, if choices need one."""
        if isinstance(rule, Calibration):
            return cls(None, scaling, encoding, calibration=rule)
        return cls(rule, scaling, encoding)

    @property
    def rule(self) -> Rule | None:
        """Return the rule of subset choice; None for singleton choice."""
        return self.threshold if self.calibration is None else self.calibration

    def problem(self, kind: Kind, n_features: int) -> str | None:
        """Return the reason why this cannot be of a learner of such tasks; None if it can.

        A subset learner that was not fitted for choices, but for its utilities, has no threshold.
        """
        if self.threshold is not None and (kind is Kind.SINGLETON or math.isnan(self.threshold)):
            return f"threshold {self.threshold} of {kind} choice"
        if self.scaling is not None and (problem := self.scaling.problem(n_features)):
            return f"scaling: {problem}"
        if self.encoding is not None and (problem := self.encoding.problem(kind, n_features)):
            return f"encoding: {problem}"
        return None


def held_out_rule(
    learner: Learner, tasks: ChoiceTasks, seed: int, device: str, decision: Decision
) -> Rule:
    """Return the best rule for tasks that a learner with these parameters has not seen.

    Copies of the learner leave out a tenth of the tasks: one copy, or up to three where a tenth is
    little to tune on. Where there is nothing to hold out, the tasks learned from have to do.
    """
    from sklearn.base import clone

    units = np.arange(len(tasks)) if tasks.groups is None else tasks.groups
    everything = np.arange(len(tasks))
    splits = [(everything, everything)]
    if len(np.unique(units)) > 1:
        n_splits = min(_MOST_SPLITS, -(-_ENOUGH // max(1, round(_HELD_OUT * len(tasks)))))
        split_seed = seed_for(seed, "threshold")
        splits = stratified_shuffle_splits(tasks, n_splits, _HELD_OUT, split_seed)
    unseen = [tasks[held_out] for _, held_out in splits]
    utilities = []
    for (inner, _), part in zip(splits, unseen, strict=True):
        copy: Learner = clone(learner)
        copy.on_epoch = learner.on_epoch
        utilities.append(copy.learn(tasks[inner], seed=seed, device=device).utilities(part))
    return tune_rule(decision, ChoiceTasks.concatenate(unseen), np.concatenate(utilities))
