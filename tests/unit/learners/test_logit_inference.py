"""Standard errors: which parameters the tasks identify, and which lie at a bound."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from logit_examples import ragged

from cschoice.learners import make_learner
from cschoice.learners.logit.inference import IdentificationWarning
from cschoice.tasks import ChoiceTasks, Kind


def three_modes(n_tasks=400, n_constants=2):
    """Return choices of three alternatives by time and cost, with constants of alternatives."""
    rng = np.random.default_rng(1)
    x = np.zeros((n_tasks, 3, 2 + n_constants))
    x[:, :, :2] = rng.normal([1.5, 80], [0.5, 30], size=(n_tasks, 3, 2))
    x[:, :n_constants, 2:] = np.eye(n_constants)
    values = x[:, :, :2] @ [-1.0, -0.02] + [0.4, -0.3, 0] + rng.gumbel(size=(n_tasks, 3))
    return ChoiceTasks.from_dense(x, values.argmax(axis=1), Kind.SINGLETON)


@pytest.mark.parametrize("l2", [0.0, 1e-5])
def test_one_constant_too_many_has_no_standard_error_and_spoils_no_other(l2):
    right = make_learner("mnl", l2=l2)
    expected = right.fit(three_modes()).standard_errors(three_modes())["coefficients_"]
    tasks = three_modes(n_constants=3)
    learner = make_learner("mnl", l2=l2).fit(tasks)
    with pytest.warns(IdentificationWarning, match="not identified.*x2, x3, x4"):
        errors = learner.standard_errors(tasks)["coefficients_"]
    np.testing.assert_array_equal(np.isnan(errors), [False, False, True, True, True])
    np.testing.assert_allclose(errors[:2], expected[:2], rtol=1e-4)


def test_the_warning_names_columns_as_the_user_does():
    tasks = three_modes(n_constants=3)
    names = ["time", "cost", "train", "bus", "car"]
    with pytest.warns(IdentificationWarning, match="train, bus, car"):
        make_learner("mnl").fit(tasks).standard_errors(tasks, names)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_decide_nothing_about_identification(scale):
    tasks = ragged(300)
    table = tasks.table * np.float32([scale, 1, 1 / scale, 1])
    scaled = ChoiceTasks(table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind)
    expected = make_learner("mnl", l2=0).fit(tasks).standard_errors(tasks)["coefficients_"]
    errors = make_learner("mnl", l2=0).fit(scaled).standard_errors(scaled)["coefficients_"]
    np.testing.assert_allclose(errors * [scale, 1, 1 / scale, 1], expected, rtol=1e-4)


def test_columns_constant_within_tasks_are_not_identified():
    tasks = ragged(200)
    table = np.column_stack([tasks.table, np.full(len(tasks.table), 7.0)])
    rng = np.random.default_rng(0)
    ages = tasks.spread(rng.integers(20, 80, len(tasks)))
    table = np.column_stack([table, np.zeros(len(table))])
    table[tasks.items, 5] = ages
    wide = ChoiceTasks(table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind)
    with pytest.warns(IdentificationWarning, match="x4, x5"):
        errors = make_learner("mnl").fit(wide).standard_errors(wide)["coefficients_"]
    np.testing.assert_array_equal(np.isnan(errors), [False] * 4 + [True] * 2)


def test_an_identified_model_warns_of_nothing():
    tasks = ragged(200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(
            make_learner("mnl").fit(tasks).standard_errors(tasks)["coefficients_"]
        ).all()


def test_a_dissimilarity_at_its_bound_is_named_and_the_others_have_errors():
    """Choices without nests push dissimilarities to one."""
    tasks = ragged(300, seed=4, sizes=(6,))
    learner = make_learner("nl", nest_feature=3, l2=0).fit(tasks)
    at_bound = learner.at_bound["dissimilarities_"]
    assert at_bound.any()
    np.testing.assert_array_equal(at_bound, learner.dissimilarities_ >= 1 - 1e-9)
    assert not learner.at_bound["coefficients_"].any()
    with pytest.warns(IdentificationWarning, match=r"at its bound.*dissimilarity of nest \d = 1"):
        errors = learner.standard_errors(tasks)
    np.testing.assert_array_equal(np.isnan(errors["dissimilarities_"]), at_bound)
    assert np.isfinite(errors["coefficients_"]).all()
