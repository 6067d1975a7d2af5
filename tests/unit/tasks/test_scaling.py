import numpy as np
import pytest
from torch import nn

from cschoice.learners.logit.layout import TaskLayout
from cschoice.learners.torch_learner import Scaled
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.scaling import Scaling


def tasks_of(table):
    items, offsets = np.arange(len(table)), np.arange(0, len(table) + 1, 2)
    chosen = np.arange(len(table)) % 2 == 0
    return ChoiceTasks(table, items, offsets, chosen, Kind.SINGLETON)


def deviations(tasks):
    """Return the deviations by which each of the three kinds of learners divides."""
    network = Scaled(nn.Identity(), tasks.n_features)
    network.adapt(tasks)
    return (
        Scaling.learn(tasks.table, tasks.items).deviation,
        1 / network.inverse.numpy(),
        TaskLayout(tasks).moments()[1],
    )


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1.0, 1e12])
def test_units_of_measurement_make_no_feature_constant(unit):
    table = np.random.default_rng(1).normal(3, 1, (40, 2)) * unit
    for deviation in deviations(tasks_of(table.astype(np.float32))):
        np.testing.assert_allclose(deviation, table.std(axis=0), rtol=1e-5)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e7, 1e-9])
def test_rounding_makes_no_constant_feature_vary(value):
    table = np.full((40, 2), value, dtype=np.float32)
    table[::3, 1] = np.nextafter(table[0, 1], np.float32(np.inf))  # not all sources round alike
    for deviation in deviations(tasks_of(table)):
        np.testing.assert_array_equal(deviation, 1)
