"""One decision as a sum: Shapley values of features and rivals."""

import numpy as np
import pytest
from closed_form import halo, one_hot_tasks, random_tasks, written
from numpy.testing import assert_allclose

from cschoice.errors import InvalidParameter
from cschoice.explanations.decisions import decision, striking
from cschoice.explanations.objects import objects_of
from cschoice.explanations.shapley import shapley
from cschoice.learners import make_learner

MATRIX = np.random.default_rng(0).normal(size=(5, 5))


def test_rivals_get_what_they_change():
    tasks = one_hot_tasks(5, [[0, 1, 2, 3, 4]])
    model = written(halo(MATRIX), tasks)
    found = decision(model, tasks, objects_of(tasks), 0, between=(0, 1))
    rivals = {one.name: one.value for one in found.contributions if one.is_rival}
    assert list(rivals) == ["x2", "x3", "x4"]
    for k in (2, 3, 4):
        assert rivals[f"x{k}"] == pytest.approx(MATRIX[0, k] - MATRIX[1, k], abs=1e-5)
    assert found.alone == pytest.approx(MATRIX[0, 1] - MATRIX[1, 0], abs=1e-5)
    assert (found.first, found.second, found.chosen) == ("x0", "x1", ("x0",))


def test_features_of_a_linear_utility_get_their_own_terms():
    tasks, weights = random_tasks(3, 2, 3), np.array([1.0, -2.0, 0.5])
    model = written(lambda x: x @ weights, tasks)
    found = decision(model, tasks, objects_of(tasks), 1)
    first, second = tasks[1].features[[int(np.argmax(tasks[1].features @ weights)),
                                       int(np.argmin(tasks[1].features @ weights))]]  # fmt: skip
    values = [one.value for one in found.contributions]
    assert_allclose(values, weights * (first - second), atol=1e-5)
    assert found.contributions[0].first == (first[0],)


@pytest.mark.parametrize("n_objects", [3, 15])
def test_contributions_of_any_network_sum_to_the_log_odds(n_objects):
    tasks = random_tasks(12, n_objects, 4)
    model = make_learner("fate", epochs=1, n_units=8, n_set_units=8, n_embedding=8).fit(tasks)
    found = decision(model, tasks, objects_of(tasks), 7)
    utilities = np.sort(model.utilities(tasks[7]))
    assert found.total == pytest.approx(utilities[-1] - utilities[-2], abs=1e-5)
    assert found.gap == pytest.approx(0, abs=1e-4)
    assert found.exact == (n_objects == 3)
    assert len(found.contributions) == 4 + n_objects - 2


def test_drawn_shares_lie_within_their_errors_of_the_exact_ones():
    surface = np.random.default_rng(3).normal(size=2**8)

    def game(some):
        return surface[some @ (1 << np.arange(8))]

    exact = shapley(game, 8)
    assert exact.exact
    assert exact.values.sum() == pytest.approx(surface[-1] - surface[0])
    from cschoice.explanations import shapley as module

    drawn = module._drawn(game, 8, seed=1, draws=400)
    assert drawn.values.sum() == pytest.approx(surface[-1] - surface[0])
    assert (np.abs(drawn.values - exact.values) < 4 * drawn.errors).all()
    assert (drawn.errors < 0.1).all()


def test_the_task_where_rivals_turn_a_pair_round_strikes():
    matrix = np.zeros((4, 4))
    matrix[1, 3] = -1.2  # object 3 hurts object 1, which is better than 0 in the pair
    tasks = one_hot_tasks(4, [[0, 1, 2], [1, 0, 3], [0, 2, 1], [2, 0, 1]])
    model = written(halo(matrix, own=[1, 2, 0, 0.5]), tasks)
    assert striking(model, tasks) == 1


def test_wrong_numbers_are_refused():
    tasks = random_tasks(3, 2, 3)
    model, objects = written(lambda x: x[:, 0], tasks), objects_of(tasks)
    with pytest.raises(InvalidParameter, match="0 to 2, got 3"):
        decision(model, tasks, objects, 3)
    with pytest.raises(InvalidParameter, match="two different positions"):
        decision(model, tasks, objects, 0, between=(1, 1))
