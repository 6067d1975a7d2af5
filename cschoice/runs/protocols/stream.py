"""An endless stream: networks that see no task twice, tested after each epoch (fig:plot_unique).

An epoch is ``n_batches`` batches of fresh tasks. (The paper does not say how many. With one
batch, of 1,024 tasks, the networks need about as many epochs as in its figure.)
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import replace
from typing import Any

from cschoice.datasets import make_dataset
from cschoice.errors import InvalidFile
from cschoice.evaluation.metrics import TARGETS, metric
from cschoice.learners.preparation import Preparation
from cschoice.runs.job_files import CHECKPOINT
from cschoice.runs.protocols import checkpoints
from cschoice.runs.protocols.checkpoints import Checkpoint, CurveSoFar
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.fitting import (
    check_utilities,
    new_learner,
    not_a_network,
    not_generated,
    seed_of,
    without,
)
from cschoice.runs.protocols.protocol import Count, Earlier, Protocol, Share
from cschoice.runs.records import Budget, Curve, Job, Record
from cschoice.tasks import ChoiceTasks, Kind

METRIC = TARGETS[Kind.SINGLETON]
_BETWEEN_CHECKPOINTS = 2.0  # seconds: what a kill costs at most, where epochs are short


class Stream(Protocol):
    """One network on fresh tasks, for as many epochs as its learner has."""

    n_batches: Count = 1  # in an epoch, of the learner's batch_size
    n_test: Count = 10_000  # fresh tasks on which it is tested after each epoch
    epoch_share: Share = 1.0  # of the learners' epochs: less for a quick look

    def problem(self, job: Job) -> str | None:
        """Refuse tasks that come to an end, and learners that need them all at once."""
        why = "a stream is learned epoch by epoch"
        return not_a_network(job, why) or not_generated(job.dataset)

    def plan(self, job: Job, earlier: Earlier) -> Job:  # noqa: ARG002
        """Leave out numbers of tasks and tuning, which a stream does not have."""
        parameters = without(job.dataset_parameters, "n_train", "n_test")
        return replace(
            job, budget=Budget(0), space={}, dataset_parameters=parameters, threshold_refit=True
        )

    def work(self, job: Job, learner: Any, n_train: int) -> float:  # noqa: ARG002
        """Count batches and tests."""
        n_tasks: float = self.n_batches * learner.batch_size + self.n_test / 3
        return self._n_epochs(learner) * n_tasks

    def run(self, context: Context) -> Record:
        """Learn and test, epoch by epoch, from where an earlier process left off."""
        from cschoice.nets.batches import TaskTensors

        job, path = context.job, context.folder / CHECKPOINT
        source: Any = make_dataset(job.dataset, **job.dataset_parameters)
        learner: Any = new_learner(job)
        learner.set_params(epochs=self._n_epochs(learner))

        def draw(purpose: str, n_tasks: int, epoch: int) -> ChoiceTasks:
            tasks: ChoiceTasks = source.sample(n_tasks, seed_of(job, purpose, epoch=epoch))
            return tasks

        n_tasks = self.n_batches * learner.batch_size
        first = draw("stream", n_tasks, 0)
        trainer, before = _begin(context, learner, first)
        values = list(before.values)
        started, kept = time.process_time() - before.seconds, -math.inf
        while trainer.n_epochs < learner.epochs:
            tasks = draw("stream", n_tasks, trainer.n_epochs)
            row = trainer.epoch(TaskTensors(tasks, learner.network_))
            test = draw("stream-test", self.n_test, trainer.n_epochs)
            utilities = learner.utilities(test)
            values.append(metric(METRIC)(test, utilities))
            if trainer.n_epochs == learner.epochs:
                check_utilities(job, test, utilities)
            context.tell({"event": "epoch", **row, METRIC: values[-1]})
            if time.monotonic() - kept > _BETWEEN_CHECKPOINTS:
                progress = CurveSoFar(values, time.process_time() - started)
                context.check()
                Checkpoint(trainer.state(), progress).write(path)
                kept = time.monotonic()
        context.save(learner, Preparation())
        return context.done(
            first,
            self.n_test,
            params=job.learner_parameters,
            metrics={METRIC: values[-1]},
            seconds=time.process_time() - started,
            curves=[Curve("epoch", METRIC, list(range(1, len(values) + 1)), values)],
        )

    def _n_epochs(self, learner: Any) -> int:
        epochs: int = learner.epochs
        return max(1, round(self.epoch_share * epochs))


def _begin(context: Context, learner: Any, first: ChoiceTasks) -> tuple[Any, CurveSoFar]:
    """Return the training and its measurements so far, from the checkpoint if there is one."""
    seed = seed_of(context.job, "stream", learner=learner.name)
    checkpoint = checkpoints.read(context.folder / CHECKPOINT)
    if checkpoint is not None:
        trainer = learner.trainer(first, seed=seed, device=context.device)
        with suppress(InvalidFile):  # as good as none
            trainer.restore(checkpoint.arrays, len(checkpoint.progress.values))
            return trainer, checkpoint.progress
    return learner.trainer(first, seed=seed, device=context.device), CurveSoFar()
