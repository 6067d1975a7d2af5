"""PairwiseSVM and the baselines."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.learners import make_learner, pairwise_svm
from cschoice.learners.pairwise_svm import RowDifferences, sample_pairs, separate
from cschoice.tasks import ChoiceTasks, Kind


def linear_tasks(kind, n_tasks=60, seed=0):
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum(rng.integers(1, 6, n_tasks)))
    table = rng.normal(size=(offsets[-1], 3))
    values = table @ [2.0, -1.0, 0.5]
    chosen = np.zeros(len(table), dtype=bool)
    for task in range(n_tasks):
        start, stop = offsets[task : task + 2]
        chosen[start + values[start:stop].argmax()] = True
    if kind is Kind.SUBSET:
        chosen |= values > 0
    return ChoiceTasks(table, np.arange(len(table)), offsets, chosen, kind)


@pytest.mark.parametrize("kind", Kind)
def test_pairwise_svm_finds_the_direction(kind):
    tasks = linear_tasks(kind)
    learner = make_learner("pairwise-svm").learn(tasks)
    expected = np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    direction = learner.coefficients_ / np.linalg.norm(learner.coefficients_)
    assert direction @ expected > 0.98
    utilities = tasks.features @ learner.coefficients_
    np.testing.assert_allclose(learner.utilities(tasks), utilities, rtol=1e-5)
    restored = clone(learner)
    restored.kind_, restored.n_features_in_ = kind, 3
    restored._set_state(learner._state())
    np.testing.assert_array_equal(restored.utilities(tasks), learner.utilities(tasks))


@pytest.mark.parametrize("C", [0.01, 1.0, 12.0])
@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_the_machine_is_that_of_scikit_learn(C, noise):  # noqa: N803
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(6, 6)) @ np.diag([10, 3, 1, 1, 0.3, 0.1])  # correlated features
    differences = rng.normal(size=(400, 6)) @ mixed
    differences *= np.sign(differences[:, :1] + noise * rng.normal(size=(400, 1)))
    signs = np.where(np.arange(400) % 2 == 0, 1, -1)  # it wants two classes
    theirs = LinearSVC(C=C, tol=1e-9, fit_intercept=False, dual=False, max_iter=100_000)
    theirs.fit(differences * signs[:, None], signs)
    np.testing.assert_allclose(
        separate(RowDifferences(differences), C, 1e-9), theirs.coef_[0], rtol=1e-5
    )


def test_many_features_have_the_same_minimum_in_the_memory_of_their_table(monkeypatch):
    tasks = linear_tasks(Kind.SUBSET)
    few = make_learner("pairwise-svm", tol=1e-9).learn(tasks)
    monkeypatch.setattr(pairwise_svm, "_MANY_FEATURES", 2)
    monkeypatch.setattr(pairwise_svm, "_ROWS", 7)
    many = make_learner("pairwise-svm", tol=1e-9).learn(tasks)
    np.testing.assert_allclose(many.coefficients_, few.coefficients_, rtol=1e-6)


def test_ten_thousand_features_need_little_more_than_their_table():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 10_000)).astype(np.float32)  # 12 MB; a Hessian has 800
    chosen = np.arange(300) % 10 == 0
    tasks = ChoiceTasks(table, np.arange(300), np.arange(0, 301, 10), chosen, Kind.SINGLETON)
    tracemalloc.start()
    learner = make_learner("pairwise-svm").learn(tasks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert learner.score(tasks) == 1.0


def test_a_higher_tolerance_ends_earlier_but_never_worse_than_it_began():
    differences = np.random.default_rng(0).normal(0.3, 1, size=(200, 5))
    exact, early, none = (
        separate(RowDifferences(differences), 1.0, tol) for tol in (1e-9, 0.5, 2.0)
    )
    assert not none.any()
    assert 0 < np.linalg.norm(early - exact) < np.linalg.norm(exact)


def test_all_pairs_are_listed_once_and_within_their_task():
    tasks = linear_tasks(Kind.SUBSET)
    chosen, others = sample_pairs(tasks, 10**6, np.random.default_rng(0))
    task = tasks.spread(np.arange(len(tasks)))
    assert tasks.chosen[chosen].all()
    assert not tasks.chosen[others].any()
    assert (task[chosen] == task[others]).all()
    positive = tasks.reduce(np.add, tasks.chosen, dtype=int)
    assert len(set(zip(chosen, others, strict=True))) == (positive * (tasks.sizes - positive)).sum()


def test_pairs_are_bounded():
    chosen, others = sample_pairs(linear_tasks(Kind.SUBSET), 7, np.random.default_rng(0))
    assert len(chosen) == len(others) == len(set(zip(chosen, others, strict=True))) == 7
    with pytest.raises(
        InvalidParameter, match="max_pairs must be a whole number from 2 to 100,000,000, got 1"
    ):
        make_learner("pairwise-svm", max_pairs=1).fit(linear_tasks(Kind.SUBSET))


@pytest.mark.parametrize("size", [1, 2])
def test_hardly_any_pairs(size):
    tasks = ChoiceTasks.from_dense(np.arange(size).reshape(1, size, 1), [0], Kind.SINGLETON)
    assert (make_learner("pairwise-svm").fit(tasks).coefficients_ <= 0).all()


def test_all_positive_finds_everything_equal():
    tasks = linear_tasks(Kind.SUBSET)
    assert not make_learner("all-positive").fit(tasks).utilities(tasks).any()
    with pytest.raises(InvalidTasks, match="all-positive learns subset choice"):
        make_learner("all-positive").fit(linear_tasks(Kind.SINGLETON))


def test_random_utilities_depend_on_seed_object_and_set_only():
    tasks = linear_tasks(Kind.SINGLETON, 500)
    learner = make_learner("random").fit(tasks, seed=3)
    utilities = learner.utilities(tasks)
    np.testing.assert_array_equal(
        make_learner("random").fit(tasks, seed=3).utilities(tasks), utilities
    )
    assert (make_learner("random").fit(tasks, seed=4).utilities(tasks) != utilities).mean() > 0.99
    alone = np.concatenate([learner.utilities(tasks[i]) for i in range(len(tasks))])
    np.testing.assert_array_equal(alone, utilities)
    order = np.concatenate(
        [
            np.arange(b - 1, a - 1, -1)
            for a, b in zip(tasks.offsets, tasks.offsets[1:], strict=False)
        ]
    )
    turned = ChoiceTasks(
        tasks.table, tasks.items[order], tasks.offsets, tasks.chosen[order], tasks.kind
    )
    np.testing.assert_array_equal(learner.utilities(turned), utilities[order])


def test_random_utilities_look_uniform_and_independent():
    x = np.zeros((5_000, 4, 2))
    x[:, :, 0] = np.arange(4)  # the same four objects,
    x[:, :, 1] = np.arange(5_000)[:, None]  # in sets that differ
    x[:, 0, 0] = -0.0
    tasks = ChoiceTasks.from_dense(x, np.zeros(5_000, dtype=int), Kind.SINGLETON)
    learner = make_learner("random").fit(tasks)
    utilities = learner.utilities(tasks).reshape(-1, 4)
    counts = np.bincount(utilities.argmax(axis=1), minlength=4)
    assert np.abs(counts - 1250).max() < 150
    assert abs(utilities.mean() - 0.5) < 0.01
    assert np.abs(np.corrcoef(utilities.T) - np.eye(4)).max() < 0.06
    positive = ChoiceTasks.from_dense(np.abs(x), np.zeros(5_000, dtype=int), Kind.SINGLETON)
    np.testing.assert_array_equal(learner.utilities(positive).reshape(-1, 4), utilities)
    restored = clone(learner)
    restored.kind_, restored.n_features_in_ = learner.kind_, 2
    restored._set_state(learner._state())
    np.testing.assert_array_equal(restored.utilities(tasks).reshape(-1, 4), utilities)


@pytest.mark.parametrize("most", [0, 100])
def test_a_pair_counts_by_the_weight_of_its_task(most, monkeypatch):
    monkeypatch.setattr(pairwise_svm, "_MANY_FEATURES", most)
    tasks = linear_tasks(Kind.SUBSET)
    weighted = tasks.with_arrays(weights=1.0 + (np.arange(len(tasks)) % 3 == 0))
    twice = tasks[np.append(np.arange(len(tasks)), np.arange(0, len(tasks), 3))]
    found, expected = (
        make_learner("pairwise-svm", tol=1e-9).learn(one).coefficients_ for one in (weighted, twice)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert not np.allclose(
        found, make_learner("pairwise-svm").learn(tasks).coefficients_, rtol=1e-3
    )
