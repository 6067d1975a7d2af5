"""Steps that protocols share: the learner of a job, its seeds, its fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets import DATASETS
from cschoice.datasets.generated.synthetic import Synthetic
from cschoice.datasets.source import DatasetSource
from cschoice.errors import TrainingDiverged
from cschoice.learners import LEARNERS, make_learner
from cschoice.registry import load
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Job
from cschoice.runs.tuning import narrowed
from cschoice.seeding import seed_for
from cschoice.space import Dimension
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.scaling import Scaling

if TYPE_CHECKING:
    from cschoice.learners.learner import Learner

Params = Mapping[str, Any]


def new_learner(job: Job, params: Params | None = None) -> Learner:
    """Return the job's learner, unfitted, with these parameters above its own."""
    given = job.learner_parameters
    learner: Learner = make_learner(job.registered, **given)
    _, fixed = narrowed(learner.tunable(), job.space)
    learner.set_params(**{**fixed, **given, **(params or {})})
    return learner


def search_space(job: Job) -> dict[str, Dimension]:
    """Return the parameters to tune; those that the job gives are fixed."""
    learner: Learner = make_learner(job.registered, **job.learner_parameters)
    space, _ = narrowed(learner.tunable(), job.space)
    return {name: row for name, row in space.items() if name not in job.learner_parameters}


def fold_of(job: Job, source: DatasetSource) -> tuple[ChoiceTasks, ChoiceTasks, Scaling | None]:
    """Return the training and test tasks of the job's fold, on the scale of the former."""
    train, test = source.fold(job.fold, job.seed)
    train, scaling = on_scale(train, source)
    return train, test.scaled(scaling) if scaling else test, scaling


def on_scale(tasks: ChoiceTasks, source: DatasetSource) -> tuple[ChoiceTasks, Scaling | None]:
    """Return tasks on their own scale, and the scale, if their dataset asks for it."""
    if not source.standardize:
        return tasks, None
    scaling = Scaling.learn(tasks.table, tasks.items)
    return tasks.scaled(scaling), scaling


def without(parameters: Params, *names: str) -> dict[str, Any]:
    """Return the parameters without the named ones, which change no number here."""
    return {name: value for name, value in parameters.items() if name not in names}


def not_a_network(job: Job, why: str) -> str | None:
    """Return the reason why a job's learner cannot be trained by epochs; None if it can."""
    is_network = hasattr(LEARNERS[job.registered].learner, "trainer")
    return None if is_network else f"{job.learner} is no network: {why}"


def not_generated(dataset: str) -> str | None:
    """Return the reason why a dataset cannot draw fresh singleton tasks; None if it can."""
    info = DATASETS[dataset]
    if issubclass(load(info.source), Synthetic) and info.kind is Kind.SINGLETON:
        return None
    return f"{dataset} is no singleton choice that is generated as needed, as medoid is"


def seed_of(job: Job, purpose: str, **names: str | int) -> int:
    """Return a seed that all learners share, unless their name is among the names."""
    return seed_for(job.seed, purpose, dataset=job.dataset, fold=job.fold, **names)


def fit(
    context: Context, learner: Learner, tasks: ChoiceTasks, purpose: str, split: int | None = None
) -> Learner:
    """Fit on these tasks; the purpose names the seed."""
    learner.on_epoch = lambda row: context.tell({"event": "epoch", "split": split, **row})
    seed = seed_of(context.job, purpose, learner=learner.name)
    learner.learn(tasks, seed=seed, device=context.device)
    learner.on_epoch = None
    return learner


def check_utilities(job: Job, tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> None:
    """Refuse utilities of test tasks that prefer nothing, unless the learner is meant to be so.

    In subset choice one threshold judges all tasks: there, utilities that differ from task to task
    say something too.
    """
    if LEARNERS[job.registered].learner.constant or not (tasks.sizes > 1).any():
        return
    within = tasks.kind is Kind.SINGLETON
    reference = tasks.spread(utilities[tasks.offsets[:-1]]) if within else utilities[0]
    if (utilities == reference).all():
        raise TrainingDiverged(
            f"{job.learner} gives all objects of the test tasks the same utility: nothing was "
            "learned; check the scale of the features, duplicates and the learning rate"
        )
