"""One model of all tasks of a dataset, for predicting new ones: nothing is held out to test it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from cschoice.datasets import make_dataset
from cschoice.datasets.imported import content_hash
from cschoice.datasets.source import every_task
from cschoice.learners.preparation import Preparation
from cschoice.runs.protocols.context import Context
from cschoice.runs.protocols.cross_validation import NestedCrossValidation, learn
from cschoice.runs.protocols.fitting import on_scale, without
from cschoice.runs.protocols.protocol import Earlier
from cschoice.runs.records import Job, Record

CONTENT = "tasks"  # in a record's environment: the hash of the tasks that were learned from


class Whole(NestedCrossValidation):
    """Tuning on inner splits of all tasks, and a fit of the best on all of them."""

    tunes: ClassVar[bool] = False

    def plan(self, job: Job, earlier: Earlier) -> Job:
        """Learn from all tasks, also after the threshold was tuned on some held out."""
        parameters = without(job.dataset_parameters, "max_train", "max_test")
        nested = super().plan(job, earlier)
        return replace(nested, dataset_parameters=parameters, threshold_refit=True)

    def run(self, context: Context) -> Record:
        """Do the job; earlier trials in the journal are taken as they are."""
        job = context.job
        source = make_dataset(job.dataset, **job.dataset_parameters)
        context.tell({"event": "data"})
        everything = every_task(source, job.seed)
        tasks, scaling = on_scale(everything, source)
        learned = learn(context, tasks, self.decision)
        final = learned.final
        context.save(final.learner, Preparation.with_rule(final.rule, scaling, tasks.encoding))
        record = context.done(
            tasks,
            0,
            params=learned.params,
            threshold=final.threshold,
            n_trials=len(learned.trials),
            seconds=learned.seconds(),
        )
        content = content_hash(everything, everything.encoding)
        return replace(record, environment={**record.environment, CONTENT: content})
