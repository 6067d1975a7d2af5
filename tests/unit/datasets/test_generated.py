"""The rules of the generated datasets against their definitions, and known numbers."""

import itertools
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cschoice.datasets import make_dataset
from cschoice.datasets.generated.hypervolume import contributions
from cschoice.datasets.generated.medoid import medoids
from cschoice.datasets.generated.pareto import pareto_front
from cschoice.datasets.generated.random_points import fill_normal, fill_uniform, points_in_ball
from cschoice.errors import InvalidParameter, MissingDependency


def sample(name, n_tasks, seed=0, **parameters):
    """Points (tasks, objects, features) and choices (tasks, objects)."""
    tasks = make_dataset(name, **parameters).sample(n_tasks, seed)
    shape = (n_tasks, -1, tasks.n_features)
    return tasks.features.reshape(shape).astype(np.float64), tasks.chosen.reshape(n_tasks, -1)


def tasks_last(x):
    """Lay points out as the rules want them, (objects, features, tasks)."""
    return np.ascontiguousarray(np.asarray(x, dtype=np.float32).transpose(1, 2, 0))


# --- medoid -----------------------------------------------------------------------------------


def test_the_medoid_is_the_nearest_to_all_others():
    x, chosen = sample("medoid", 5_000)
    distances = np.linalg.norm(x[:, :, None] - x[:, None], axis=3)
    assert np.array_equal(chosen.argmax(axis=1), distances.sum(axis=2).argmin(axis=1))
    assert (chosen.sum(axis=1) == 1).all()


def test_the_medoid_is_exact_where_float32_cannot_tell():
    x = np.random.default_rng(0).random((400, 3, 2)).astype(np.float32)
    x[:, 1] = x[:, 0] + np.float32(1e-7) * np.random.default_rng(1).integers(1, 4, (400, 2))
    distances = np.linalg.norm(x[:, :, None].astype(float) - x[:, None], axis=3).sum(axis=2)
    unique = np.sort(distances, axis=1)[:, 1] - distances.min(axis=1) > 1e-13
    chosen = medoids(tasks_last(x)).T
    assert (chosen.sum(axis=1) == 1).all()
    assert np.array_equal(chosen.argmax(axis=1)[unique], distances.argmin(axis=1)[unique])


def test_the_nearest_to_the_centroid_is_the_medoid_in_nine_of_ten_tasks():
    x, chosen = sample("medoid", 100_000)
    to_centroid = np.linalg.norm(x - x.mean(axis=1, keepdims=True), axis=2)
    agreement = np.mean(to_centroid.argmin(axis=1) == chosen.argmax(axis=1))
    assert 0.893 < agreement < 0.903


@pytest.mark.parametrize(("n_objects", "n_features"), [(2, 5), (2, 1), (4, 1), (10, 1)])
def test_a_medoid_that_is_never_unique_is_refused(n_objects, n_features):
    with pytest.raises(InvalidParameter, match="the medoid must be unique"):
        make_dataset("medoid", n_objects=n_objects, n_features=n_features)


# --- pareto -----------------------------------------------------------------------------------


def front_by_definition(task):
    return [
        not any((y >= x).all() and (y > x).any() for j, y in enumerate(task) if j != i)
        for i, x in enumerate(task)
    ]


@pytest.mark.parametrize("name", ["pareto2d", "pareto5d"])
@pytest.mark.parametrize("centre", ["shared", "per-object"])
def test_chosen_is_what_nothing_dominates(name, centre):
    x, chosen = sample(name, 60, centre=centre)
    assert chosen.tolist() == [front_by_definition(task) for task in x]


@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 999))
def test_the_front_is_right_with_ties_and_equal_objects(n_features, n_objects, seed):
    x = np.random.default_rng(seed).integers(0, 3, (5, n_objects, n_features))
    expected = [front_by_definition(task) for task in x]
    assert pareto_front(tasks_last(x)).T.tolist() == expected


def test_the_mean_front_of_thirty_points_in_the_plane():
    # The harmonic number 1 + 1/2 + … + 1/30 = 3.995 for points with one common mean.
    _, chosen = sample("pareto2d", 100_000)
    assert chosen.sum(axis=1).mean() == pytest.approx(sum(1 / k for k in range(1, 31)), abs=0.03)


