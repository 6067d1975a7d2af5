"""The panel mixed logit against a plain loop over people, and its promises."""

from __future__ import annotations

import numpy as np
import pytest
from logit_examples import differences

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.evaluation.decisions import probabilities
from cschoice.learners import make_learner
from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.optimization import complex_hessian
from cschoice.learners.saving import load, save
from cschoice.tasks import ChoiceTasks, Kind

CASES = {
    "normal": {"distributions": "normal"},
    "halton": {"distributions": "normal", "integration": "halton"},
    "mlhs": {
        "distributions": "triangular,uniform",
        "random_features": (2, 0),
        "integration": "mlhs",
    },
    "correlated": {"correlated": True},
    "mixture": {
        "distributions": "lognormal,negative-censored,negative-lognormal",
        "correlated": True,
    },
    "money": {
        "distributions": "normal,negative-lognormal",
        "random_features": (2, 0),
        "money_feature": 0,
    },
    "money-fixed": {"random_features": (2,), "money_feature": 1},
    "censored": {"distributions": "censored", "random_features": (0,)},
}  # fmt: skip


def people(n_people=40, seed=0, sizes=(1, 2, 3, 5), most=6, spread=(0.7, 0.3, 0.0)):
    """Return choices of people with one to six tasks, whose coefficients differ."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(rng.permutation(1000)[:n_people], rng.integers(1, most + 1, n_people))
    groups = rng.permutation(groups)
    sized = rng.choice(sizes, len(groups))
    offsets = np.append(0, np.cumsum(sized))
    x = rng.normal(size=(offsets[-1], 3)).astype(np.float32)
    _, person = np.unique(groups, return_inverse=True)
    tastes = np.array([1.0, -0.7, -0.5]) + spread * rng.normal(size=(n_people, 3))
    values = (x * np.repeat(tastes[person], sized, axis=0)).sum(axis=1) + rng.gumbel(size=len(x))
    starts = offsets[:-1]
    best = values == np.repeat(np.maximum.reduceat(values, starts), sized)
    return ChoiceTasks(x, np.arange(len(x)), offsets, best, Kind.SINGLETON, groups=groups)


def plain_log_likelihood(learner, tasks, parameters):
    """Loop over people, draws and tasks."""
    parts = learner._split(parameters)
    means, spreads = parts["coefficients_"], learner._matrix(parts["spreads_"])
    random, names = learner._random(), learner._names_of_kinds()
    known = list(dict.fromkeys(tasks.groups.tolist()))
    draws = learner._draws(len(known))
    total = 0.0
    for number, person in enumerate(known):
        products = []
        for r in range(learner.n_draws):
            beta = means.copy()
            arguments = means[random] + spreads @ draws[number, :, r]
            beta[random] = [
                DISTRIBUTIONS[name].value(np.array(value))
                for name, value in zip(names, arguments, strict=True)
            ]
            if learner.money_feature is not None:
                price = beta[learner.money_feature]
                beta = -price * beta
                beta[learner.money_feature] = price
            product = 1.0
            for task in np.flatnonzero(tasks.groups == person):
                entries = tasks.entries(task)
                utilities = tasks.features[entries].astype(float) @ beta
                utilities -= utilities.max()
                shares = np.exp(utilities) / np.exp(utilities).sum()
                product *= shares[tasks.chosen[entries]][0]
            products.append(product)
        total += np.log(np.mean(products))
    return total


@pytest.mark.parametrize("case", CASES)
def test_the_likelihood_is_that_of_a_plain_loop_and_its_derivatives_are_exact(case):
    tasks = people(25)
    learner = make_learner("panel-mixed-logit", n_draws=24, l2=1e-4, **CASES[case])
    learner.fit(tasks, seed=1)
    at = np.clip(learner._parameters() + 0.05, -1.2, 1.2)
    data = learner._data(tasks)
    loss, gradient = learner._loss(data, at)
    assert -float(loss) == pytest.approx(plain_log_likelihood(learner, tasks, at), abs=1e-9)
    slope = differences(lambda x: float(learner._loss(data, x)[0]), at)
    np.testing.assert_allclose(gradient, slope, atol=2e-5)
    scores = learner._scores(data, at)
    assert scores.shape == (25, len(at))
    np.testing.assert_allclose(-scores.sum(axis=0), gradient, atol=1e-10)
    by_steps = complex_hessian(lambda x: learner._loss(data, x)[1], at)
    np.testing.assert_allclose(learner._hessian(data, at), by_steps, atol=1e-8)


def test_deviations_are_found_again():
    tasks = people(600, most=12, sizes=(4,), spread=(0.8, 0.0, 0.4), seed=1)
    learner = make_learner("panel-mixed-logit", n_draws=200, l2=0).fit(tasks)
    np.testing.assert_allclose(learner.coefficients_, [1.0, -0.7, -0.5], atol=0.15)
    np.testing.assert_allclose(learner.spreads_, [0.8, 0.0, 0.4], atol=0.2)
    assert (learner.spreads_ >= 0).all()


def test_known_people_are_predicted_by_what_they_chose():
    tasks = people(300, most=20, sizes=(4,), spread=(2.0, 1.5, 1.0))
    half = np.arange(len(tasks)) % 2 == 0
    train, test = tasks[half], tasks[~half]
    given = {"n_draws": 100, "l2": 0}
    learner = make_learner("panel-mixed-logit", known_people=True, **given).fit(train)
    anyone = make_learner("panel-mixed-logit", **given).fit(train)

    def loss(model, part):
        return -np.log(probabilities(part, model.utilities(part))[part.chosen]).mean()

    assert loss(learner, test) < loss(anyone, test) - 0.05
    strangers = ChoiceTasks(
        test.table, test.items, test.offsets, test.chosen, test.kind, groups=test.groups + 5000
    )
    np.testing.assert_array_equal(learner.utilities(strangers), anyone.utilities(test))


def test_known_people_are_saved(tmp_path):
    tasks = people(30)
    learner = make_learner("panel-mixed-logit", n_draws=16, known_people=True).fit(tasks)
    save(learner, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.utilities(tasks), learner.utilities(tasks))


def test_weights_are_of_people():
    tasks = people(20)
    weights = (tasks.groups % 3 + 1).astype(float)
    weighted = ChoiceTasks(
        tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, tasks.groups,
        weights=weights,
    )  # fmt: skip
    learner = make_learner("panel-mixed-logit", n_draws=16).fit(tasks)
    at = learner._parameters()
    once, counted = (learner._scores(learner._data(one), at) for one in (tasks, weighted))
    of_people = np.array(list(dict.fromkeys(tasks.groups.tolist()))) % 3 + 1
    np.testing.assert_allclose(counted, once * of_people[:, None], atol=1e-12)
    mixed = ChoiceTasks(
        tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, tasks.groups,
        weights=np.arange(1.0, len(tasks) + 1),
    )  # fmt: skip
    with pytest.raises(InvalidTasks, match="one weight"):
        learner.fit(mixed)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"random_features": (3,)}, "numbers from 0 to 2"),
        ({"distributions": "normal,normal"}, "one for each of 3"),
        ({"distributions": "uniform", "correlated": True}, "must be normal, got uniform"),
        ({"distributions": "gauss"}, "words separated by commas"),
    ],
)
def test_what_cannot_be_is_refused(given, message):
    with pytest.raises(InvalidParameter, match=message):
        make_learner("panel-mixed-logit", **given).fit(people(10))
