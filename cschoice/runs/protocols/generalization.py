"""Generalization over task sizes: learn from one size, test on others (fig:generalizationdc).

As in the paper's design of the generalization experiment: the best parameters of the nested
study, training tasks of the dataset's size, then test tasks of every size from 3 to 30.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from cschoice.datasets import DATASETS, make_dataset
from cschoice.evaluation.metrics import metric
from cschoice.learners.preparation import Preparation
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.fitting import (
    check_utilities,
    fit,
    new_learner,
    not_generated,
    search_space,
    seed_of,
    without,
)
from cschoice.runs.protocols.protocol import Count, Earlier, Protocol
from cschoice.runs.records import Budget, Curve, Job, Record, State
from cschoice.tasks import ChoiceTasks

if TYPE_CHECKING:
    from cschoice.learners.learner import Learner

METRIC = "normalized-accuracy"  # comparable across sizes
_Size = Annotated[int, Field(ge=2, le=10_000)]


class Generalization(Protocol):
    """One fit, tested on tasks of every size within ``sizes``."""

    sizes: tuple[_Size, _Size] = (3, 30)  # the smallest and the largest
    n_test: Count = 100_000  # tasks of each size
    tuned_in: str | None = None  # the experiment whose best parameters are taken

    @property
    def builds_on(self) -> str | None:
        """Return the experiment whose best parameters are taken."""
        return self.tuned_in

    @field_validator("sizes")
    @classmethod
    def _in_order(cls, sizes: tuple[int, int]) -> tuple[int, int]:
        if sizes[0] > sizes[1]:
            raise ValueError("sizes are [smallest, largest]")
        return sizes

    def problem(self, job: Job) -> str | None:
        """Refuse datasets whose tasks cannot be drawn in any size."""
        return not_generated(job.dataset)

    def plan(self, job: Job, earlier: Earlier) -> Job:
        """Take the best parameters that were found for the fold, else the defaults."""
        tuned = earlier(job)
        best: Mapping[str, Any] = tuned.params if tuned and tuned.state is State.DONE else {}
        return replace(
            job,
            budget=Budget(0),
            dataset_parameters=without(job.dataset_parameters, "n_test"),
            learner_parameters={**job.learner_parameters, **best},
            settings={**job.settings, "tuned_in": self.tuned_in if best else None},
            threshold_refit=True,
        )

    def remark(self, job: Job) -> str | None:
        """Tell where the defaults are used for lack of tuned parameters."""
        if self.tuned_in or not search_space(job):
            return None
        return "no results of a study to take the best parameters from, so defaults are used"

    def work(self, job: Job, learner: Learner, n_train: int) -> float:
        """Count larger tasks as many small ones."""
        usual: Any = DATASETS[job.dataset].n_objects
        tested: float = self.n_test * sum(self._all_sizes) / usual
        return n_train * getattr(learner, "epochs", 1) + tested / 3

    def run(self, context: Context) -> Record:
        """Fit once and test on every size."""
        started = time.process_time()
        job = context.job
        source: Any = make_dataset(job.dataset, **job.dataset_parameters)
        train, _ = replace(source, n_test=1).fold(job.fold, job.seed)  # those of the study
        learner = fit(context, new_learner(job), train, "final")
        context.save(learner, Preparation())
        values = []
        for n_objects in self._all_sizes:
            context.tell({"event": "test", "n_objects": n_objects})
            tasks: ChoiceTasks = replace(source, n_objects=n_objects).sample(
                self.n_test, seed_of(job, "test", n_objects=n_objects)
            )
            utilities = learner.utilities(tasks)
            check_utilities(job, tasks, utilities)
            values.append(metric(METRIC)(tasks, utilities))
        return context.done(
            train,
            self.n_test,
            params=job.learner_parameters,
            metrics={METRIC: statistics.mean(values)},  # over all sizes, as many tasks of each
            seconds=time.process_time() - started,
            curves=[Curve("n_objects", METRIC, list(self._all_sizes), values)],
        )

    @property
    def _all_sizes(self) -> range:
        return range(self.sizes[0], self.sizes[1] + 1)
