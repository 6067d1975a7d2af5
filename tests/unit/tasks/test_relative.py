"""Features relative to the task, against scipy's ranks and NumPy's deviations, task by task."""

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import rankdata
from strategies import choice_tasks

from cschoice.datasets import make_dataset
from cschoice.errors import InvalidParameter
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.relative import with_relative_features


@given(choice_tasks())
def test_ranks_scores_and_sizes_are_those_of_each_task(tasks):
    found = with_relative_features(tasks)
    assert (found.chosen == tasks.chosen).all()
    d = tasks.n_features
    assert found.n_features == 3 * d + 1
    for number in range(len(tasks)):
        entries = tasks.entries(number)
        x, own = tasks.features[entries].astype(float), found.features[entries]
        n = len(x)
        assert (own[:, :d] == tasks.features[entries]).all()
        ranks = (rankdata(x, axis=0) - 1) / (n - 1) if n > 1 else np.full(x.shape, 0.5)
        assert own[:, d : 2 * d] == pytest.approx(ranks, abs=1e-6)
        deviation = x.std(axis=0)
        told = deviation > 1e-4 * np.abs(x).max(axis=0)  # not by rounding alone
        z = ((x - x.mean(axis=0)) / np.where(told, deviation, 1))[:, told]
        assert own[:, 2 * d : 3 * d][:, told] == pytest.approx(z, abs=1e-2)
        assert own[:, -1] == pytest.approx(np.full(n, np.log(n)))


def test_a_feature_that_is_constant_in_a_task_says_nothing_there():
    x = np.full((1, 3, 1), 0.1, dtype=np.float32)
    tasks = with_relative_features(ChoiceTasks.from_dense(x, [0], Kind.SINGLETON))
    assert tasks.features[:, 1:3].tolist() == [[0.5, 0.0]] * 3


def test_the_switch_is_a_truth_value():
    with pytest.raises(InvalidParameter, match="relative must be true or false"):
        make_dataset("letor-mq2008", relative="yes")
