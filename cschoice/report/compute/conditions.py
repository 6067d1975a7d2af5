"""The conditions under which results stand beside the paper's: where they differ from its own.

They are read from the jobs as the study's file plans them, from the learners that these jobs
make, and from the tables; nothing is repeated here that a file of the study decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cschoice.datasets import DATASETS
from cschoice.datasets.raw.paper_counts import PAPER_COUNTS
from cschoice.learners import LEARNERS
from cschoice.report.compute import paper
from cschoice.report.compute.inputs import Inputs
from cschoice.report.compute.labels import (
    PARAMETERS,
    dataset_label,
    datasets_in_order,
    extent,
    is_the_papers,
    learner_label,
    learners_in_order,
)
from cschoice.report.compute.scores import Result
from cschoice.runs.environment import UNKNOWN
from cschoice.runs.records import Budget, Ensemble, Job
from cschoice.space import Dimension, Integer, Real
from cschoice.tasks import Kind

RECIPES = {
    "modern": "AdamW, one cycle of the learning rate",
    "paper": "SGD with Nesterov momentum, step decay",
}
_WHOLE = "all tasks, all epochs"
_LOGITS = "logit."  # where the sources of logit models begin


@dataclass(frozen=True)
class Condition:
    """One condition, here and in the paper."""

    name: str
    here: str
    paper: str


def conditions(inputs: Inputs, results: Sequence[Result]) -> list[Condition]:
    """Return the conditions of results that are set beside the paper's."""
    return [*_scope(results), *_of_jobs(inputs, results), *_cost(inputs)]


def _scope(results: Sequence[Result]) -> Iterator[Condition]:
    """Name the datasets and learners that only one side has."""
    done = {result.dataset for result in results if result.folds}
    every = paper.DATASETS_IN_ORDER
    absent = [name for name in every if name not in done]
    here = f"{len(every) - len(absent)}"
    if absent:
        here += f"; left out: {', '.join(absent)}"
    yield Condition("Datasets", here, f"{len(every)}")
    samples = {one.dataset_label: "" for one in results if one.sample}
    if samples:
        yield Condition("Samples of datasets", ", ".join(samples), "whole, not set beside these")
    learners = [one for one in results if one.folds]
    others = dict.fromkeys(
        learner_label(one.learner, one.kind) for one in learners if not is_the_papers(one.learner)
    )
    if others:
        yield Condition("Learners that the paper has not", ", ".join(others), "")


def _of_jobs(inputs: Inputs, results: Sequence[Result]) -> Iterator[Condition]:
    """Compare the jobs behind the results, as they are planned now."""
    done = {(result.dataset, result.learner) for result in results if result.folds}
    jobs = [
        job
        for name, job in (inputs.plan.jobs.items() if inputs.plan else ())
        if name.experiment == inputs.experiment
        and name.dataset in paper.DATASETS_IN_ORDER
        and (name.dataset, name.learner) in done
    ]
    if not jobs:
        return
    order = learners_in_order(job.learner for job in jobs)
    jobs.sort(key=lambda job: order.index(job.learner))
    yield from _tasks(jobs)
    yield from _tuning(jobs)
    yield from _training(jobs)
    yield from _prediction(jobs)


def _tasks(jobs: Sequence[Job]) -> Iterator[Condition]:
    n_folds = {job.dataset: 0 for job in jobs}
    for job in jobs:
        n_folds[job.dataset] = max(n_folds[job.dataset], job.fold + 1)
    by_label = {dataset_label(name): f"{n}" for name, n in n_folds.items()}
    yield Condition("Folds", _grouped(by_label), f"{paper.N_FOLDS}")
    parameters = {job.dataset: job.dataset_parameters for job in jobs}
    for name, noun in (("train", "Training tasks"), ("test", "Test tasks")):
        here, theirs = {}, {}
        for dataset in datasets_in_order(parameters):
            info = DATASETS[dataset]
            printed = info.n_train if name == "train" else info.n_test
            given = parameters[dataset]
            used = given.get(f"n_{name}", printed)
            if isinstance(used, int):
                used = min(used, given.get(f"max_{name}") or used)
            label = f"{dataset_label(dataset)}, {info.kind}"
            here[label], theirs[label] = _count(used), _count(printed)
        yield Condition(noun, _grouped(here), _grouped(theirs))


def _tuning(jobs: Sequence[Job]) -> Iterator[Condition]:
    tuned = [job for job in jobs if job.budget.n_trials]
    if not tuned:
        return
    budgets = {learner_label(job.learner): f"{job.budget.n_trials}" for job in tuned}
    trials = f"{_grouped(budgets)} on {tuned[0].budget.n_splits} inner splits"
    yield Condition("Trials of tuning", trials, f"{paper.N_TRIALS} on {paper.N_INNER_SPLITS}")
    costs = {learner_label(job.learner): _cost_of_trial(job.budget) for job in tuned}
    if set(costs.values()) != {_WHOLE}:
        yield Condition("Each trial", _grouped(costs), _WHOLE)
    yield from _ranges(tuned)


def _cost_of_trial(budget: Budget) -> str:
    frugal = budget.frugal
    if frugal is None or (frugal.task_share, frugal.epoch_share) == (1, 1):
        return _WHOLE
    shares = f"{_percent(frugal.task_share)} of the tasks, {_percent(frugal.epoch_share)} of epochs"
    return f"{shares} (all, up to {frugal.few_tasks:,} tasks)"


