"""The steps that protocols share: the tasks of a fold, on the scale of its training tasks."""

import numpy as np
import pytest
from job_examples import make_job

from cschoice.runs.protocols.fitting import fold_of
from cschoice.tasks import ChoiceTasks, Kind


class Shifted:
    """Test tasks whose features lie elsewhere, and spread more, than those of training tasks.

    Both are slices of one table, as they are in most datasets: its rows are no training data yet.
    """

    kind = Kind.SINGLETON
    standardize = True

    def fold(self, index, seed):
        rng = np.random.default_rng(seed + index)
        x = rng.normal(size=(40, 3, 2))
        both = np.concatenate([2 * x + 1, 10 * x + 7])
        tasks = ChoiceTasks.from_dense(both, np.zeros(80, int), self.kind)
        return tasks[:40], tasks[40:]


def test_the_scale_is_learned_on_training_tasks_alone():
    raw, _ = Shifted().fold(0, 0)
    train, test, scaling = fold_of(make_job(), Shifted())
    assert scaling.mean == pytest.approx(raw.features.mean(axis=0))
    assert np.allclose(train.features.mean(axis=0), 0, atol=1e-5)
    assert np.allclose(train.features.std(axis=0), 1, atol=1e-5)
    # Of test features nothing was learned: they are as far from the training features as before.
    assert np.allclose(test.features, 5 * train.features + test.features.mean(axis=0), atol=1e-4)
    assert (test.features.std(axis=0) > 4).all()


def test_features_that_are_on_the_papers_scale_stay_as_they_are():
    source = Shifted()
    source.standardize = False
    assert fold_of(make_job(), source) == (*source.fold(0, 0), None)
