"""From a study to jobs: the plan of a selection, and the jobs on disk that are still planned."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from cschoice.datasets import DATASETS, make_dataset
from cschoice.errors import (
    ConfigError,
    CschoiceError,
    InvalidParameter,
    InvalidPlugin,
    UnknownName,
)
from cschoice.learners import LEARNERS
from cschoice.registry import load, unknown_name
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Budget, Job, JobName, Record
from cschoice.runs.sources import source_of
from cschoice.runs.store import ResultStore
from cschoice.study.parameters import problems_of_parameters_in
from cschoice.study.settings import Experiment, Profile, Study


@dataclass(frozen=True)
class Selection:
    """A part of an experiment, and the changes to it for this run."""

    experiment: str
    profile: str
    learners: Sequence[str] = ()  # names or globs; none means all
    datasets: Sequence[str] = ()
    folds: int | None = None
    trials: int | None = None


def plan(study: Study, selection: Selection, store: ResultStore) -> list[Job]:
    """Return the jobs of a selection, as values that contain every number that matters.

    Learners that do not apply to a dataset's kind of choice have no job there. Where the protocol
    builds on another experiment, that experiment's records come from the store.
    """
    protocol = study.protocol(selection.experiment, selection.profile)
    datasets, learners = _selected(study, selection)
    jobs = _jobs(study, selection, datasets, learners, protocol.model_dump(mode="json"))
    problems = [problem for job in jobs if (problem := protocol.problem(job))]
    at = f"experiment '{selection.experiment}'"
    problems = [f"{at}: {problem}" for problem in dict.fromkeys(problems)]
    wrong = problems_of_parameters_in(study)
    problems += wrong or _problems_of_datasets(study, jobs)
    if problems:
        raise ConfigError(problems)
    known: dict[str, Job] = {}
    if protocol.builds_on:
        before = replace(
            selection, experiment=protocol.builds_on, datasets=datasets, learners=learners
        )
        known = {job.label: job for job in plan(study, before, store)}

    def earlier(job: Job) -> Record | None:
        return store.record(known[job.label]) if job.label in known else None

    return [protocol.plan(job, earlier) for job in jobs]


def _problems_of_datasets(study: Study, jobs: Iterable[Job]) -> list[str]:
    """Return a problem for each dataset whose parameters do not go together."""
    problems = []
    for name, job in {job.dataset: job for job in jobs}.items():
        try:
            make_dataset(name, **job.dataset_parameters)
        except InvalidParameter as error:
            problems.append(f"{study.file}: datasets.{name}: {error}")
    return problems


def _jobs(
    study: Study,
    selection: Selection,
    datasets: Sequence[str],
    learners: Sequence[str],
    settings: dict[str, Any],
) -> list[Job]:
    """Return the jobs as the study describes them, before the protocol completes them."""
    experiment = study.experiment(selection.experiment)
    profile = study.profile(selection.profile)
    n_folds = profile.folds if selection.folds is None else selection.folds
    parameters = {name: _dataset_parameters(study, profile, name) for name in datasets}
    registered = {name: LEARNERS[study.registered(name)] for name in learners}
    sources = {name: source_of("dataset", name) for name in datasets}
    sources |= {name: source_of("learner", study.registered(name)) for name in learners}
    return [
        Job(
            profile=selection.profile,
            experiment=selection.experiment,
            protocol=experiment.protocol,
            dataset=dataset,
            learner=learner,
            fold=fold,
            seed=profile.seed,
            budget=_budget(profile, selection, study.registered(learner)),
            dataset_parameters=parameters[dataset],
            **_learner_settings(study, experiment, profile, learner),
            threshold_refit=profile.threshold_refit,
            threads=profile.threads,
            settings=settings,
            sources=sources[dataset] | sources[learner],
            variant_of=study.registered(learner) if learner not in LEARNERS else None,
        )
        for dataset in datasets
        for learner in learners
        if DATASETS[dataset].kind in registered[learner].kinds
        for fold in range(min(n_folds, parameters[dataset].get("n_folds", n_folds)))
    ]


def _budget(profile: Profile, selection: Selection, learner: str) -> Budget:
    if not LEARNERS[learner].declared.tuned:
        return Budget(0, profile.inner_splits, profile.held_out)
    return Budget(
        n_trials=profile.trials if selection.trials is None else selection.trials,
        n_splits=profile.inner_splits,
        held_out=profile.held_out,
        frugal=profile.frugal.of(learner) if profile.frugal else None,
        n_spread=profile.spread,
        least_gain=profile.least_gain,
    )


def _selected(study: Study, selection: Selection) -> tuple[list[str], list[str]]:
    """Return the datasets and learners that match: those of the experiment, else any there are."""
    experiment = study.experiment(selection.experiment)

    def match(
        noun: str,
        patterns: Sequence[str],
        listed: list[str],
        known: Collection[str],
        exists: Callable[[str], bool],
    ) -> list[str]:
        if not patterns:
            return listed
        found: list[str] = []
        for pattern in patterns:
            names = fnmatch.filter(listed, pattern) or fnmatch.filter(known, pattern)
            if not names and exists(pattern):  # in no list: named by its place, or not usable
                names = [pattern]
            if not names:
                raise UnknownName(unknown_name(noun, pattern, known))
            found += [name for name in names if name not in found]
        return found

    return (
        match("dataset", selection.datasets, experiment.datasets, DATASETS, DATASETS.__contains__),
        match("learner", selection.learners, experiment.learners, study.learner_names, study.knows),
    )


def _dataset_parameters(study: Study, profile: Profile, dataset: str) -> dict[str, Any]:
    """Return the parameters of a dataset: its own stand above the profile's."""
    own = study.datasets.get(dataset, {})
    info = DATASETS[dataset]
    known = {parameter.name for parameter in fields(load(info.source))}
    shared = {name: value for name, value in profile.datasets.items() if name in known}
    return {**info.pinned, **shared, **own}


