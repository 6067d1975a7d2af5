"""The latent class logit against an independent EM, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from logit_examples import differences

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind


def two_classes(n_people=150, seed=0, with_income=True):
    """Return choices of people of two classes; the income says to which one probably belongs."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_people), rng.integers(2, 7, n_people))
    sizes = rng.choice([2, 3, 4], len(groups))
    offsets = np.append(0, np.cumsum(sizes))
    x = rng.normal(size=(offsets[-1], 2)).astype(np.float32)
    income = rng.normal(size=n_people).astype(np.float32)
    first = rng.random(n_people) < 1 / (1 + np.exp(-(0.5 + income)))
    tastes = np.where(first[:, None], [1.5, -1.0], [-0.5, 2.0])
    values = (x * np.repeat(tastes[groups], sizes, axis=0)).sum(axis=1) + rng.gumbel(size=len(x))
    best = values == np.repeat(np.maximum.reduceat(values, offsets[:-1]), sizes)
    if with_income:
        x = np.column_stack([x, np.repeat(income[groups], sizes)])
    return ChoiceTasks(x, np.arange(len(x)), offsets, best, Kind.SINGLETON, groups=groups)


def independent_em(tasks, n_steps=400):
    """Return the log-likelihood that plain EM reaches, with gradient steps for each class."""
    x = tasks.features[:, :2].astype(float)
    task = np.repeat(np.arange(len(tasks)), tasks.sizes)
    n_people = tasks.groups.max() + 1
    income = np.zeros(n_people)
    income[tasks.groups] = tasks.features[tasks.offsets[:-1], 2]
    z = np.column_stack([np.ones(n_people), income])
    beta = np.array([[0.5, -0.5], [-0.5, 0.5]])
    gamma = np.zeros(2)

    def shares_of(b):
        weights = np.exp(x @ b)
        return weights / np.bincount(task, weights)[task]

    for _ in range(n_steps):
        prior = 1 / (1 + np.exp(-z @ gamma))
        logs = np.stack(
            [np.bincount(tasks.groups, np.log(shares_of(b)[tasks.chosen]), n_people) for b in beta]
        )
        joint = np.log([prior, 1 - prior]) + logs
        total = np.logaddexp(*joint)
        posterior = np.exp(joint - total)
        for k in range(2):
            for _ in range(3):
                shares = shares_of(beta[k])
                means = np.stack([np.bincount(task, shares * column) for column in x.T], axis=1)
                centred = x - means[task]
                weight = posterior[k][tasks.groups[task]]
                gradient = centred.T @ (weight * (tasks.chosen - shares))
                hessian = (centred * (weight * shares)[:, None]).T @ centred
                beta[k] += np.linalg.solve(hessian, gradient)
        for _ in range(3):
            prior = 1 / (1 + np.exp(-z @ gamma))
            hessian = (z * (prior * (1 - prior))[:, None]).T @ z
            gamma += np.linalg.solve(hessian, z.T @ (posterior[0] - prior))
    return total.sum(), beta, gamma


@pytest.fixture(scope="module")
def fitted():
    tasks = two_classes()
    learner = make_learner("latent-class", membership_features=(2,), l2=0, n_starts=3)
    return tasks, learner.fit(tasks, seed=1)


def test_an_independent_em_finds_the_same(fitted):
    tasks, learner = fitted
    value, beta, gamma = independent_em(tasks)
    assert learner.log_likelihood_ == pytest.approx(value, abs=1e-4)
    order = [0, 1] if abs(beta[0] - learner.coefficients_[0]).max() < 0.1 else [1, 0]
    np.testing.assert_allclose(learner.coefficients_, beta[order], atol=2e-3)
    sign = 1 if order == [0, 1] else -1
    np.testing.assert_allclose(learner.membership_[0], sign * gamma, atol=5e-3)


def test_scores_and_gradients_are_exact(fitted):
    tasks, learner = fitted
    data, at = learner._data(tasks), learner._parameters() * 0.9
    loss, gradient = learner._loss(data, at)
    slope = differences(lambda x: float(learner._loss(data, x)[0]), at)
    np.testing.assert_allclose(gradient, slope, atol=1e-5)
    scores = learner._scores(data, at)
    assert scores.shape == (150, 6)
    np.testing.assert_allclose(-scores.sum(axis=0), gradient, atol=1e-9)
    assert np.isfinite(loss)


def test_classes_are_ordered_and_people_are_told_apart(fitted):
    tasks, learner = fitted
    shares, posterior = learner.class_shares(tasks), learner.posterior_classes(tasks)
    assert shares.mean(axis=0)[0] > 0.5
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    np.testing.assert_allclose(posterior.mean(axis=0), shares.mean(axis=0), atol=1e-3)
    assert posterior.max(axis=1).mean() > shares.max(axis=1).mean() + 0.1
    assert learner.parameter_names(["cost", "time", "income"]) == [
        "class 1: cost", "class 1: time", "class 2: cost", "class 2: time",
        "membership of class 1: constant", "membership of class 1: income",
    ]  # fmt: skip


def test_one_class_is_the_multinomial_logit():
    tasks = two_classes(60, with_income=False)
    one = make_learner("latent-class", n_classes=1, l2=0).fit(tasks)
    mnl = make_learner("mnl", l2=0).fit(tasks)
    assert one.log_likelihood_ == pytest.approx(mnl.log_likelihood_, abs=1e-8)
    np.testing.assert_allclose(one.coefficients_[0], mnl.coefficients_, atol=1e-5)


def test_a_weight_of_two_is_a_person_twice():
    tasks = two_classes(40)
    weights = (tasks.groups % 2 + 1).astype(float)
    weighted = tasks.with_arrays(weights=weights)
    again = tasks[tasks.groups % 2 == 1]
    doubled = ChoiceTasks.concatenate([tasks, again.with_arrays(groups=again.groups + 1000)])
    learner = make_learner("latent-class", membership_features=(2,)).fit(tasks)
    at = learner._parameters()
    one, two = (learner._loss(learner._data(part), at)[0] for part in (weighted, doubled))
    assert one == pytest.approx(two, abs=1e-9)


def test_what_cannot_be_is_refused():
    tasks = two_classes(20)
    with pytest.raises(InvalidParameter, match="numbers from 0 to 2"):
        make_learner("latent-class", membership_features=(5,)).fit(tasks)
    with pytest.raises(InvalidParameter, match="leave no feature"):
        make_learner("latent-class", membership_features=(0, 1, 2)).fit(tasks)
    with pytest.raises(InvalidTasks, match="same in all tasks of a person"):
        make_learner("latent-class", membership_features=(0,)).fit(tasks)