def _ranges(jobs: Sequence[Job]) -> Iterator[Condition]:
    """Name every hyperparameter whose range is narrower than the paper's."""
    from cschoice.runs.protocols.fitting import search_space

    printed = {(one.learner, one.parameter): one for one in paper.ranges()}
    here: dict[str, dict[str, str]] = {}
    theirs: dict[str, dict[str, str]] = {}
    for learner, job in _one_job_each(jobs).items():
        space = search_space(job)
        for (one, parameter), known in printed.items():
            if one != learner or parameter not in job.space:
                continue
            shown = _extent(space.get(parameter), job, parameter)
            if shown != extent(known.low, known.high):
                name, label = PARAMETERS[parameter], learner_label(learner)
                here.setdefault(name, {})[label] = shown
                theirs.setdefault(name, {})[label] = extent(known.low, known.high)
    for name in here:
        yield Condition(f"Range of {name.lower()}", _grouped(here[name]), _grouped(theirs[name]))


def _extent(dimension: Dimension | None, job: Job, parameter: str) -> str:
    """Return the range that is left of a hyperparameter; one value where it is fixed."""
    if isinstance(dimension, Real | Integer):
        return extent(dimension.low, dimension.high)
    return str(job.space[parameter][0])


def _training(jobs: Sequence[Job]) -> Iterator[Condition]:
    """Compare recipe, epochs and loss of the networks; the paper's recipe is one of ours."""
    from cschoice.runs.protocols.fitting import new_learner

    recipes, epochs = {}, {}
    losses: dict[Kind, tuple[dict[str, str], dict[str, str]]] = {}
    for job in _one_job_each(jobs, by_kind=True).values():
        learner: Any = new_learner(job)
        if not hasattr(learner, "recipe"):
            continue
        kind = DATASETS[job.dataset].kind
        label = learner_label(job.learner, kind)
        recipes[label], epochs[label] = RECIPES[learner.recipe], f"{learner.epochs:,}"
        here, there = losses.setdefault(kind, ({}, {}))
        here[label] = learner.loss_name(kind)
        there[label] = learner.set_params(recipe="paper", loss=None).loss_name(kind)
    if recipes:
        yield Condition("Training of networks", _grouped(recipes), RECIPES["paper"])
        yield Condition("Epochs of networks", _grouped(epochs), f"up to {paper.N_EPOCHS:,}")
    for kind, (here, there) in losses.items():
        yield Condition(f"Loss of networks, {kind} choice", _grouped(here), _grouped(there))


def _prediction(jobs: Sequence[Job]) -> Iterator[Condition]:
    """Compare the models that predict in the end."""
    sampled = [
        learner_label(name)
        for name in learners_in_order({job.registered for job in jobs})
        if LEARNERS[name].source.startswith(_LOGITS) and name in paper.SAMPLED
    ]
    if sampled:
        here = f"penalized maximum likelihood ({', '.join(sampled)})"
        yield Condition("Estimation of logits", here, "sampled posteriors")
    subset = [job for job in jobs if DATASETS[job.dataset].kind is Kind.SUBSET]
    kept = [job for job in subset if not job.threshold_refit]
    if kept:
        here = "the one that the threshold was tuned with"
        yield Condition("Model for subsets", here, "one refitted on all training tasks")
    few = {
        dataset_label(job.dataset): ensemble
        for job in subset
        if (ensemble := _ensemble(job)) is not None
    }
    for label, one in few.items():
        here = (
            f"{label}: under each learner's name the mean of {one.n_members} models, each without "
            f"{_percent(one.held_out)} of the tasks"
        )
        yield Condition("Models per learner", here, "one")


def _ensemble(job: Job) -> Ensemble | None:
    """Return the ensemble that predicts a dataset of few tasks, by the paper's numbers of them."""
    frugal, counts = job.budget.frugal, PAPER_COUNTS.get(job.dataset)
    if frugal is None or counts is None:
        return None
    sampled = counts.counts["training samples"]
    most = sampled if isinstance(sampled, int) else max(sampled)
    return frugal.ensemble if most <= frugal.few_tasks else None


def _cost(inputs: Inputs) -> Iterator[Condition]:
    """Compare the computing time, of all experiments on both sides, and name the origin."""
    folds = inputs.every_fold
    hours = float(folds["seconds"].sum()) / 3_600
    theirs = f"roughly {paper.GPU_HOURS:,} GPU hours and {paper.CPU_HOURS:,} CPU hours"
    yield Condition("Computing time of all experiments", f"{hours:.1f} CPU hours", theirs)
    commits = Counter(str(commit)[:12] for commit in folds["commit"].fillna(UNKNOWN))
    told = ", ".join(f"{name} ({n:,} jobs)" for name, n in sorted(commits.items()))
    yield Condition("Commit", told, "")


def _one_job_each(jobs: Sequence[Job], by_kind: bool = False) -> dict[Any, Job]:
    """Return a job of every learner, or of every learner and kind of choice."""
    found: dict[Any, Job] = {}
    for job in jobs:
        key = (job.learner, DATASETS[job.dataset].kind) if by_kind else job.learner
        found.setdefault(key, job)
    return found


def _grouped(texts: Mapping[str, str]) -> str:
    """Return the texts, each once, with those whose it is; the most frequent without.

    >>> _grouped({"FETA": "20", "FATE": "20", "SDA": "40"}), _grouped({"a": "1"})
    ('20, but 40 (SDA)', '1')
    """
    by_text: dict[str, list[str]] = {}
    for name, text in texts.items():
        by_text.setdefault(text, []).append(name)
    usual, *others = sorted(by_text, key=lambda text: -len(by_text[text]))
    parts = [f"{text} ({', '.join(by_text[text])})" for text in others]
    return f"{usual}, but {'; '.join(parts)}" if parts else usual


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _count(value: int | tuple[int, int] | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value[0]:,} to {value[1]:,}"
