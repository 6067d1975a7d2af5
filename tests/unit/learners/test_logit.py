"""The logit family: likelihoods against definitions, gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from logit_examples import MODELS, differences, fitted, ragged
from scipy.special import expit, log_softmax
from sklearn.base import clone

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners import make_learner
from cschoice.learners.logit.multinomial import loss_gradient, loss_terms
from cschoice.learners.logit.optimization import complex_hessian
from cschoice.tasks import ChoiceTasks, Kind


def shuffled(tasks, seed=0):
    """Return the tasks with the objects of each in another order, and that order."""
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(tasks.n_entries), tasks.spread(np.arange(len(tasks)))))
    return (
        ChoiceTasks(
            tasks.table, tasks.items[order], tasks.offsets, tasks.chosen[order], tasks.kind
        ),
        order,
    )


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_gradient_is_that_of_the_loss(model, shared):
    tasks = ragged(60, shared=shared)
    learner = fitted(model, tasks)
    data = learner._data(tasks)
    at = learner._parameters() * 0.9 + 0.05
    expected = differences(lambda p: learner._loss(data, p)[0], at)
    np.testing.assert_allclose(learner._loss(data, at)[1], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_hessian_by_complex_steps_is_that_of_the_gradient(model):
    tasks = ragged(40)
    learner = fitted(model, tasks)
    data, at = learner._data(tasks), learner._parameters() * 0.9 + 0.05
    hessian = complex_hessian(lambda p: learner._loss(data, p)[1], at)
    expected = differences(lambda p: learner._loss(data, p)[1], at)
    np.testing.assert_allclose(hessian, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("shared", [False, True])
def test_newton_terms_agree_with_gradient_and_complex_hessian(kind, shared):
    tasks = ragged(kind=kind, shared=shared)
    learner = make_learner("mnl").fit(tasks)
    layout, at = learner._data(tasks), learner._parameters() * 0.8
    loss, gradient, hessian = loss_terms(layout, layout.blocks, at)
    expected = loss_gradient(layout, at)
    assert loss == pytest.approx(expected[0])
    np.testing.assert_allclose(gradient, expected[1])
    by_steps = complex_hessian(lambda p: loss_gradient(layout, p)[1], at)
    np.testing.assert_allclose(hessian, by_steps, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", sorted(MODELS.keys() - {"gnl-one"}))
def test_fit_is_a_stationary_point(model):
    tasks = ragged(400)
    learner = fitted(model, tasks, l2=1e-2)
    data, at = learner._data(tasks), learner._parameters()
    weights = 1e-2 * len(tasks) * learner._penalty_weights(getattr(data, "layout", data))
    gradient = learner._penalized(data, weights)(at)[1]
    low, high = learner._bounds()
    inside = (at > low + 1e-4) & (at < high - 1e-4)  # at a bound the loss may fall beyond it
    np.testing.assert_allclose(gradient[inside], 0, atol=0.02)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("shared", [False, True])
def test_probabilities_sum_to_one_and_give_the_likelihood(model, shared):
    tasks = ragged(shared=shared)
    learner = fitted(model, tasks)
    if not model.startswith(("mnl", "lcl", "cdm")):  # utilities are logarithms of probabilities
        probabilities = np.exp(learner.utilities(tasks).astype(np.float64))
        np.testing.assert_allclose(probabilities, learner.predict_proba(tasks), rtol=2e-6)
    np.testing.assert_allclose(tasks.reduce(np.add, learner.predict_proba(tasks)), 1)
    log_likelihood = np.log(learner.predict_proba(tasks)[tasks.chosen]).sum()
    simulated = "sobol" in model or "halton" in model or "some" in model
    tolerance = 3.0 if simulated else 1e-3  # other draws than in training
    assert learner.log_likelihood_ == pytest.approx(log_likelihood, abs=tolerance)


@pytest.mark.parametrize("model", MODELS)
def test_unseen_sizes_and_permuted_objects(model):
    learner = fitted(model, ragged())
    tasks = ragged(50, seed=5, sizes=(1, 4, 12))
    utilities = learner.utilities(tasks)
    permuted, order = shuffled(tasks)
    np.testing.assert_allclose(learner.utilities(permuted), utilities[order], rtol=1e-5, atol=1e-5)
    alone = np.concatenate([learner.utilities(tasks[i]) for i in range(len(tasks))])
    np.testing.assert_allclose(alone, utilities, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("model", MODELS)
def test_state_round_trip_and_same_seed_same_result(model):
    tasks = ragged()
    learner, again = fitted(model, tasks), fitted(model, tasks)
    restored = clone(learner)
    restored.kind_, restored.n_features_in_ = learner.kind_, learner.n_features_in_
    state = learner._state()
    assert all(isinstance(value, np.ndarray) for value in state.values())
    # Writers of files may turn numbers into arrays of one element.
    restored._set_state({name: np.atleast_1d(value) for name, value in state.items()})
    assert isinstance(restored.log_likelihood_, float)
    for other in (again, restored):
        np.testing.assert_array_equal(other.utilities(tasks), learner.utilities(tasks))
        assert other.log_likelihood_ == learner.log_likelihood_


def test_mnl_is_the_softmax_of_a_linear_utility():
    tasks = ragged(sizes=(3,))
    learner = make_learner("mnl", l2=0).fit(tasks)
    values = (tasks.features @ learner.coefficients_).reshape(-1, 3)
    expected = log_softmax(values, axis=1)[tasks.chosen.reshape(-1, 3)].sum()
    assert learner.log_likelihood_ == pytest.approx(expected)


def test_glm_is_a_logistic_regression_with_intercept():
    tasks = ragged(kind=Kind.SUBSET)
    learner = make_learner("mnl", l2=0).fit(tasks)
    probabilities = expit(tasks.features @ learner.coefficients_ + learner.intercept_[0])
    np.testing.assert_allclose(learner.predict_proba(tasks), probabilities, rtol=1e-5)
    # At the maximum the expected number of choices is the observed one.
    assert probabilities.sum() == pytest.approx(tasks.chosen.sum())
    assert learner.standard_errors(tasks)["intercept_"] > 0


@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_standard_errors_are_those_of_the_penalized_likelihood(l2):
    """The Hessian is written out here: without the penalty the errors would be too large."""
    tasks = ragged(sizes=(3,))
    learner = make_learner("mnl", l2=l2).fit(tasks)
    x = tasks.features.astype(np.float64).reshape(-1, 3, 4)
    shares = learner.predict_proba(tasks).reshape(-1, 3, 1)
    centered = x - (shares * x).sum(axis=1, keepdims=True)
    hessian = np.einsum("nji,njk->ik", shares * centered, centered)
    hessian += np.diag(l2 * len(tasks) * tasks.features.astype(np.float64).var(axis=0))
    expected = np.sqrt(np.diag(np.linalg.inv(hessian)))
    np.testing.assert_allclose(learner.standard_errors(tasks)["coefficients_"], expected, rtol=1e-4)


def test_many_features_use_another_optimizer_with_the_same_result(monkeypatch):
    for kind in Kind:
        tasks = ragged(kind=kind)
        exact = make_learner("mnl", l2=1e-3).fit(tasks)
        monkeypatch.setattr("cschoice.learners.logit.multinomial._NEWTON_FEATURES", 0)
        other = make_learner("mnl", l2=1e-3).fit(tasks)
        monkeypatch.undo()
        np.testing.assert_allclose(other.coefficients_, exact.coefficients_, rtol=1e-3)


def test_nested_logit_with_all_dissimilarities_one_is_mnl():
    tasks = ragged()
    mnl, nested = make_learner("mnl").fit(tasks), make_learner("nl").fit(tasks)
    nested.coefficients_ = mnl.coefficients_
    nested.dissimilarities_ = np.ones_like(nested.dissimilarities_)
    np.testing.assert_allclose(nested.predict_proba(tasks), mnl.predict_proba(tasks), rtol=1e-5)


def test_generalized_nested_logit_with_one_nest_is_mnl():
    tasks = ragged()
    mnl, one = make_learner("mnl").fit(tasks), make_learner("gnl", n_nests=1).fit(tasks)
    # One nest holds everything: utilities are divided by its dissimilarity, nothing else.
    expected = mnl.coefficients_ * one.dissimilarities_
    np.testing.assert_allclose(one.log_likelihood_, mnl.log_likelihood_, rtol=1e-4)
    np.testing.assert_allclose(one.coefficients_, expected, rtol=0.05, atol=0.02)


def test_nested_probabilities_by_hand():
    """Two equal objects in a nest of dissimilarity 1/2 and one outside: 2**.5 to 1."""
    table = [[0.0, 0], [0.0, 0], [0.0, 1]]
    tasks = ChoiceTasks(table, [0, 1, 2], [0, 3], [True, False, False], Kind.SINGLETON)
    learner = make_learner("nl", nest_feature=1).fit(tasks)
    learner.coefficients_, learner.dissimilarities_ = np.zeros(1), np.array([0.5, 1.0])
    nest = np.sqrt(2) / (np.sqrt(2) + 1)
    np.testing.assert_allclose(learner.predict_proba(tasks), [nest / 2, nest / 2, 1 - nest], 1e-6)


def test_unknown_nest_is_refused():
    learner = fitted("nl-given", ragged())
    tasks = ChoiceTasks([[0, 0, 0, 9.0]], [0], [0, 1], [True], Kind.SINGLETON)
    with pytest.raises(InvalidTasks, match="nest 9 was not seen in training, known: 0, 1, 2"):
        learner.utilities(tasks)


def test_quadrature_and_many_draws_agree():
    tasks = ragged()
    exact = fitted("mixed-exact", tasks, n_draws=400)
    drawn = fitted("mixed-exact", tasks, integration="sobol", n_draws=2048)
    assert exact.log_likelihood_ == pytest.approx(drawn.log_likelihood_, abs=0.02)
    np.testing.assert_allclose(exact.coefficients_, drawn.coefficients_, rtol=0.02)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
@pytest.mark.parametrize("model", ["mnl", "nl", "mixed-sobol"])
def test_units_of_measurement_do_not_matter(model, scale):
    tasks = ragged(300)
    scaled = ChoiceTasks(
        tasks.table * np.float32(scale), tasks.items, tasks.offsets, tasks.chosen, tasks.kind
    )
    expected, learner = fitted(model, tasks, l2=1e-3), fitted(model, scaled, l2=1e-3)
    assert learner.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-5)
    np.testing.assert_allclose(
        learner.coefficients_ * scale, expected.coefficients_, rtol=1e-2, atol=1e-3
    )


@pytest.mark.parametrize("model", MODELS)
def test_huge_utilities_stay_finite(model):
    tasks = ragged()
    learner = fitted(model, tasks)
    data = learner._data(tasks)
    for factor in (1e3, 1e5):
        at = learner._parameters()
        at[: learner.coefficients_.size] *= factor
        loss, gradient = learner._loss(data, at)
        assert np.isfinite(loss)
        assert np.isfinite(gradient).all()


@pytest.mark.parametrize("model", MODELS)
def test_separable_and_constant_features_do_no_harm(model):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 4, 4))
    x[:, :, 2] = 7.0
    x[:, :, 3] = rng.integers(0, 2, (80, 4))
    tasks = ChoiceTasks.from_dense(x, x[:, :, 0].argmax(1), Kind.SINGLETON)
    learner = fitted(model, tasks, l2=0 if model == "mnl" else 1e-4)
    hits = learner.utilities(tasks).reshape(80, 4).argmax(1) == x[:, :, 0].argmax(1)
    assert hits.mean() > 0.95


@pytest.mark.parametrize("model", MODELS)
def test_tasks_of_one_object_teach_nothing(model):
    tasks = ragged(20, sizes=(1,))
    learner = fitted(model, tasks)
    assert learner.log_likelihood_ == pytest.approx(0)
    assert np.isfinite(learner.utilities(ragged())).all()


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("mnl", {"l2": -1.0}, "l2 must be a number of at least 0, got -1"),
        ("nl", {"n_nests": 0}, "n_nests must be a whole number from 1 to 1,000, got 0"),
        ("nl", {"nest_feature": 4}, "nest_feature must be 0 to 3, got 4"),
        ("mixed-logit", {"mixing": "beta"}, "mixing must be one of normal, discrete, got 'beta'"),
        (
            "mixed-logit",
            {"integration": "grid"},
            "integration must be one of sobol, halton, quadrature",
        ),
        ("mixed-logit", {"integration": "quadrature"}, "exactly one random coefficient, got 4"),
        ("mixed-logit", {"n_draws": 0}, "n_draws must be a whole number from 1 to 100,000, got 0"),
        (
            "mixed-logit",
            {"n_components": 0},
            "n_components must be a whole number from 1 to 1,000, got 0",
        ),
        ("mixed-logit", {"random_features": (1, 4)}, "must be numbers from 0 to 3, got"),
        (
            "mixed-logit",
            {"random_features": (1, 1)},
            "a list of distinct values, each a whole number of at least 0, or None",
        ),
    ],
)
def test_bad_parameters_are_refused(name, parameters, message):
    with pytest.raises(InvalidParameter, match=message):
        make_learner(name, **parameters).fit(ragged(10))
