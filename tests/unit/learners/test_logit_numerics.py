"""The numerics of the logit models: optimizers, draws, blocks of entries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from logit_examples import differences, fitted, ragged
from scipy.special import ndtri

from cschoice.errors import TrainingDiverged
from cschoice.learners import make_learner
from cschoice.learners.logit import mixed_logit
from cschoice.learners.logit.integration import make_draws
from cschoice.learners.logit.mixed_logit import MixedLogit
from cschoice.learners.logit.optimization import minimize, newton


def test_not_finite_results_are_an_error():
    learner = make_learner("mnl").fit(ragged(10))
    with pytest.raises(TrainingDiverged, match="not finite"):
        learner._take(np.array([np.nan, 0, 0, 0]), 0.0)


def test_newton_halves_steps_and_ignores_flat_directions():
    def objective(x):
        root = np.sqrt(1 + x[0] ** 2)
        return root, np.array([x[0] / root, 0.0]), np.diag([root**-3, 0.0])

    np.testing.assert_allclose(newton(objective, np.array([5.0, 3.0])), [0, 3], atol=1e-5)


def test_minimize_respects_bounds():
    def objective(x):
        return float(((x - 2) ** 2).sum()), 2 * (x - 2)

    bounds = (np.array([-np.inf, 0.0]), np.array([np.inf, 1.0]))
    for information in (np.ones(2), np.diag([2.0, 2.0])):
        found = minimize(objective, np.array([0.0, 0.5]), information, bounds=bounds)
        np.testing.assert_allclose(found, [2, 1], atol=1e-4)
        assert found[1] <= 1


def test_halton_draws_are_radical_inverses():
    draws = make_draws("halton", n_tasks=2, n_random=2, n_draws=3, seed=0)
    assert draws.points.shape == (2, 3, 3)
    # 100 is 1100100 in base 2 and 10201 in base 3; the digits mirror behind the point.
    binary = (0b0010011) / 2**7
    ternary = 1 / 3 + 0 / 9 + 2 / 27 + 0 / 81 + 1 / 243
    np.testing.assert_allclose(draws.points[0, :, 0], [ndtri(binary), ndtri(ternary), 1])


def test_tasks_share_draws_when_they_are_many(monkeypatch):
    tasks = ragged(200)
    expected = fitted("mixed-sobol", tasks)
    monkeypatch.setattr("cschoice.learners.logit.integration._POOL_VALUES", 3 * 4 * 64)
    draws = make_draws("sobol", n_tasks=200, n_random=4, n_draws=64, seed=0)
    assert len(draws.points) == 3
    np.testing.assert_array_equal(draws.sets(4, slice(0, 9)), draws.points[1:2])
    learner = fitted("mixed-sobol", tasks)
    assert learner.log_likelihood_ == pytest.approx(expected.log_likelihood_, abs=2)


def test_many_random_coefficients_share_one_set_of_draws(monkeypatch):
    tasks = ragged(300)
    expected = fitted("mixed-sobol", tasks, n_draws=256)
    monkeypatch.setattr("cschoice.learners.logit.mixed_logit._MATRIX_PARAMETERS", 7)
    learner = fitted("mixed-sobol", tasks, n_draws=256)
    assert learner.log_likelihood_ == pytest.approx(expected.log_likelihood_, abs=1)
    data, at = learner._data(tasks), learner._parameters()
    by_differences = differences(lambda p: learner._loss(data, p)[0], at)
    np.testing.assert_allclose(learner._loss(data, at)[1], by_differences, rtol=1e-5, atol=1e-5)
    log_likelihood = np.log(learner.predict_proba(tasks)[tasks.chosen]).sum()
    assert learner.log_likelihood_ == pytest.approx(log_likelihood, abs=1e-3)


def test_many_parameters_are_found_in_fewer_steps_that_fit_as_well(monkeypatch):
    tasks = ragged(300)
    n_calls = Counter()
    loss = MixedLogit._loss

    def counted(learner, *arguments):
        n_calls[mixed_logit._MANY_PARAMETERS] += 1
        return loss(learner, *arguments)

    monkeypatch.setattr(MixedLogit, "_loss", counted)
    exact = fitted("mixed-sobol", tasks)
    monkeypatch.setattr(mixed_logit, "_MANY_PARAMETERS", 7)
    rough = fitted("mixed-sobol", tasks)
    assert n_calls[7] < n_calls[100]
    assert rough.log_likelihood_ == pytest.approx(exact.log_likelihood_, abs=0.1)


def test_runs_of_blocks_add_up(monkeypatch):
    tasks = ragged(300, shared=True)
    expected = fitted("mixed-discrete", tasks)
    data, at = expected._data(tasks), expected._parameters()
    whole = expected._loss(data, at)
    monkeypatch.setattr("cschoice.learners.logit.layout._VALUES_AT_ONCE", 100)
    monkeypatch.setattr("cschoice.learners.logit.layout._BLOCK_ENTRIES", 10)
    parts = expected._loss(expected._data(tasks), at)
    assert parts[0] == pytest.approx(whole[0])
    np.testing.assert_allclose(parts[1], whole[1], atol=1e-8)
