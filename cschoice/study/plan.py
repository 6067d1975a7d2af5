"""Plan a study, leave out what is done, run the rest: the only module that knows everything."""

from __future__ import annotations

import fnmatch
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any

from cschoice.datasets import DATASETS
from cschoice.errors import ConfigError, FileNotUsable, UnknownName
from cschoice.learners import LEARNERS
from cschoice.registry import load, unknown_name
from cschoice.runs.executors import Executor, OnEvent, Outcome, pause
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Budget, Frugal, Job, JobName, Record, State
from cschoice.runs.store import Progress, ResultStore
from cschoice.runs.worker import give_up
from cschoice.study.settings import Experiment, Profile, Study


@dataclass(frozen=True)
class Selection:
    """Which part of an experiment to run, and what to change for this run."""

    experiment: str
    profile: str
    learners: Sequence[str] = ()  # names or globs; none means all
    datasets: Sequence[str] = ()
    folds: int | None = None
    trials: int | None = None


def plan(study: Study, selection: Selection, store: ResultStore) -> list[Job]:
    """Return the jobs of a selection, as values that contain every number that matters.

    Learners that do not apply to a dataset's kind of choice have no job there. The store is
    asked for what another experiment found, where the protocol builds on one.
    """
    protocol = study.protocol(selection.experiment, selection.profile)
    datasets, learners = _selected(study, selection)
    jobs = _jobs(study, selection, datasets, learners, protocol.model_dump(mode="json"))
    problems = [problem for job in jobs if (problem := protocol.problem(job))]
    at = f"experiment '{selection.experiment}'"
    problems = [f"{at}: {problem}" for problem in dict.fromkeys(problems)]
    problems += _unknown_parameters(study)
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


def _unknown_parameters(study: Study) -> list[str]:
    """Return what the study says to learners, or datasets, and none of those understands.

    An experiment speaks to its own learners, a profile to all there are or to one.
    """
    of_learner = {name: info.parameters for name, info in LEARNERS.items()}
    everything = [name for parameters in of_learner.values() for name in parameters]
    of_datasets = [one.name for info in DATASETS.values() for one in fields(load(info.source))]
    said: list[tuple[str, Iterable[str], list[str]]] = []
    for name, experiment in study.experiments.items():
        own = [one for it in experiment.learners for one in of_learner[study.registered(it)]]
        said.append((f"experiments.{name}.parameters", experiment.parameters, own))
    for name, settings in study.learners.items():
        for table, content in (("parameters", settings.parameters), ("space", settings.space)):
            said.append((f"learners.{name}.{table}", content, of_learner[study.registered(name)]))
    for name, profile in study.profiles.items():
        at = f"profiles.{name}"
        for table, content in (("learners", profile.learners), ("space", profile.space)):
            for word, value in content.items():
                if word in LEARNERS:
                    said.append((f"{at}.{table}.{word}", value, list(of_learner[word])))
                else:
                    said.append((f"{at}.{table}", [word], [*everything, *LEARNERS]))
        said.append((f"{at}.datasets", profile.datasets, of_datasets))
    return [
        f"{where}: {unknown_name('parameter', name, dict.fromkeys(known))}"
        for where, names, known in said
        for name in names
        if name not in known
    ]


def _jobs(
    study: Study,
    selection: Selection,
    datasets: Sequence[str],
    learners: Sequence[str],
    settings: dict[str, Any],
) -> list[Job]:
    """Return the jobs as the study describes them; the protocol has the last word."""
    experiment = study.experiment(selection.experiment)
    profile = study.profile(selection.profile)
    n_folds = profile.folds if selection.folds is None else selection.folds
    parameters = {name: _dataset_parameters(study, profile, name) for name in datasets}
    registered = {name: LEARNERS[study.registered(name)] for name in learners}
    return [
        Job(
            profile=selection.profile,
            experiment=selection.experiment,
            protocol=experiment.protocol,
            dataset=dataset,
            learner=learner,
            fold=fold,
            seed=profile.seed,
            budget=_budget(profile, selection, bool(registered[learner].learner.search_space)),
            dataset_parameters=parameters[dataset],
            **_learner_settings(study, experiment, profile, learner),
            threshold_refit=profile.threshold_refit,
            threads=profile.threads,
            settings=settings,
            variant_of=study.registered(learner) if learner not in LEARNERS else None,
        )
        for dataset in datasets
        for learner in learners
        if DATASETS[dataset].kind in registered[learner].kinds
        for fold in range(min(n_folds, parameters[dataset].get("n_folds", n_folds)))
    ]


def _budget(profile: Profile, selection: Selection, tunable: bool) -> Budget:
    if not tunable:
        return Budget(0, profile.inner_splits, profile.held_out)
    n_trials = profile.trials if selection.trials is None else selection.trials
    frugal = Frugal(**profile.frugal.model_dump()) if profile.frugal else None
    return Budget(n_trials, profile.inner_splits, profile.held_out, frugal)


