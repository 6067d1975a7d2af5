"""The values that travel through a study: jobs, trials, records.

A job contains every number that matters; its key is a hash of everything that can change a
number and of nothing else (not the device, not the executor, not a path, not a profile's name).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from cschoice.io.documents import to_json

# Raise it when the same job would give other numbers than before.
PROTOCOL_VERSION = 9

Count = Annotated[int, Field(ge=0, lt=2**63)]  # as tables hold it


class State(StrEnum):
    """The end of a job."""

    DONE = "done"
    SKIPPED = "skipped"  # its data are not there: the reason says which
    FAILED = "failed"


class Rung(StrEnum):
    """The cost of a trial."""

    SCREEN = "screen"  # a share of the tasks and epochs, see Frugal; all of them where few
    FULL = "full"  # all tasks and epochs; on one inner split if it confirms a screen


class TrialState(StrEnum):
    """The end of a trial."""

    COMPLETE = "complete"
    HOPELESS = "hopeless"  # given up after the first inner split
    FAILED = "failed"


@dataclass(frozen=True)
class Ensemble:
    """Many models in place of one: each leaves out another share of the training tasks."""

    n_members: int = 20
    held_out: float = 0.25  # share; large, so that nearly every task is new to several members


@dataclass(frozen=True)
class Frugal:
    """Cheap screens of all trials; only a promising one is fitted in full."""

    task_share: float  # of the training tasks
    epoch_share: float  # of the epochs, for learners that have them
    hopeless: float  # a first split this much worse than the best trial ends a trial
    clear_gain: float = 0.01  # in accuracy or F1: a screen must beat the defaults by more
    few_tasks: int = 1_450  # up to so many training tasks, screens are full fits
    ensemble: Ensemble = Ensemble()  # predicts subset choice where tasks are few


@dataclass(frozen=True)
class Budget:
    """The number of trials of a job, and the cost of each."""

    n_trials: int
    n_splits: int = 3
    held_out: float = 0.1
    frugal: Frugal | None = None
    n_spread: int = 10  # trials spread evenly before the Gaussian process proposes; at most half
    # The search ends when no trial is expected to gain so many standard errors; 0: never early.
    least_gain: float = 0.0


class JobName(NamedTuple):
    """The name of a job in a study, in its tables and in its folders."""

    profile: str
    experiment: str
    dataset: str
    learner: str
    fold: int

    @property
    def label(self) -> str:
        """Return the name that people know it by."""
        return f"{self.dataset}/{self.learner}/fold-{self.fold}"


@dataclass(frozen=True)
class Job:
    """One learner on one fold of one dataset under one protocol."""

    profile: str
    experiment: str
    protocol: str
    dataset: str
    learner: str
    fold: int
    seed: int
    budget: Budget
    dataset_parameters: Mapping[str, Any] = field(default_factory=dict)
    learner_parameters: Mapping[str, Any] = field(default_factory=dict)
    space: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # narrows the learner's
    threshold_refit: bool = True
    threads: int = 1  # the number of threads changes the last digits, so it belongs to the job
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the protocol
    # Of a learner or dataset of another package: its place, version and hash.
    sources: Mapping[str, str] = field(default_factory=dict)
    variant_of: str | None = None  # the registered learner, where ``learner`` is a study's own name

    def __hash__(self) -> int:
        return hash((self.profile, self.experiment, self.key))

    @property
    def registered(self) -> str:
        """Return the name of the job's learner in LEARNERS."""
        return self.variant_of or self.learner

    @property
    def name(self) -> JobName:
        """Return the job's name, which does not depend on its settings."""
        return JobName(self.profile, self.experiment, self.dataset, self.learner, self.fold)

    @property
    def label(self) -> str:
        """Return the name that people know it by."""
        return self.name.label

    @cached_property
    def key(self) -> str:
        """Return a hash of everything that can change this job's numbers."""
        content = asdict(self) | {"version": PROTOCOL_VERSION}
        content["learner"] = self.registered  # a variant's own name changes no number
        del content["profile"], content["experiment"], content["variant_of"]
        if not self.sources:  # as keys were before other packages could bring anything
            del content["sources"]
        content["budget"] = _without_added_fields(self.budget)
        return hashlib.blake2b(to_json(content).encode(), digest_size=16).hexdigest()


def _without_added_fields(budget: Budget) -> dict[str, Any]:
    """Return a budget without fields that this version of the protocol once had as constants.

    Where they still have that value, keys are those of results from before they were fields.
    """
    content = asdict(budget)
    parts: list[tuple[dict[str, Any], str, Any]] = [
        (content, "n_spread", 10),
        (content, "least_gain", 0.0),
    ]
    if frugal := content["frugal"]:
        constants = {"clear_gain": 0.01, "few_tasks": 1_450, "ensemble": asdict(Ensemble(20, 0.25))}
        parts += [(frugal, name, value) for name, value in constants.items()]
    for part, name, constant in parts:
        if part[name] == constant:
            del part[name]
    return content


@dataclass(frozen=True)
class Trial:
    """One set of hyperparameters that was tried."""

    number: Count
    rung: Rung
    params: Mapping[str, Any]
    losses: Sequence[float]  # one per inner split that was fitted
    state: TrialState
    seconds: float  # CPU time
    error: str | None = None

    @property
    def loss(self) -> float | None:
        """Return the mean over the splits; None if there is none."""
        return sum(self.losses) / len(self.losses) if self.losses else None


@dataclass(frozen=True)
class Curve:
    """A metric along an axis, such as accuracy over epochs; None where it is not defined."""

    axis: str
    metric: str
    x: Sequence[float]
    values: Sequence[float | None]


@dataclass(frozen=True)
class Record:
    """The result of a job. ``seconds`` and ``environment`` may differ between equal runs."""

    key: str
    state: State
    reason: str | None = None
    kind: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    n_trials: Count = 0
    seconds: float = 0.0  # CPU time of all trials and the final fits
    environment: Mapping[str, str] = field(default_factory=dict)
    n_train: Count | None = None  # tasks of the fold; None where not recorded
    n_test: Count | None = None
    n_features: Count | None = None
    smallest: Count | None = None  # number of objects in the smallest and largest task of the fold
    largest: Count | None = None
    sample: str | None = None  # which part of the paper's data was there, if not all of them
    curves: Sequence[Curve] = field(default_factory=list)