def test_ten_tasks_share_a_centre_and_the_next_ten_have_another():
    x, _ = sample("pareto2d", 4_000, n_objects=300)
    means = x.mean(axis=1).reshape(400, 10, 2)
    within, between = means.std(axis=1).mean(), means.mean(axis=1).std()
    assert within == pytest.approx(1 / np.sqrt(300), rel=0.1)
    assert between > 4 * within / np.sqrt(10)
    # u·v with u uniform: mean distance 1/2 from the origin; uniform in the disc it were 2/3.
    assert np.linalg.norm(means.mean(axis=1), axis=1).mean() == pytest.approx(0.5, abs=0.05)


def test_as_written_each_object_has_a_mean_of_its_own():
    x, _ = sample("pareto2d", 20_000, centre="per-object")
    # The variance of a coordinate: 1 of the noise and 1/4 of a uniform point in the disc.
    assert x.var() == pytest.approx(1.25, abs=0.01)
    assert x.mean(axis=1).std() == pytest.approx(np.sqrt(1.25 / 30), rel=0.02)


def test_an_unknown_centre_is_refused():
    with pytest.raises(InvalidParameter, match="centre must be one of shared, per-object"):
        make_dataset("pareto2d", centre="common")


# --- hypervolume ------------------------------------------------------------------------------


def volume(points):
    """Volume of the union of boxes from the origin, by inclusion and exclusion."""
    return sum(
        (-1) ** (size + 1) * np.prod(np.min(subset, axis=0))
        for size in range(1, len(points) + 1)
        for subset in itertools.combinations(points, size)
    )


@pytest.mark.parametrize("n_features", [2, 3, 4])
def test_contributions_are_what_removing_a_point_costs(n_features):
    if n_features > 2:
        pytest.importorskip("moocore", reason="needs the extra cschoice[hypervolume]")
    points = np.abs(np.random.default_rng(0).standard_normal((20, 6, n_features)))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    found = contributions(tasks_last(points)).T
    for task, values in zip(points.astype(np.float32).astype(float), found, strict=True):
        expected = [volume(task) - volume(np.delete(task, i, axis=0)) for i in range(len(task))]
        assert values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_features", [2, 3])
def test_the_largest_contribution_is_chosen(n_features):
    if n_features > 2:
        pytest.importorskip("moocore", reason="needs the extra cschoice[hypervolume]")
    x, chosen = sample("hypervolume", 200, offset=False, n_features=n_features, n_objects=7)
    assert_largest_contribution(-x, chosen)


def assert_largest_contribution(points, chosen):
    for task, choice in zip(points, chosen, strict=True):
        values = [volume(task) - volume(np.delete(task, i, axis=0)) for i in range(len(task))]
        assert np.argmax(values) == choice.argmax()


def test_as_written_points_are_uniform_on_the_circle():
    x, _ = sample("hypervolume", 2_000, offset=False)
    assert np.linalg.norm(x, axis=2) == pytest.approx(1, abs=1e-6)
    assert (x <= 0).all()
    assert quarter_shares(x) == pytest.approx(0.25, abs=0.015)


def quarter_shares(x):
    angle = np.arctan2(x[:, :, 1], x[:, :, 0]).ravel()
    counts, _ = np.histogram(angle, bins=4, range=(-np.pi, -np.pi / 2))
    return counts / len(angle)


def test_with_an_offset_each_task_lies_on_a_circle_of_its_own():
    x, chosen = sample("hypervolume", 3_000)
    # |x|² = 2 x·c + 1 − |c|²: the centre c of the circle by least squares.
    system = np.concatenate([2 * x, np.ones((*x.shape[:2], 1))], axis=2)
    right = (x**2).sum(axis=2, keepdims=True)
    centre = (np.linalg.pinv(system) @ right)[:, :2, 0]
    points = centre[:, None] - x
    assert np.linalg.norm(points, axis=2) == pytest.approx(1, abs=2e-3)
    assert_largest_contribution(points[:30], chosen[:30])
    # c = u·v with u uniform; the points are a normalized square, denser around 45 degrees.
    radius = np.linalg.norm(centre, axis=1)
    assert radius.max() < 1.01
    assert radius.mean() == pytest.approx(0.5, abs=0.02)
    outer, inner = 0.5 * np.tan(np.pi / 8), 0.5 - 0.5 * np.tan(np.pi / 8)
    expected = [outer, inner, inner, outer]
    assert quarter_shares(-points) == pytest.approx(expected, abs=0.015)


def test_in_one_dimension_all_objects_were_equal():
    with pytest.raises(InvalidParameter, match="n_features must be at least 2"):
        make_dataset("hypervolume", n_features=1)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "moocore", None)
    with pytest.raises(MissingDependency, match=r"pip install 'cschoice\[hypervolume\]'"):
        make_dataset("hypervolume", n_features=3).sample(1, seed=0)


