import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import choice_tasks

from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.splits import fold_numbers, stratified_shuffle_splits


@given(choice_tasks(max_tasks=30), st.floats(0.05, 0.9), st.integers(0, 9))
def test_a_split_is_a_partition_of_the_wanted_size(tasks, held_out, seed):
    if len(tasks) < 2:
        return
    splits = stratified_shuffle_splits(tasks, 3, held_out, seed)
    assert len(splits) == 3
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(tasks)))
        assert len(train) >= 1
        assert len(test) == min(max(1, round(held_out * len(tasks))), len(tasks) - 1)


def ragged(sizes, n_chosen):
    chosen = np.concatenate([np.arange(s) < c for s, c in zip(sizes, n_chosen, strict=True)])
    return ChoiceTasks(
        table=np.zeros((1, 1)),
        items=np.zeros(len(chosen), dtype=int),
        offsets=np.concatenate([[0], np.cumsum(sizes)]),
        chosen=chosen,
        kind=Kind.SUBSET,
    )


def test_every_stratum_gives_its_share():
    rng = np.random.default_rng(0)
    sizes = rng.choice([3, 5, 9], p=[0.6, 0.3, 0.1], size=1000)
    tasks = ragged(sizes, rng.integers(1, 3, size=1000))
    n_chosen = tasks.reduce(np.add, tasks.chosen, dtype=int)
    for _, test in stratified_shuffle_splits(tasks, 5, 0.1, seed=1):
        for size in (3, 5, 9):
            for count in (1, 2):
                stratum = (sizes == size) & (n_chosen == count)
                assert abs(stratum[test].sum() - 0.1 * stratum.sum()) <= 1


def test_rare_strata_are_held_out_at_times():
    tasks = ragged([2] * 49 + [7], [1] * 50)
    splits = stratified_shuffle_splits(tasks, 200, 0.1, seed=0)
    assert 5 <= sum(49 in test for _, test in splits) <= 40


def test_splits_follow_the_seed():
    tasks = ragged([2] * 50, [1] * 50)

    def held_out(seed):
        return [test.tolist() for _, test in stratified_shuffle_splits(tasks, 3, 0.2, seed)]

    assert held_out(1) == held_out(1)
    assert held_out(1) != held_out(2)
    first, second, _ = held_out(1)
    assert first != second


@pytest.mark.parametrize(
    ("n_tasks", "n_splits", "held_out"), [(1, 1, 0.1), (5, 1, 0.0), (5, 1, 1.0), (5, 0, 0.1)]
)
def test_impossible_splits_are_refused(n_tasks, n_splits, held_out):
    tasks = ragged([2] * n_tasks, [1] * n_tasks)
    with pytest.raises(InvalidParameter):
        stratified_shuffle_splits(tasks, n_splits, held_out, seed=0)


def grouped(n_groups, n_tasks=200):
    groups = np.random.default_rng(0).integers(n_groups, size=n_tasks)
    tasks = ChoiceTasks.from_dense(np.zeros((n_tasks, 2, 1)), np.zeros(n_tasks, int), "singleton")
    return ChoiceTasks(tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, groups)


def test_folds_are_even_in_every_stratum_and_follow_the_seed():
    sizes = np.repeat([2, 5, 9], [60, 31, 9])
    tasks = ragged(sizes, np.ones(100, dtype=int))
    folds = fold_numbers(tasks, 5, seed=3)
    for size, most in ((2, 12), (5, 7), (9, 2)):
        counts = np.bincount(folds[sizes == size], minlength=5)
        assert counts.max() <= most
        assert counts.max() - counts.min() <= 1
    assert np.array_equal(folds, fold_numbers(tasks, 5, seed=3))
    assert not np.array_equal(folds, fold_numbers(tasks, 5, seed=4))


def test_nobodys_choices_are_on_both_sides():
    tasks = grouped(n_groups=23)
    folds = fold_numbers(tasks, 5, seed=0)
    for group in range(23):
        assert len(np.unique(folds[tasks.groups == group])) == 1
    assert np.bincount(folds).max() - np.bincount(folds).min() <= 8
    for train, test in stratified_shuffle_splits(tasks, 5, 0.1, seed=0):
        assert not set(tasks.groups[train]) & set(tasks.groups[test])
        assert 8 <= len(test) <= 32
        assert len(train) + len(test) == 200


def test_groups_that_cannot_be_split_are_refused():
    with pytest.raises(InvalidParameter, match=r"must be 2 to 3 \(groups\), got 4"):
        fold_numbers(grouped(n_groups=3), 4, seed=0)
    with pytest.raises(InvalidParameter, match="at least 2 groups"):
        stratified_shuffle_splits(grouped(n_groups=1), 1, 0.1, seed=0)
