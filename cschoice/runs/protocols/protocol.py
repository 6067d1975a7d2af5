"""The interface of protocols: settings, a plan of the jobs, and the work of one of them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from cschoice.registry import load
from cschoice.runs.protocols import PROTOCOLS
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Job, Record

MOST = 1_000_000_000  # of anything: more is a slip of the hand
Count = Annotated[int, Field(ge=1, le=MOST)]
Share = Annotated[float, Field(gt=0, le=1)]

# The record that the experiment behind this one has for a job's dataset, learner and fold.
Earlier = Callable[[Job], Record | None]


class Protocol(BaseModel, ABC):
    """A way to plan and to do the jobs of an experiment.

    The fields are its settings: the experiment and the profile may give them under ``settings``
    in experiments.yaml, and every job carries those it was planned with.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tunes: ClassVar[bool] = False  # its records hold parameters for others to build on

    @property
    def builds_on(self) -> str | None:
        """Return the experiment whose records are needed to plan this one."""
        return None

    def problem(self, job: Job) -> str | None:  # noqa: ARG002
        """Return the reason why this protocol cannot do such a job; None if it can."""
        return None

    def plan(self, job: Job, earlier: Earlier) -> Job:  # noqa: ARG002
        """Return the job with every number that matters, and none that does not."""
        return job

    def remark(self, job: Job) -> str | None:  # noqa: ARG002
        """Return a remark that a user should read before the job runs; None if there is none."""
        return None

    @abstractmethod
    def work(self, job: Job, learner: Any, n_train: int) -> float:
        """Return how many tasks the job learns from, over all fits and epochs, to estimate time.

        Predicting a task costs about a third of learning from it.
        """

    @property
    def most_seconds(self) -> float:
        """Return the CPU seconds after which learning ends, however much is left to learn from."""
        return math.inf

    @abstractmethod
    def run(self, context: Context) -> Record:
        """Do the job."""


def protocol_of(job: Job) -> Protocol:
    """Return the protocol of a job, with the job's settings."""
    protocol: Protocol = load(PROTOCOLS[job.protocol])(**job.settings)
    return protocol
