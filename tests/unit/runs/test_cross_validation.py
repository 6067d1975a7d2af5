"""The fits after tuning, and the tasks on which thresholds are tuned."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from job_examples import make_job

from cschoice.datasets import make_dataset
from cschoice.evaluation.decisions import choose
from cschoice.evaluation.expected_f1 import Calibration
from cschoice.evaluation.metrics import metric
from cschoice.learners import make_learner, saving
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.runs import tuning
from cschoice.runs.protocols import cross_validation
from cschoice.runs.protocols.context import Context
from cschoice.runs.records import Budget, Frugal, State
from cschoice.runs.store import ResultStore
from cschoice.runs.worker import work
from cschoice.study.cost import cpu_seconds

FRUGAL = Frugal(0.5, 0.5, 0.1)


@pytest.fixture
def fits(monkeypatch):
    """The purposes of all fits, with the number of tasks that were learned from."""
    seen = []
    fit = cross_validation.fit

    def noted(context, learner, tasks, purpose, split=None):
        seen.append((purpose, len(tasks)))
        return fit(context, learner, tasks, purpose, split)

    monkeypatch.setattr(cross_validation, "fit", noted)
    return seen


def done(tmp_path, n_train, **changes):
    job = make_job(
        dataset="pareto2d", dataset_parameters={"n_train": n_train, "n_test": 50}, **changes
    )
    record = work(Context(job, ResultStore(tmp_path / "results")))
    assert record.reason is None
    return record


@pytest.mark.parametrize("refit", [False, True])
def test_one_split_tunes_the_threshold(tmp_path, fits, refit):
    done(tmp_path, 100, budget=Budget(0), threshold_refit=refit)
    assert fits == [("threshold-0", 90), ("final", 100)][: 1 + refit]


@pytest.mark.parametrize("refit", [False, True])
def test_of_few_tasks_the_models_of_several_splits_predict_together(tmp_path, fits, refit):
    done(tmp_path, 100, budget=Budget(0, frugal=FRUGAL), threshold_refit=refit)
    assert fits == [(f"threshold-{k}", 75) for k in range(20)]
    (folder,) = tmp_path.glob("results/runs/**/model")
    model = saving.load(folder)
    assert isinstance(model, MeanEnsemble)
    assert len(model.members_) == 20


def test_of_many_tasks_one_split_is_enough(tmp_path, fits):
    budget = Budget(0, frugal=replace(FRUGAL, few_tasks=99))
    done(tmp_path, 100, budget=budget, threshold_refit=False)
    assert fits == [("threshold-0", 90)]


@pytest.mark.parametrize("n_train", [100, 2_000])
def test_the_estimate_counts_what_is_fitted(tmp_path, fits, n_train):
    budget = Budget(2, n_splits=3, frugal=Frugal(0.5, 1.0, 1.0))
    done(tmp_path, n_train, budget=budget, threshold_refit=False, learner_parameters={})
    learned = sum(n_tasks for _, n_tasks in fits) / n_train
    job = make_job(dataset="pareto2d", budget=budget, threshold_refit=False, learner_parameters={})
    work_of = cross_validation.NestedCrossValidation().work
    counted = work_of(job, make_learner("mnl"), n_train) / n_train
    assert counted == pytest.approx(learned, rel=0.05)


@pytest.mark.parametrize(("n_train", "fits_in_full"), [(1_450, 20 * 0.75), (1_451, 0.9)])
def test_tasks_are_few_up_to_1450(n_train, fits_in_full):
    job = make_job(dataset="pareto2d", budget=Budget(0, frugal=FRUGAL), threshold_refit=False)
    work_of = cross_validation.NestedCrossValidation().work
    assert work_of(job, make_learner("mnl"), n_train) == pytest.approx(fits_in_full * n_train)


@pytest.fixture
def thresholds(monkeypatch):
    """The tasks that thresholds were tuned on, and the thresholds."""
    seen = []
    tune = cross_validation.tune_rule

    def noted(decision, tasks, utilities):
        seen.append((tasks, utilities, tune(decision, tasks, utilities)))
        return seen[-1][2]

    monkeypatch.setattr(cross_validation, "tune_rule", noted)
    return seen


@pytest.fixture
def learned(monkeypatch):
    """The tasks that every fit learned from, with the fitted learner."""
    seen, fit = [], cross_validation.fit

    def noted(context, learner, tasks, *purpose, **split):
        seen.append((tasks, fit(context, learner, tasks, *purpose, **split)))
        return seen[-1][1]

    monkeypatch.setattr(cross_validation, "fit", noted)
    return seen


def test_a_trial_tunes_its_threshold_on_the_tasks_it_learned_from(tmp_path, thresholds, learned):
    done(tmp_path, 100, budget=Budget(1, n_splits=3), learner_parameters={})
    for (tasks, utilities, _), (seen, learner) in zip(thresholds[:3], learned[:3], strict=True):
        assert len(seen) == 90
        assert tasks == seen
        assert np.array_equal(utilities, learner.utilities(seen))


@pytest.mark.parametrize("few", [False, True])
def test_the_threshold_is_the_best_for_everything_held_out(tmp_path, thresholds, few):
    record = done(tmp_path, 100, budget=Budget(0, frugal=FRUGAL if few else None))
    ((tasks, utilities, threshold),) = thresholds
    assert len(tasks) == (100 if few else 10)  # of 20 quarters every task is in some
    assert record.threshold == threshold
    f1 = metric("f1")
    best = f1(tasks, choose(tasks, utilities, threshold))
    assert best == max(f1(tasks, choose(tasks, utilities, float(u))) for u in utilities)


def test_the_threshold_of_a_mean_is_tuned_on_means_of_members_that_did_not_see_the_task(
    tmp_path, thresholds, learned
):
    done(tmp_path, 40, budget=Budget(0, frugal=FRUGAL))
    ((tasks, utilities, _),) = thresholds
    first = tasks[0]
    strangers = [
        learner.utilities(first)
        for seen, learner in learned
        if not any(np.array_equal(seen[k].features, first.features) for k in range(len(seen)))
    ]
    assert 1 < len(strangers) < 20
    assert utilities[: first.n_entries] == pytest.approx(np.mean(strangers, axis=0))


@pytest.mark.parametrize("few", [False, True])
def test_expected_f1_is_calibrated_on_everything_held_out(tmp_path, thresholds, few):
    budget = Budget(0, frugal=FRUGAL if few else None)
    record = done(tmp_path, 100, budget=budget, settings={"decision": "expected-f1"})
    ((tasks, utilities, rule),) = thresholds
    assert len(tasks) == (100 if few else 10)
    assert rule == Calibration.learn(tasks, utilities)
    assert record.threshold is None
    (folder,) = tmp_path.glob("results/runs/**/model")
    model = saving.load(folder)
    assert model.preparation_.rule == rule
    test = make_dataset("pareto2d", n_train=100, n_test=50).fold(0, 0)[1]
    assert record.metrics["f1"] == metric("f1")(test, rule.choose(test, model.utilities(test)))


def test_a_decision_that_changes_nothing_is_no_part_of_a_job():
    subset, singleton = make_job(dataset="pareto2d"), make_job(dataset="medoid")
    as_usual = cross_validation.NestedCrossValidation()
    other = cross_validation.NestedCrossValidation(decision="expected-f1")
    assert as_usual.plan(subset, lambda _: None).key == replace(subset, settings={}).key
    assert other.plan(singleton, lambda _: None).key == replace(singleton, settings={}).key
    assert other.plan(subset, lambda _: None).settings == {"decision": "expected-f1"}


def test_what_confirms_a_screen_is_fitted_in_full_on_one_split(tmp_path, fits, monkeypatch):
    monkeypatch.setattr(tuning, "_clearly_better", lambda trial, than, _: trial is not than)
    budget = Budget(2, frugal=Frugal(0.5, 1.0, 1.0, few_tasks=99))
    done(tmp_path, 100, budget=budget, learner_parameters={})
    confirming = [fit for fit in fits if fit[0].startswith(("trial-2", "trial-3"))]
    assert confirming == [("trial-2-0", 90), ("trial-3-0", 90)]
    assert ("trial-0-0", 45) in fits


@pytest.mark.parametrize(
    ("learner", "frugal", "n_trials"),
    [
        ("mnl", Frugal(1.0, 1.0, 1.0), 2),
        ("mnl", Frugal(1.0, 0.5, 1.0), 2),  # it has no epochs to save
        ("fate-linear", Frugal(1.0, 0.5, 1.0), 4),
    ],
)
def test_a_screen_that_is_a_full_fit_needs_no_confirmation(
    tmp_path, monkeypatch, learner, frugal, n_trials
):
    monkeypatch.setattr(tuning, "_clearly_better", lambda trial, than, _: trial is not than)
    budget = Budget(2, n_splits=1, frugal=replace(frugal, few_tasks=99))
    record = done(tmp_path, 100, learner=learner, budget=budget, learner_parameters={})
    assert record.n_trials == n_trials


def test_learners_that_need_a_package_that_is_not_there_are_skipped(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    store = ResultStore(tmp_path)
    job = make_job(
        dataset="pareto2d",
        dataset_parameters={"n_train": 40, "n_test": 20},
        learner="boosted-trees",
        budget=Budget(2),
        learner_parameters={},
    )
    record = work(Context(job, store))
    assert record.state is State.SKIPPED
    assert "need the package lightgbm" in record.reason
    assert not store.done(job)  # it is done when the package is there
    assert cpu_seconds([job], store) == {("pareto2d", "boosted-trees"): 0.0}
