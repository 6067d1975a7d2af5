"""The tasks are those of the paper: learners without context score on them as it prints.

Of its metrics those that a linear utility cannot move much: they tell how tasks were drawn.
"""

import pytest

from cschoice.datasets import make_dataset
from cschoice.errors import DataUnavailable
from cschoice.evaluation.decisions import tune_threshold
from cschoice.evaluation.scores import evaluate
from cschoice.learners import make_learner
from cschoice.report.compute import paper

SEED = 101  # of no study


def scored(name, learner, measures):
    train, test = make_dataset(name, n_train=4_000, n_test=20_000).fold(0, SEED)
    model = make_learner(learner).learn(train)
    threshold = tune_threshold(train, model.utilities(train)) if train.kind == "subset" else None
    return evaluate(test, model.utilities(test), threshold, False, measures)


@pytest.mark.parametrize(
    ("name", "learner", "measures"),
    [
        ("medoid", "mnl", ["accuracy", "top-3", "top-5"]),
        ("medoid", "pairwise-svm", ["accuracy", "top-3", "top-5"]),
        ("hypervolume", "pairwise-svm", ["accuracy", "top-3", "top-5"]),
        ("pareto2d", "all-positive", ["f1"]),
        ("pareto2d", "pairwise-svm", ["f1"]),
        ("pareto5d", "all-positive", ["f1"]),
        ("pareto5d", "pairwise-svm", ["f1"]),
    ],
)
def test_generated_tasks(name, learner, measures):
    found = scored(name, learner, measures)
    for measure in measures:
        printed = paper.results()[name, learner, measure].mean
        assert found[measure] == pytest.approx(printed, abs=0.01), measure


@pytest.mark.parametrize(
    ("name", "learner", "measures"),
    [
        ("mnist-unique-singleton", "mnl", ["top-5"]),
        ("mnist-unique-singleton", "pairwise-svm", ["top-5"]),
        ("mnist-unique-subset", "all-positive", ["f1"]),
        ("mnist-mode-subset", "all-positive", ["f1"]),
    ],
)
def test_tasks_of_digits(data_folder, name, learner, measures):  # noqa: ARG001
    try:
        test_generated_tasks(name, learner, measures)
    except DataUnavailable as error:
        pytest.skip(str(error))
