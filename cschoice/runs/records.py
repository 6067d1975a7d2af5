"""The values that travel: what is to be done, what was tried, what came out.

A job contains every number that matters; its key is a hash of everything that can change a
number and of nothing else (not the device, not the executor, not a path, not a profile's name).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

from cschoice.io.documents import from_json as from_json
from cschoice.io.documents import to_json as to_json

# Raise it when the same job would give other numbers than before.
PROTOCOL_VERSION = 9


class State(StrEnum):
    """How a job ended."""

    DONE = "done"
    SKIPPED = "skipped"  # its data are not there: the reason says which
    FAILED = "failed"


class Rung(StrEnum):
    """How much is spent on a trial."""

    SCREEN = "screen"  # a share of the tasks and epochs, see Frugal; of few tasks all
    FULL = "full"  # everything; on one inner split if it is to confirm a screen


class TrialState(StrEnum):
    """How a trial ended."""

    COMPLETE = "complete"
    HOPELESS = "hopeless"  # given up after the first inner split
    FAILED = "failed"


@dataclass(frozen=True)
class Frugal:
    """Spend the budget where it pays: screen all trials cheaply, fit in full what looks better."""

    task_share: float  # of the training tasks
    epoch_share: float  # of the epochs, for learners that have them
    hopeless: float  # a first split this much worse than the best trial ends a trial


@dataclass(frozen=True)
class Budget:
    """How much a job may try."""

    n_trials: int
    n_splits: int = 3
    held_out: float = 0.1
    frugal: Frugal | None = None


class JobName(NamedTuple):
    """Which one of a study's jobs: what tables and folders name it by."""

    profile: str
    experiment: str
    dataset: str
    learner: str
    fold: int

    @property
    def label(self) -> str:
        """Return what people call it."""
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
    variant_of: str | None = None  # the registered learner, where ``learner`` is a study's own name

    def __hash__(self) -> int:
        return hash((self.profile, self.experiment, self.key))

    @property
    def registered(self) -> str:
        """Return the name in LEARNERS of the learner it is about."""
        return self.variant_of or self.learner

    @property
    def name(self) -> JobName:
        """Return which one of a study's jobs it is, whatever it is made of."""
        return JobName(self.profile, self.experiment, self.dataset, self.learner, self.fold)

    @property
    def label(self) -> str:
        """Return the name people know it by."""
        return self.name.label

    @cached_property
    def key(self) -> str:
        """Return what identifies the numbers this job gives."""
        content = asdict(self) | {"version": PROTOCOL_VERSION}
        content["learner"] = self.registered  # what a variant is called changes nothing
        del content["profile"], content["experiment"], content["variant_of"]
        return hashlib.blake2b(to_json(content).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Trial:
    """One set of hyperparameters that was tried."""

    number: int
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
    """What came out of a job. ``seconds`` and ``environment`` may differ between equal runs."""

    key: str
    state: State
    reason: str | None = None
    kind: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    threshold: float | None = None
    metrics: Mapping[str, float | None] = field(default_factory=dict)
    n_trials: int = 0
    seconds: float = 0.0  # CPU time of all trials and the final fits
    environment: Mapping[str, str] = field(default_factory=dict)
    curves: Sequence[Curve] = field(default_factory=list)