def _learner_settings(
    study: Study, experiment: Experiment, profile: Profile, learner: str
) -> dict[str, Any]:
    """Return a learner's parameters and limits: its own above the experiment's and the profile's.

    The latter two may speak to all learners: each takes the parameters that it has.
    """
    own = study.learners.get(learner)
    registered = study.registered(learner)
    has = LEARNERS[registered].parameters
    shared = profile.parameters_of(registered) | experiment.parameters
    parameters = {name: value for name, value in shared.items() if name in has}
    space = {name: limits for name, limits in profile.space_of(registered).items() if name in has}
    if own is not None:
        parameters, space = parameters | own.parameters, space | own.space
    return {"learner_parameters": parameters, "space": space}


def planned_on_disk(
    study: Study, store: ResultStore, planned: Sequence[Job] = (), n_trials: int | None = None
) -> tuple[list[Job], int]:
    """Return the jobs with folders that the study plans, and the number of the others.

    ``planned`` are those of this run; jobs of other selections count with the study's number of
    trials or with this run's. Tables are made of planned jobs: results of a changed
    configuration are never mixed with new ones.
    """
    names = set(store.names())
    wanted = dict.fromkeys(planned)
    for number in {n_trials, None}:
        others = names if number != n_trials else names - {job.name for job in planned}
        wanted |= dict.fromkeys(plan_of(study, store, others, number))
    current = [
        job
        for job in wanted
        if job.name in names and (store.can_give(job.name, job.key) or store.begun(job))
    ]
    return current, len(names - {job.name for job in current})


def plan_of(
    study: Study, store: ResultStore, names: Iterable[JobName], n_trials: int | None = None
) -> Iterator[Job]:
    """Yield the study's present jobs for the learners, datasets and folds of these names.

    Names that the study does not know have none.
    """
    groups: dict[tuple[str, str], list[JobName]] = {}
    for name in names:
        groups.setdefault((name.experiment, name.profile), []).append(name)
    for (experiment, profile), group in groups.items():
        learners = sorted({name.learner for name in group if study.knows(name.learner)})
        datasets = sorted({name.dataset for name in group if _is_usable(name.dataset)})
        n_folds = 1 + max(name.fold for name in group)
        known = profile in study.profiles and experiment in study.experiments
        if known and learners and datasets:
            selection = Selection(experiment, profile, learners, datasets, n_folds, n_trials)
            with suppress(ConfigError, InvalidPlugin):
                yield from plan(study, selection, store)


def _is_usable(dataset: str) -> bool:
    """Return whether there is a dataset of that name; one that is damaged is as good as none."""
    try:
        return DATASETS[dataset] is not None
    except CschoiceError:
        return False


def remarks(jobs: Iterable[Job]) -> dict[str, list[Job]]:
    """Return remarks that a user should read before these jobs run, each with its jobs."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        if remark := protocol_of(job).remark(job):
            found.setdefault(remark, []).append(job)
    return found
