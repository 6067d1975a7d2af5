"""The mean of several learners."""

import numpy as np
import pytest

from cschoice.datasets import make_dataset
from cschoice.learners import make_learner, saving
from cschoice.learners.ensemble import MeanEnsemble


@pytest.fixture(scope="module")
def tasks():
    return make_dataset("pareto2d", n_train=60, n_test=1, n_objects=5).fold(0, seed=1)[0]


@pytest.fixture(scope="module")
def members(tasks):
    parameters = {"epochs": 2, "n_layers": 1, "n_units": 4}
    return [make_learner("feta", **parameters).fit(tasks, seed=seed) for seed in range(3)]


def test_it_averages_utilities(tasks, members):
    expected = sum(member.utilities(tasks) for member in members) / 3
    assert MeanEnsemble.of(members).utilities(tasks) == pytest.approx(expected, abs=1e-6)


def test_it_is_saved_with_all_members(tmp_path, tasks, members):
    mean = MeanEnsemble.of(members)
    saving.save(mean, tmp_path / "model")
    again = saving.load(tmp_path / "model")
    assert np.array_equal(again.utilities(tasks), mean.utilities(tasks))
    assert again.probabilistic == mean.probabilistic
    assert len(again.members_) == 3


def test_fitted_by_itself_its_members_differ(tasks):
    mean = MeanEnsemble("feta", {"epochs": 1, "n_layers": 1, "n_units": 4}, n_members=2)
    first, second = (member.utilities(tasks) for member in mean.fit(tasks, seed=5).members_)
    assert not np.allclose(first, second)
    again = MeanEnsemble("feta", {"epochs": 1, "n_layers": 1, "n_units": 4}, n_members=2)
    assert np.array_equal(again.fit(tasks, seed=5).utilities(tasks), mean.utilities(tasks))
