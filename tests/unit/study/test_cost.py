"""The estimated cost of jobs that nobody has done yet."""

import pytest
from job_examples import make_job

from cschoice.learners import make_learner
from cschoice.runs.protocols.protocol import protocol_of
from cschoice.runs.records import Budget
from cschoice.runs.store import ResultStore
from cschoice.study import cost

SMALL = {"n_train": 600, "n_test": 10}


def jobs(*learners):
    return [
        make_job(learner=one, learner_parameters={}, budget=Budget(2), dataset_parameters=SMALL)
        for one in learners
    ]


def test_what_a_fit_begins_with_is_not_counted_for_every_epoch(tmp_path, monkeypatch):
    def seconds(learner, tasks):
        return 10 + 1e-3 * len(tasks) * learner.epochs

    monkeypatch.setattr(cost, "_seconds", seconds)
    (job,) = jobs("ranknet")
    epochs = make_learner("ranknet").epochs
    found = cost.cpu_seconds([job], ResultStore(tmp_path))["medoid", "ranknet"]
    work = protocol_of(job).work(job, make_learner("ranknet"), 600)
    assert found == pytest.approx(1e-3 * work)
    assert work > 600 * epochs * (2 * 3 * 0.9)  # two trials on three splits, and the final fits


def test_a_fold_is_made_once_for_all_learners(tmp_path, monkeypatch):
    made = []
    make = cost.make_dataset

    def noted(name, **parameters):
        made.append(name)
        return make(name, **parameters)

    monkeypatch.setattr(cost, "make_dataset", noted)
    found = cost.cpu_seconds(jobs("mnl", "pairwise-svm", "random"), ResultStore(tmp_path))
    assert made == ["medoid"]
    assert found["medoid", "mnl"] > 0


def test_a_job_that_ends_by_the_clock_costs_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(cost, "_seconds", lambda learner, tasks: 1.0 * len(tasks) * learner.epochs)
    job = make_job(
        protocol="convergence",
        learner="ranknet",
        learner_parameters={},
        dataset_parameters=SMALL,
        settings={"seconds": 7.0},
    )
    assert cost.cpu_seconds([job], ResultStore(tmp_path)) == {("medoid", "ranknet"): 7.0}
