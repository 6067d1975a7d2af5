"""Choices by expected F1, against sums over everything that may be chosen."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from cschoice.errors import InvalidParameter
from cschoice.evaluation.decisions import choose, tune_rule, tune_threshold
from cschoice.evaluation.expected_f1 import Calibration, expected_f1, largest_expected_f1
from cschoice.evaluation.metrics import metric
from cschoice.tasks import ChoiceTasks, Kind

some_probabilities = st.lists(st.floats(0, 1), min_size=1, max_size=6)


def outcomes(p):
    """Every set that may truly be chosen, with its probability; the empty one scores nothing."""
    for truth in product([False, True], repeat=len(p)):
        chosen = np.array(truth)
        yield chosen, np.prod(np.where(chosen, p, 1 - p))


def by_hand(p, choices):
    return sum(
        probability * 2 * (choices & truth).sum() / (choices.sum() + truth.sum())
        for truth, probability in outcomes(p)
        if truth.any()
    )


@given(some_probabilities)
def test_the_expectation_is_the_sum_over_all_outcomes(values):
    p = np.array(sorted(values, reverse=True))
    first = np.arange(len(p))
    expected = [by_hand(p, first <= k) for k in range(len(p))]
    assert expected_f1(p[None])[0] == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_no_set_of_objects_has_a_larger_expectation(values):
    p = np.array(values)
    tasks = ChoiceTasks.from_dense(np.zeros((1, len(p), 1)), [[True] * len(p)], Kind.SUBSET)
    chosen = largest_expected_f1(tasks, p)
    best = max(by_hand(p, one) for one, _ in outcomes(p) if one.any())
    assert by_hand(p, chosen) == pytest.approx(best, abs=1e-12)


def tasks_of_known_odds(n_tasks, seed=0):
    """Tasks whose objects are chosen independently, with log-odds of 2u − 1."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(2, 30, n_tasks))])
    centres = np.repeat(rng.normal(0, 1.5, n_tasks), np.diff(offsets))
    utilities = rng.normal(size=offsets[-1]) + centres
    chosen = rng.random(len(utilities)) < 1 / (1 + np.exp(1 - 2 * utilities))
    chosen[offsets[:-1]] |= np.logical_or.reduceat(chosen, offsets[:-1]) == 0
    x = np.zeros((len(utilities), 1))
    return ChoiceTasks(x, np.arange(len(x)), offsets, chosen, Kind.SUBSET), utilities


def test_the_calibration_is_that_of_scikit_learn():
    tasks, utilities = tasks_of_known_odds(2_000)
    found = Calibration.learn(tasks, utilities)
    reference = LogisticRegression(C=np.inf, tol=1e-10).fit(utilities[:, None], tasks.chosen)
    assert found.slope == pytest.approx(reference.coef_[0, 0], rel=1e-2)
    assert found.intercept == pytest.approx(reference.intercept_[0], rel=1e-2)
    p = found.probabilities(utilities)
    assert p == pytest.approx(reference.predict_proba(utilities[:, None])[:, 1], abs=2e-3)


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
def test_utilities_that_separate_perfectly_or_are_equal_have_a_calibration(scale):
    chosen = [[True, False, False], [True, True, False]]
    tasks = ChoiceTasks.from_dense(np.zeros((2, 3, 1)), chosen, Kind.SUBSET)
    perfect = scale * np.where(tasks.chosen, 1.0, -1.0)
    rule = tune_rule("expected-f1", tasks, perfect)
    assert (choose(tasks, perfect, rule) == tasks.chosen).all()
    nothing = tune_rule("expected-f1", tasks, np.full(6, scale))
    assert nothing.slope == 0
    assert nothing.probabilities(np.ones(6)) == pytest.approx(np.full(6, 0.5))
    infinite = np.where(tasks.chosen, np.inf, -np.inf)
    assert choose(tasks, infinite, rule).tolist() == tasks.chosen.tolist()


def test_it_is_better_than_a_threshold_where_tasks_differ():
    (known, u), (test, v) = tasks_of_known_odds(3_000), tasks_of_known_odds(3_000, seed=1)
    f1 = metric("f1")
    by_threshold = f1(test, choose(test, v, tune_threshold(known, u)))
    by_expectation = f1(test, choose(test, v, tune_rule("expected-f1", known, u)))
    assert by_expectation > by_threshold + 0.01


def test_an_unknown_decision_is_refused():
    tasks, utilities = tasks_of_known_odds(3)
    with pytest.raises(InvalidParameter, match="threshold, expected-f1, got 'best'"):
        tune_rule("best", tasks, utilities)
