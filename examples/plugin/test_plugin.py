"""The package keeps the promises of cschoice, and its metric is right."""

from importlib.metadata import entry_points

import numpy as np
import pytest

from cschoice import ChoiceTasks, Kind, metric
from cschoice.testing import (
    dataset_checks,
    executor_checks,
    learner_checks,
    parametrize_with_checks,
)


@parametrize_with_checks(learner_checks("example-deep-sets"))
def test_the_learner(check):
    check()


@parametrize_with_checks(dataset_checks("knapsack"))
def test_the_dataset(check):
    check()


@parametrize_with_checks(executor_checks("threads"))
def test_the_executor(check):
    check()


def test_the_metric():
    tasks = ChoiceTasks.from_dense(np.zeros((1, 3, 1)), [[True, False, True]], Kind.SUBSET)
    assert metric("ndcg")(tasks, [3.0, 1.0, 2.0]) == 1
    worst = (1 / np.log2(3) + 1 / np.log2(4)) / (1 + 1 / np.log2(3))
    assert metric("ndcg")(tasks, [1.0, 3.0, 2.0]) == pytest.approx(worst)


def test_the_table_is_declared():
    assert [one.name for one in entry_points(group="cschoice.report_tables")] == ["difficulty"]