def _selected(study: Study, selection: Selection) -> tuple[list[str], list[str]]:
    """Match globs against the experiment; what it does not list runs if it exists at all."""
    experiment = study.experiment(selection.experiment)

    def match(noun: str, patterns: Sequence[str], listed: list[str], known: Any) -> list[str]:
        if not patterns:
            return listed
        found: list[str] = []
        for pattern in patterns:
            names = fnmatch.filter(listed, pattern) or fnmatch.filter(known, pattern)
            if not names:
                raise UnknownName(unknown_name(noun, pattern, known))
            found += [name for name in names if name not in found]
        return found

    return (
        match("dataset", selection.datasets, experiment.datasets, DATASETS),
        match("learner", selection.learners, experiment.learners, study.learner_names),
    )


def _dataset_parameters(study: Study, profile: Profile, dataset: str) -> dict[str, Any]:
    """Return the dataset's own parameters over the profile's, as far as it has them."""
    own = study.datasets.get(dataset, {})
    info = DATASETS[dataset]
    known = {parameter.name for parameter in fields(load(info.source))}
    shared = {name: value for name, value in profile.datasets.items() if name in known}
    return {**info.pinned, **shared, **own}


def _learner_settings(
    study: Study, experiment: Experiment, profile: Profile, learner: str
) -> dict[str, Any]:
    """Return parameters and limits of a learner: its own over the experiment's over the profile's.

    The latter two may speak to all learners: what concerns one of them is what its row lists.
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


def current_jobs(
    study: Study, store: ResultStore, asked: Sequence[Job] = (), n_trials: int | None = None
) -> tuple[list[Job], int]:
    """Return the jobs with files that the study, or this run, asks for; and how many it does not.

    A run asks for its jobs, and for others with the number of trials that it was given. Tables
    are made of the former: a changed configuration is never mixed with what was before.
    """
    found = list(store.jobs())
    protocols = {name: experiment.protocol for name, experiment in study.experiments.items()}
    names = [job.name for job in found if job.protocol == protocols.get(job.experiment)]
    wanted = set(asked)
    for number in {n_trials, None}:
        wanted |= set(asked_like(study, store, names, number))
    current = [job for job in found if job in wanted and store.begun(job)]
    return current, len(found) - len(current)


def asked_like(
    study: Study, store: ResultStore, names: Iterable[JobName], n_trials: int | None = None
) -> Iterator[Job]:
    """Yield what the study asks for of the learners, datasets and folds of some jobs.

    That is nothing where it does not know these names, or uses them for something else.
    """
    groups: dict[tuple[str, str], list[JobName]] = {}
    for name in names:
        groups.setdefault((name.experiment, name.profile), []).append(name)
    for (experiment, profile), group in groups.items():
        learners = sorted({name.learner for name in group} & set(study.learner_names))
        datasets = sorted({name.dataset for name in group} & set(DATASETS))
        n_folds = 1 + max(name.fold for name in group)
        known = profile in study.profiles and experiment in study.experiments
        if known and learners and datasets:
            selection = Selection(experiment, profile, learners, datasets, n_folds, n_trials)
            with suppress(ConfigError):
                yield from plan(study, selection, store)


def run(
    jobs: Sequence[Job], store: ResultStore, executor: Executor, on_event: OnEvent
) -> Iterator[tuple[Outcome, Record | None]]:
    """Run what is not done; yield each outcome with its record.

    Jobs that another run is doing are awaited, and done here if that run dies.
    """
    store.open()
    waiting = [job for job in jobs if store.progress(job) is not Progress.DONE]
    while waiting:
        elsewhere: list[Job] = []
        for outcome in executor.run(waiting, on_event):
            if outcome.ended == "unusable":
                raise FileNotUsable(outcome.detail or f"cannot write to {store.root}")
            if outcome.ended == "busy":
                elsewhere.append(outcome.job)
                on_event(outcome.job, "another run", {"event": "elsewhere"})
                continue
            if outcome.ended == "died" and store.to_redo(outcome.job):
                yield outcome, _died(outcome)  # it never began: what it was to replace stays
                continue
            if outcome.ended == "died":
                give_up(store, outcome.job, _died(outcome))
            yield outcome, store.record(outcome.job)
        waiting = _await(elsewhere, store)
        for job in elsewhere:
            if job not in waiting:
                yield Outcome(job, "elsewhere", "another run"), store.record(job)


def _await(jobs: Sequence[Job], store: ResultStore) -> list[Job]:
    """Wait until nobody works on these jobs any more; return those that are still not done."""
    started = time.monotonic()
    while any(store.progress(job) is Progress.RUNNING for job in jobs):
        time.sleep(pause(time.monotonic() - started))
    ended = (Progress.DONE, Progress.FAILED, Progress.SKIPPED)
    return [job for job in jobs if store.progress(job) not in ended]


def _died(outcome: Outcome) -> Record:
    return Record(outcome.job.key, State.FAILED, outcome.detail)


def remarks(jobs: Iterable[Job]) -> dict[str, list[Job]]:
    """Return what a user should know before these jobs run, and of which of them."""
    said: dict[str, list[Job]] = {}
    for job in jobs:
        if remark := protocol_of(job).remark(job):
            said.setdefault(remark, []).append(job)
    return said
