"""Quality over CPU time: one network on the tasks of a fold, tested as it learns.

For comparing recipes of training at equal cost. The values after each epoch are the same in every
run, the times are not.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from cschoice.datasets import make_dataset
from cschoice.evaluation.decisions import choose, tune_threshold
from cschoice.evaluation.metrics import TARGETS, metric
from cschoice.learners.preparation import Preparation
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.fitting import (
    check_utilities,
    fold_of,
    new_learner,
    not_a_network,
    seed_of,
)
from cschoice.runs.protocols.protocol import Count, Earlier, Protocol
from cschoice.runs.records import Budget, Curve, Job, Record
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.splits import stratified_shuffle_splits

_N_TESTS = 50  # at most, in the time there is: more would cost more than learning


class Convergence(Protocol):
    """One network, until its epochs or the ``seconds`` are over; tests are not counted."""

    seconds: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 60.0  # of CPU time
    n_test: Count = 5_000  # of the test tasks of the fold

    def problem(self, job: Job) -> str | None:
        """Refuse learners that do not learn step by step."""
        return not_a_network(job, "it does not converge epoch by epoch")

    def plan(self, job: Job, earlier: Earlier) -> Job:  # noqa: ARG002
        """Leave out tuning and the second fit."""
        budget = Budget(0, held_out=job.budget.held_out)
        return replace(job, budget=budget, space={}, threshold_refit=True)

    def work(self, job: Job, learner: Any, n_train: int) -> float:  # noqa: ARG002
        """Count epochs and tests."""
        n_tests = min(_N_TESTS, learner.epochs)
        n_tasks: float = learner.epochs * n_train + n_tests * self.n_test / 3
        return n_tasks

    @property
    def most_seconds(self) -> float:
        """Return the ``seconds``."""
        return self.seconds

    def run(self, context: Context) -> Record:
        """Learn and test; for subset choice with the threshold that held-out tasks ask for."""
        from cschoice.nets.batches import TaskTensors

        job, begun = context.job, time.process_time()
        source = make_dataset(job.dataset, **job.dataset_parameters)
        train, test, scaling = fold_of(job, source)
        name = TARGETS[train.kind]
        share, seed = job.budget.held_out, seed_of(job, "threshold")
        ((inner, outer),) = stratified_shuffle_splits(train, 1, share, seed)
        learned, held_out, test = train[inner], train[outer], test[: self.n_test]
        learner: Any = new_learner(job)
        seed = seed_of(job, "final", learner=learner.name)
        trainer = learner.trainer(learned, seed=seed, device=context.device)
        data = TaskTensors(learned, learner.network_)
        seconds: list[float] = []
        values: list[float] = []
        spent, threshold = 0.0, None
        while trainer.n_epochs < learner.epochs and spent < self.seconds:
            started = time.process_time()
            row = trainer.epoch(data)
            spent += time.process_time() - started
            last = trainer.n_epochs == learner.epochs or spent >= self.seconds
            if last or not seconds or spent - seconds[-1] >= self.seconds / _N_TESTS:
                value, threshold = _score(learner, held_out, test)
                seconds.append(spent)
                values.append(value)
            context.tell({"event": "epoch", **row, name: values[-1]})
        check_utilities(job, test, learner.utilities(test))
        context.save(learner, Preparation(threshold, scaling, train.encoding))
        return context.done(
            learned,
            len(test),
            params=job.learner_parameters,
            threshold=threshold,
            metrics={name: values[-1]},
            seconds=time.process_time() - begun,
            curves=[Curve("cpu-seconds", name, seconds, values)],
        )


def _score(learner: Any, held_out: ChoiceTasks, test: ChoiceTasks) -> tuple[float, float | None]:
    """Return the accuracy, or the F1-measure with its threshold."""
    utilities, target = learner.utilities(test), metric(TARGETS[test.kind])
    if test.kind is Kind.SINGLETON:
        return target(test, utilities), None
    threshold = tune_threshold(held_out, learner.utilities(held_out))
    return target(test, choose(test, utilities, threshold)), threshold
