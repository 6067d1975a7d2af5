"""Effects of objects on each other, of learners whose utility is known."""

from itertools import combinations

import numpy as np
import pytest
from closed_form import halo, one_hot_tasks, random_tasks, written
from numpy.testing import assert_allclose

from cschoice.datasets import make_dataset
from cschoice.explanations import halo as effects
from cschoice.explanations.objects import objects_of
from cschoice.explanations.relations import relations
from cschoice.explanations.structures import structure
from cschoice.explanations.triples import Directions, model_directions
from cschoice.learners import make_learner
from cschoice.tasks import Kind

MATRIX = np.random.default_rng(0).normal(size=(5, 5))
SETS = [list(some) for size in (3, 4) for some in combinations(range(5), size)]


@pytest.fixture(scope="module")
def tasks():
    return one_hot_tasks(5, SETS)


def test_the_effects_of_single_rivals_are_those_of_the_model(tasks):
    model = written(halo(MATRIX, own=[1, 2, 3, 4, 5]), tasks)
    objects = objects_of(tasks)
    assert objects.names == ("x0", "x1", "x2", "x3", "x4")
    found = effects.first_order(model, tasks, objects)
    away = ~np.eye(5, dtype=bool)
    assert_allclose(found[away], MATRIX[away], atol=1e-5)


def test_relative_effects_are_those_of_the_definition(tasks):
    """α_jk(T) = [v_j(T) + v_j(T ∪ {k})] − [v_k(T) + v_k(T ∪ {j})], term by term."""
    surface = np.random.default_rng(1).normal(size=2**5)

    def utility(x):  # any function of a set: an effect of every order
        who = x.argmax(1)
        return np.sin(surface[(1 << who).sum()] * (1 + who) + who)

    model = written(utility, tasks)
    j, k = tasks.offsets[[12]], tasks.offsets[[12]] + 1  # of a set of four
    for rivals in ([], [2], [2, 3]):
        others = tasks.offsets[12] + np.array([rivals], dtype=np.int64)

        def v(of, also=(), others=others):
            return effects.halo(model, tasks, of, np.concatenate([others, *also], axis=1))

        defined = (v(j) + v(j, [k[:, None]])) - (v(k) + v(k, [j[:, None]]))
        found = effects.relative_halo(model, tasks, j, k, others)
        assert_allclose(found, defined, atol=1e-5)


def test_log_odds_are_the_sum_of_the_effects_of_all_orders(tasks):
    model = written(lambda x: x @ np.arange(5) * np.sqrt(len(x)) + x[:, 0] * x.sum(0)[1], tasks)
    four = np.array([tasks.entries(len(SETS) - 1)])
    j, k = four[:, 0], four[:, 1]
    parts = [
        effects.relative_halo(model, tasks, j, k, four[:, list(some)])
        for size in range(3)
        for some in combinations((2, 3), size)
    ]
    utilities = model.utilities(tasks)
    assert_allclose(sum(parts), utilities[j] - utilities[k], atol=1e-5)


def test_pairwise_context_has_orders_zero_and_one_only(tasks):
    found = effects.orders(written(halo(MATRIX), tasks), tasks)
    assert (found[:2] > 0.1).all()
    assert_allclose(found[2:], 0, atol=1e-5)
    without = effects.orders(written(lambda x: x @ np.arange(5.0), tasks), tasks)
    assert_allclose(without[1:], 0, atol=1e-5)


def test_who_helps_and_who_hurts_whom(tasks):
    matrix = np.zeros((5, 5))
    matrix[1, 0] = -2.0  # object 0 hurts object 1
    matrix[2, 0] = 2.0  # and helps object 2
    objects = objects_of(tasks)
    found = effects.influences(written(halo(matrix), tasks), tasks)
    mean = found.by_names(objects)
    assert mean[1, 0] < -1
    assert mean[2, 0] > 1
    assert np.isnan(np.diag(mean)).all()
    assert_allclose(mean[:, 1:][~np.isnan(mean[:, 1:])], 0, atol=1e-6)
    meetings = found.meetings(objects)
    assert meetings[0, 1] == sum({0, 1} <= set(one) for one in SETS)


