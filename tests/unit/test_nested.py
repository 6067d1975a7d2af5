"""What is fitted after tuning, and on which tasks the threshold is tuned."""

import pytest
from made_jobs import make_job

from cschoice.decision import choose
from cschoice.learners import make_learner, saving
from cschoice.learners.mean import Mean
from cschoice.metrics import metric
from cschoice.protocols import nested
from cschoice.protocols.context import Context
from cschoice.records import Budget, Frugal
from cschoice.store import ResultStore
from cschoice.worker import work

FRUGAL = Frugal(0.5, 0.5, 0, 0.1)


@pytest.fixture
def fits(monkeypatch):
    """The purposes of all fits, with the number of tasks that were learned from."""
    seen = []
    fit = nested.fit

    def noted(context, learner, tasks, purpose, split=None):
        seen.append((purpose, len(tasks)))
        return fit(context, learner, tasks, purpose, split)

    monkeypatch.setattr(nested, "fit", noted)
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
    assert fits == [(f"threshold-{k}", 90) for k in range(10)]
    (folder,) = tmp_path.glob("results/runs/**/model")
    model = saving.load(folder)
    assert isinstance(model, Mean)
    assert len(model.members_) == 10


def test_of_many_tasks_one_split_is_enough(tmp_path, fits, monkeypatch):
    monkeypatch.setattr(nested, "_FEW", 99)
    done(tmp_path, 100, budget=Budget(0, frugal=FRUGAL), threshold_refit=False)
    assert fits == [("threshold-0", 90)]


@pytest.mark.parametrize("n_train", [100, 2_000])
def test_the_estimate_counts_what_is_fitted(tmp_path, fits, n_train):
    budget = Budget(2, n_splits=3, frugal=Frugal(0.5, 1.0, 0, 1.0))
    done(tmp_path, n_train, budget=budget, threshold_refit=False, learner_parameters={})
    learned = sum(n_tasks for _, n_tasks in fits) / 0.9 / n_train
    job = make_job(dataset="pareto2d", budget=budget, threshold_refit=False, learner_parameters={})
    counted = nested.Nested().work(job, make_learner("mnl"), n_train) / n_train
    assert counted == pytest.approx(learned, rel=0.05)


def test_the_threshold_is_the_best_for_everything_held_out(tmp_path, monkeypatch):
    held_out = []
    tune = nested.tune_threshold

    def noted(tasks, utilities):
        threshold = tune(tasks, utilities)
        held_out.append((tasks, utilities, threshold))
        return threshold

    monkeypatch.setattr(nested, "tune_threshold", noted)
    record = done(tmp_path, 100, budget=Budget(0, frugal=FRUGAL))
    ((tasks, utilities, threshold),) = held_out
    assert len(tasks) == 10 * 10
    assert record.threshold == threshold
    f1 = metric("f1")
    best = f1(tasks, choose(tasks, utilities, threshold))
    assert best == max(f1(tasks, choose(tasks, utilities, float(u))) for u in utilities)
