import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import choice_tasks, utilities_for

from cschoice.errors import InvalidParameter, InvalidTasks, InvalidUtilities
from cschoice.evaluation.decisions import choose, probabilities, tune_threshold
from cschoice.evaluation.metrics import metric
from cschoice.tasks import ChoiceTasks, Kind


@given(choice_tasks(kind=Kind.SINGLETON))
def test_singleton_choice_is_the_first_largest(tasks):
    u = utilities_for(tasks, np.random.default_rng(0))
    chosen = choose(tasks, u)
    for start, stop in zip(tasks.offsets[:-1], tasks.offsets[1:], strict=True):
        assert np.flatnonzero(chosen[start:stop]).tolist() == [u[start:stop].argmax()]


def test_subset_choice_is_everything_from_the_threshold_on():
    tasks = ChoiceTasks.from_dense(np.zeros((1, 3, 1)), [[True, True, False]], Kind.SUBSET)
    assert choose(tasks, np.array([1.0, 2.0, 3.0]), 2.0).tolist() == [False, True, True]
    assert not choose(tasks, np.array([1.0, 2.0, 3.0]), 9.0).any()


@given(
    choice_tasks(kind=Kind.SUBSET, max_tasks=12),
    st.sampled_from(["ties", "distinct", "close", "integers"]),
    st.integers(0, 99),
)
def test_no_threshold_is_better_than_the_tuned_one(tasks, what, seed):
    u = utilities_for(tasks, np.random.default_rng(seed), what == "distinct")
    if what == "close":  # neighbouring numbers of the type that learners return
        u = np.float32(1) + np.finfo(np.float32).eps * u.astype(np.float32)
    if what == "integers":
        u = u.astype(np.int8)
    f1 = metric("f1")
    best = max(f1(tasks, u >= candidate) for candidate in np.append(u, np.inf))
    assert f1(tasks, choose(tasks, u, tune_threshold(tasks, u))) == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1.0, 1e30])
def test_neighbouring_floats_are_told_apart(scale, kind):
    tasks = ChoiceTasks.from_dense(np.zeros((1, 2, 1)), [[True, False]], Kind.SUBSET)
    low = kind(scale)
    u = np.array([np.nextafter(low, kind(np.inf)), low])
    assert choose(tasks, u, tune_threshold(tasks, u)).tolist() == [True, False]


def test_infinite_utilities_are_ordered_too():
    tasks = ChoiceTasks.from_dense(np.zeros((1, 3, 1)), [[True, True, False]], Kind.SUBSET)
    u = np.array([np.inf, 1.0, -np.inf])
    assert choose(tasks, u, tune_threshold(tasks, u)).tolist() == [True, True, False]


def test_bad_input_is_refused():
    subset = ChoiceTasks.from_dense(np.zeros((1, 2, 1)), [[True, False]], Kind.SUBSET)
    singleton = ChoiceTasks.from_dense(np.zeros((1, 2, 1)), [0], Kind.SINGLETON)
    nan, fine = np.array([np.nan, 0.0]), np.array([1.0, 0.0])
    with pytest.raises(InvalidUtilities, match="NaN"):
        tune_threshold(subset, nan)
    with pytest.raises(InvalidUtilities, match="NaN"):
        choose(singleton, nan)
    with pytest.raises(InvalidParameter, match="needs a threshold"):
        choose(subset, fine)
    with pytest.raises(InvalidParameter, match="takes no threshold"):
        choose(singleton, fine, 0.5)
    with pytest.raises(InvalidTasks, match="for subset choice"):
        tune_threshold(singleton, fine)


def test_probabilities_are_defined_for_every_utility():
    x = np.zeros((1, 3, 1))
    singleton = ChoiceTasks.from_dense(x, [0], Kind.SINGLETON)
    subset = ChoiceTasks.from_dense(x, [[True, False, False]], Kind.SUBSET)
    utilities = np.array([np.inf, -np.inf, np.inf], np.float32)
    assert probabilities(singleton, utilities).tolist() == [0.5, 0, 0.5]
    assert probabilities(subset, utilities).tolist() == [1, 0, 1]
    assert probabilities(singleton, np.log([0.2, 0.7, 0.1])) == pytest.approx([0.2, 0.7, 0.1])