# --- unique -----------------------------------------------------------------------------------


def counts_of(tasks):
    digits = tasks.items.reshape(len(tasks), -1)
    return digits, (digits[:, :, None] == np.arange(tasks.n_features)).sum(axis=1)


def test_exactly_one_digit_occurs_once_and_is_chosen():
    tasks = make_dataset("unique-onehot").sample(5_000, seed=0)
    digits, counts = counts_of(tasks)
    assert ((counts == 1).sum(axis=1) == 1).all()
    chosen = digits.ravel()[tasks.chosen]
    assert np.array_equal(chosen, (counts == 1).argmax(axis=1))
    assert np.array_equal(tasks.table, np.eye(10))


@pytest.mark.parametrize(("n_objects", "n_digits"), [(3, 2), (5, 3), (6, 4)])
def test_every_possible_task_is_equally_probable(n_objects, n_digits):
    possible = [
        sequence
        for sequence in itertools.product(range(n_digits), repeat=n_objects)
        if sum(sequence.count(digit) == 1 for digit in range(n_digits)) == 1
    ]
    source = make_dataset("unique-onehot", n_objects=n_objects, n_features=n_digits)
    drawn = source.sample(200 * len(possible), seed=0).items.reshape(-1, n_objects)
    codes = drawn @ n_digits ** np.arange(n_objects)
    _, frequency = np.unique(codes, return_counts=True)
    assert len(frequency) == len(possible)
    chi_square = ((frequency - 200) ** 2 / 200).sum()
    degrees = len(possible) - 1
    assert abs(chi_square - degrees) < 4.5 * np.sqrt(2 * degrees)


@pytest.mark.parametrize(("n_objects", "n_features"), [(2, 5), (3, 1), (2, 1)])
def test_impossible_unique_tasks_are_refused(n_objects, n_features):
    with pytest.raises(InvalidParameter, match="cannot occur once"):
        make_dataset("unique-onehot", n_objects=n_objects, n_features=n_features)


@pytest.mark.parametrize("too_many", [{"n_objects": 1_001}, {"n_features": 100_001}])
def test_more_digits_than_fit_are_refused(too_many):
    with pytest.raises(InvalidParameter, match="must be at most 10,000"):
        make_dataset("unique-onehot", **too_many)


def test_many_objects_and_few_digits_need_no_luck():
    tasks = make_dataset("unique-onehot", n_objects=200, n_features=4).sample(50, seed=0)
    _, counts = counts_of(tasks)
    assert ((counts == 1).sum(axis=1) == 1).all()


# --- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [{"n_train": 10**13}, {"n_features": 10**20}])
def test_what_does_not_fit_in_memory_says_so(sizes):
    with pytest.raises(InvalidParameter, match="do not fit in memory"):
        make_dataset("medoid", **sizes).fold(0, seed=0)


def test_numbers_of_numpy_are_numbers():
    assert len(make_dataset("medoid", n_train=np.int64(5), n_test=1).fold(0, seed=0)[0]) == 5


# --- random numbers ---------------------------------------------------------------------------


def test_uniform_and_normal_numbers_have_their_distributions():
    from scipy import stats

    numbers = np.empty(300_001, dtype=np.float32)
    fill_uniform(np.random.PCG64(0), numbers)
    assert 0 < numbers.min() <= numbers.max() <= 1
    assert stats.kstest(numbers, "uniform").pvalue > 1e-3
    fill_normal(np.random.PCG64(0), numbers)
    assert stats.kstest(numbers, "norm").pvalue > 1e-3
    assert np.abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.01
    half = len(numbers) // 2
    assert np.abs(np.corrcoef(numbers[:half], numbers[half : 2 * half])[0, 1]) < 0.01


def test_only_contiguous_arrays_are_filled():
    with pytest.raises(ValueError, match="contiguous"):
        fill_uniform(np.random.PCG64(0), np.zeros((4, 4), np.float32)[:, 1])


@pytest.mark.parametrize(("uniform", "mean_radius"), [(False, 1 / 2), (True, 3 / 4)])
def test_points_in_a_ball(uniform, mean_radius):
    points = points_in_ball(np.random.PCG64(0), 1, 3, 50_000, uniform=uniform)[0]
    radius = np.linalg.norm(points, axis=0)
    assert radius.max() <= 1 + 1e-6
    assert radius.mean() == pytest.approx(mean_radius, abs=0.005)
    assert points.mean(axis=1) == pytest.approx(0, abs=0.01)
