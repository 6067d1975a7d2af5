"""Choice problems that the logit family and its peers fit: drawn tasks, and a way to fit each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from peers import biogeme, torch_choice, xlogit

from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind

COEFFICIENTS = np.array([1.0, -0.8, 0.6, -0.4, 0.2])
NESTS = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
DISSIMILARITIES = np.array([0.5, 0.7, 0.9])


@dataclass
class Problem:
    """A model with data, ours and others' way to fit it; each returns a log-likelihood."""

    title: str
    fits: dict[str, Callable[[], float]]
    seconds: dict[str, list[float]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)


def objects(n_tasks: int, seed: int) -> NDArray[np.float64]:
    """Return ten objects with five standard normal features for each task."""
    x = np.random.default_rng(seed).normal(size=(n_tasks, 10, len(COEFFICIENTS)))
    return x.astype(np.float32).astype(np.float64)  # the same numbers for everyone


def draw(probabilities: NDArray[np.float64], seed: int) -> NDArray[np.int64]:
    """Return one object of each row with the given probabilities."""
    uniform = np.random.default_rng(seed).random((len(probabilities), 1))
    return np.asarray((probabilities.cumsum(axis=1) < uniform).sum(axis=1).clip(max=9))


def softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return probabilities proportional to the exponentials of each row."""
    weights = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def multinomial(n_tasks: int) -> Problem:
    """Return the multinomial logit problem."""
    x = objects(n_tasks, 1)
    y = draw(softmax(x @ COEFFICIENTS), 2)

    def ours() -> float:
        tasks = ChoiceTasks.from_dense(x, y, Kind.SINGLETON)
        return float(make_learner("mnl", l2=0).fit(tasks).log_likelihood_)

    fits = {"cschoice": ours} | {
        name: lambda fit=fit: fit(x, y)
        for name, fit in {
            "xlogit": xlogit.multinomial,
            "torch-choice": torch_choice.multinomial,
            "biogeme": biogeme.multinomial,
        }.items()
    }
    return Problem(f"multinomial logit, {n_tasks:,} tasks", fits)


def nested(n_tasks: int) -> Problem:
    """Return the nested logit problem with three given nests."""
    x = objects(n_tasks, 3)
    powers = np.exp(x @ COEFFICIENTS / DISSIMILARITIES[NESTS])
    sums = np.stack([powers[:, nest == NESTS].sum(axis=1) for nest in range(3)], axis=1)
    chances = sums**DISSIMILARITIES
    chances /= chances.sum(axis=1, keepdims=True)
    y = draw(powers / sums[:, NESTS] * chances[:, NESTS], 4)

    def ours() -> float:
        numbers = np.broadcast_to(NESTS[:, None], (n_tasks, 10, 1))
        tasks = ChoiceTasks.from_dense(np.concatenate([x, numbers], axis=2), y, Kind.SINGLETON)
        learner = make_learner("nl", l2=0, nest_feature=x.shape[2]).fit(tasks)
        return float(learner.log_likelihood_)

    fits = {
        "cschoice": ours,
        "torch-choice": lambda: torch_choice.nested(x, y, NESTS),
        "biogeme": lambda: biogeme.nested(x, y, NESTS),
    }
    return Problem(f"nested logit, {n_tasks:,} tasks, 3 nests", fits)


def mixed(n_tasks: int, n_draws: int) -> Problem:
    """Return the mixed logit problem with normal coefficients, the same Halton draws for all."""
    x = objects(n_tasks, 5)
    tastes = COEFFICIENTS + 0.5 * np.random.default_rng(6).normal(size=(n_tasks, 5))
    y = draw(softmax(np.einsum("njk,nk->nj", x, tastes)), 7)

    def ours() -> float:
        tasks = ChoiceTasks.from_dense(x, y, Kind.SINGLETON)
        learner = make_learner("mixed-logit", l2=0, integration="halton", n_draws=n_draws)
        return float(learner.fit(tasks).log_likelihood_)

    fits = {
        "cschoice": ours,
        "xlogit": lambda: xlogit.mixed(x, y, n_draws),
        "biogeme": lambda: biogeme.mixed(x, y, n_draws),
    }
    return Problem(f"mixed logit, {n_tasks:,} tasks, {n_draws} draws", fits)


@dataclass(frozen=True)
class People:
    """Tasks of people who choose several times: objects, choices, and who chose."""

    x: NDArray[np.float64]
    y: NDArray[np.int64]
    people: NDArray[np.int64]

    def tasks(self) -> ChoiceTasks:
        """Return the same as tasks with groups."""
        tasks = ChoiceTasks.from_dense(self.x, self.y, Kind.SINGLETON)
        return replace(tasks, groups=self.people)


def households(n_tasks: int, n_people: int, spread: NDArray[np.float64], seed: int) -> People:
    """Return choices among four contracts with six features, by people with tastes of their own.

    ``spread`` (6, 6) makes a person's tastes of independent normal draws.
    """
    rng = np.random.default_rng(seed)
    people = np.sort(np.arange(n_tasks) % n_people)
    x = rng.normal(size=(n_tasks, 4, 6)).astype(np.float32).astype(np.float64)
    tastes = np.append(COEFFICIENTS, 0.5) + rng.normal(size=(n_people, 6)) @ spread.T
    y = draw(softmax(np.einsum("njk,nk->nj", x, tastes[people])), seed + 1)
    return People(x, y, people)


def panel(n_tasks: int, n_people: int, n_draws: int) -> Problem:
    """Return the panel mixed logit problem with independent normal coefficients."""
    data = households(n_tasks, n_people, np.diag(np.linspace(0.3, 1.3, 6)), 8)

    def ours() -> float:
        learner = make_learner("panel-mixed-logit", l2=0, integration="halton", n_draws=n_draws)
        return float(learner.fit(data.tasks()).log_likelihood_)

    fits = {
        "cschoice": ours,
        "xlogit": lambda: xlogit.panel(data.x, data.y, data.people, n_draws),
        "biogeme": lambda: biogeme.panel(data.x, data.y, data.people, n_draws),
    }
    title = f"panel mixed logit, {n_tasks:,} tasks of {n_people} people, 6 normals, {n_draws} draws"
    return Problem(title, fits)


def correlated(n_tasks: int, n_people: int, n_draws: int) -> Problem:
    """Return the panel mixed logit problem with correlated normal coefficients."""
    spread = np.tril(np.random.default_rng(10).uniform(-0.5, 0.5, size=(6, 6))) + np.eye(6) / 2
    data = households(n_tasks, n_people, spread, 11)

    def ours() -> float:
        learner = make_learner(
            "panel-mixed-logit", l2=0, integration="halton", n_draws=n_draws, correlated=True
        )
        return float(learner.fit(data.tasks()).log_likelihood_)

    fits = {
        "cschoice": ours,
        "biogeme": lambda: biogeme.panel(data.x, data.y, data.people, n_draws, correlated=True),
    }
    title = (
        f"panel mixed logit, {n_tasks:,} tasks of {n_people} people, 6 correlated normals, "
        f"{n_draws} draws"
    )
    return Problem(title, fits)


def classes(n_tasks: int, n_people: int, n_classes: int) -> Problem:
    """Return the latent class problem: one search, our usual five, and one from the truth."""
    rng = np.random.default_rng(13)
    people = np.sort(np.arange(n_tasks) % n_people)
    x = rng.normal(size=(n_tasks, 4, 6)).astype(np.float32).astype(np.float64)
    tastes = np.append(COEFFICIENTS, 0.5) + rng.normal(size=(n_classes, 6))
    member = rng.integers(0, n_classes, n_people)
    y = draw(softmax(np.einsum("njk,nk->nj", x, tastes[member[people]])), 14)
    data = People(x, y, people)

    def ours(n_starts: int) -> float:
        learner = make_learner("latent-class", l2=0, n_classes=n_classes, n_starts=n_starts)
        return float(learner.fit(data.tasks()).log_likelihood_)

    fits = {
        "cschoice": lambda: ours(1),
        "cschoice, 5 starts": lambda: ours(5),
        "biogeme": lambda: biogeme.latent_class(x, y, people, tastes),
    }
    title = f"latent class logit, {n_tasks:,} tasks of {n_people} people, {n_classes} classes"
    return Problem(title, fits)