def test_three_objects_give_the_change_in_the_log_odds_of_the_other_two():
    tasks = one_hot_tasks(3, [[0, 1, 2]])
    model = written(halo(MATRIX[:3, :3]), tasks)
    mean = effects.influences(model, tasks).by_names(objects_of(tasks))
    assert mean[0, 2] == pytest.approx(MATRIX[0, 2] - MATRIX[1, 2], abs=1e-5)
    assert mean[1, 2] == pytest.approx(-mean[0, 2], abs=1e-5)


def test_subsets_need_nothing_to_compare_with():
    tasks = one_hot_tasks(3, [[0, 1], [1, 2]], Kind.SUBSET)
    model = written(halo(MATRIX[:3, :3]), tasks)
    mean = effects.influences(model, tasks).by_names(objects_of(tasks))
    assert mean[0, 1] == pytest.approx(MATRIX[0, 1], abs=1e-5)


def test_distance_explains_a_medoid_and_dominance_a_skyline():
    tasks = random_tasks(60, 6, 2)
    higher = Directions((0, 1), (1, 1), ("x0", "x1"))

    def medoid(x):
        return -np.linalg.norm(x[:, None] - x, axis=-1).mean(1)

    def skyline(x):
        worse = (x[:, None] <= x).all(-1) & (x[:, None] < x).any(-1)
        return -worse.mean(1)

    for utility, name in ((medoid, "distance"), (skyline, "the rival dominates")):
        found = effects.influences(written(utility, tasks), tasks)
        first, *others = relations(tasks, found, higher)
        assert first.name == name
        assert first.explained > 0.9 > max(other.explained for other in others)
        assert first.per_unit < 0


@pytest.mark.parametrize(
    ("problem", "n_objects", "name"),
    [("medoid", 5, "distance"), ("pareto2d", 4, "the rival dominates")],
)
def test_what_feta_has_learned_is_what_the_problem_is_about(problem, n_objects, name):
    """Directions are the model's own: nobody says that more is better in a skyline."""
    dataset = make_dataset(problem, n_train=2000, n_test=300, n_objects=n_objects, n_features=2)
    train, test = dataset.fold(0, seed=0)
    model = make_learner("feta", epochs=10, n_units=16).fit(train, seed=1)
    found = effects.influences(model, test)
    first, second, *_ = relations(test, found, model_directions(model, test))
    assert first.name == name
    assert first.explained > 0.3
    assert first.explained > 1.3 * second.explained
    assert first.per_unit < 0


def test_without_context_there_is_no_relation():
    some = random_tasks(20, 4, 2)
    found = effects.influences(written(lambda x: x @ [1.0, -1.0], some), some)
    assert np.abs(found.effect).max() < 1e-6
    directions = model_directions(written(lambda x: x @ [1.0, -1.0], some), some)
    assert directions.signs == (1, -1)


def test_clusters_stand_in_for_objects_without_identity():
    objects = objects_of(random_tasks(50, 5, 2))
    assert objects.sort == "cluster"
    assert len(objects.names) == len(set(objects.names)) == 6
    assert set(objects.codes) == set(range(6))


def test_the_parts_between_pairs_of_feta_are_shown_as_they_are():
    tasks = one_hot_tasks(4, [[0, 1, 2], [1, 2, 3], [0, 2, 3]])
    model = make_learner("feta", epochs=2).fit(tasks)
    objects = objects_of(tasks)
    shown = structure(model, tasks, tasks, objects)
    import torch

    net = model.network_
    with torch.no_grad():
        for j, k in ((0, 1), (3, 1)):
            x = net.scaled(torch.eye(4)[[j, k]])[None]
            own = float(net.network.last(net.network.pairs(x))[0, 0])
            assert shown.values[j, k] == pytest.approx(own, abs=1e-4)
    assert np.isnan(shown.values[0, 0])
    assert structure(make_learner("mnl").fit(tasks), tasks, tasks, objects) is None


def test_the_effects_of_alternatives_of_a_cdm_are_shown_by_name(tasks):
    """Its B stands beside the sum of the others, and is not A, which stands beside the mean."""
    model = make_learner("cdm", l2=0.1).fit(tasks)
    shown = structure(model, tasks, tasks, objects_of(tasks))
    assert (shown.name, shown.rows) == ("U", ("x0", "x1", "x2", "x3", "x4"))
    zero, one, alone_zero, alone_one = model.utilities(one_hot_tasks(5, [[0, 1], [0], [1]]))
    assert shown.values[0, 1] == pytest.approx(zero - alone_zero, abs=1e-4)
    assert shown.values[1, 0] == pytest.approx(one - alone_one, abs=1e-4)
