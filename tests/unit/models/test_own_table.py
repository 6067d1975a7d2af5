"""From one's own table to a model that predicts others; its use with scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from trips_example import trips

from cschoice import (
    ChoiceTasks,
    Feta,
    Kind,
    MultinomialLogit,
    PairwiseSVM,
    Predictor,
    choose,
    cross_validate,
    metric,
)
from cschoice.errors import InvalidParameter, InvalidTasks, InvalidUtilities, NotFitted

QUICK = {"epochs": 3, "n_units": 8, "n_layers": 1}
LEARNERS = [Feta(**QUICK), MultinomialLogit(), PairwiseSVM()]


def tasks_of(table, kind="singleton", **columns):
    given = {"task": "trip", "object": "mode", "chosen": "chosen", "features": "cost,time"}
    return ChoiceTasks.from_frame(table, kind=kind, **given | columns)


@pytest.mark.parametrize("kind", ["singleton", "subset"])
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_a_model_predicts_a_table_in_any_order_as_it_predicts_its_tasks(learner, kind, tmp_path):
    table = trips(60, kind)
    tasks = tasks_of(table, kind)
    model = clone(learner).fit(tasks)
    shuffled = table.drop(columns="chosen").sample(frac=1, random_state=0)
    predicted = model.predict(shuffled)
    assert predicted[["trip", "mode"]].values.tolist() == shuffled[["trip", "mode"]].values.tolist()
    in_order = predicted.sort_values(["trip", "mode"])
    assert np.allclose(in_order["utility"], model.utilities(tasks))
    assert np.array_equal(in_order["chosen"] == 1, model.predict(tasks))
    assert ("probability" in predicted) == model.probabilistic
    model.save(tmp_path / "model")
    again = Predictor.load(tmp_path / "model")
    assert again.predict(shuffled).equals(predicted)
    assert again.learner.score(tasks) == model.score(tasks)
    assert again.learner.feature_names == ["cost", "time"]


def test_the_unit_of_a_feature_changes_no_prediction():
    table = trips(60)
    cents = table.assign(cost=100 * table["cost"])
    for learner in LEARNERS:
        models = [clone(learner).fit(tasks_of(one)) for one in (table, cents)]
        expected = models[0].utilities(tasks_of(table))
        assert np.allclose(models[1].utilities(tasks_of(cents)), expected, atol=1e-2)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: one.name)
def test_the_threshold_comes_from_tasks_that_were_held_out(learner, monkeypatch):
    from cschoice.learners import preparation

    tasks = tasks_of(trips(100, "subset"), "subset", group="person")
    seen = []
    learn = type(learner).learn
    monkeypatch.setattr(
        type(learner), "learn", lambda self, *a, **k: (seen.append(a[0]), learn(self, *a, **k))[1]
    )
    tuned = []
    tune = preparation.tune_rule
    monkeypatch.setattr(preparation, "tune_rule", lambda *a: (tuned.append(a[1]), tune(*a))[1])
    model = clone(learner).fit(tasks)
    *copies, final = seen
    assert len(final) == len(tasks)
    assert [len(one) for one in copies] == [88] * 3  # three people, twelve tasks, are held out
    assert len(tuned[0]) == 36
    for number, copy in enumerate(copies):
        assert not set(copy.groups) & set(tuned[0][12 * number : 12 * number + 12].groups)
    chosen = choose(tasks, model.utilities(tasks), model.preparation_.threshold)
    assert np.array_equal(model.predict(tasks), chosen)
    assert model.score(tasks) == metric("f1")(tasks, chosen)
    assert np.array_equal(model.utilities(tasks), clone(learner).fit(tasks).utilities(tasks))


def test_one_task_or_one_person_is_enough_for_a_threshold():
    one_person = trips(3, "subset")
    for tasks in (
        tasks_of(trips(1, "subset"), "subset"),
        tasks_of(one_person, "subset", group="person"),
    ):
        assert np.isfinite(MultinomialLogit().fit(tasks).preparation_.threshold)


@pytest.mark.parametrize("kind", ["singleton", "subset"])
def test_cross_validation_shows_every_metric_and_keeps_groups_together(kind):
    tasks = tasks_of(trips(120, kind), kind, group="person")
    told = []
    result = cross_validate(
        MultinomialLogit(), tasks, folds=4, on_fold=lambda fold, row: told.append((fold, row))
    )
    assert result.n_folds == 4
    target = "accuracy" if kind == "singleton" else "f1"
    values = result.scores[target]
    assert result.mean(target) == pytest.approx(np.mean(values))
    assert result.std(target) == pytest.approx(np.std(values, ddof=1))
    assert [row[target] for _, row in told] == list(values)
    assert result.frame().shape == (4, len(result.scores))
    lines = str(result).splitlines()
    assert lines[0].startswith("MultinomialLogit(), 4 folds of ChoiceTasks(")
    assert lines[1].split() == [
        target,
        f"{result.mean(target):.3f}",
        "±",
        f"{result.std(target):.3f}",
    ]
    assert {line.split()[0] for line in lines[1:]} == set(result.scores)
    assert result.scores == cross_validate(MultinomialLogit(), tasks, folds=4).scores
    assert result.scores != cross_validate(MultinomialLogit(), tasks, folds=4, seed=1).scores


def test_folds_hold_whole_groups(monkeypatch):
    seen = []
    fit = MultinomialLogit.fit
    monkeypatch.setattr(
        MultinomialLogit, "fit", lambda self, *a, **k: (seen.append(a[0]), fit(self, *a, **k))[1]
    )
    tasks = tasks_of(trips(40), group="person")
    cross_validate(MultinomialLogit(), tasks, folds=5)
    for learned in seen:
        tested = set(tasks.groups) - set(learned.groups)
        assert len(tested) == 2
        assert len(learned) == 32


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"learner": Feta}, "a learner such as Feta"),
        ({"learner": "feta"}, "a learner such as Feta"),
        ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
        ({"folds": "five"}, "folds must be a whole number of at least 2, got 'five'"),
        ({"folds": 99}, "the number of folds must be 2 to 20"),
        ({"tasks": trips(5)}, "got DataFrame, make tasks of it by ChoiceTasks.from_frame"),
    ],
)
def test_impossible_cross_validations_are_refused(given, says):
    valid = {"learner": MultinomialLogit(), "tasks": tasks_of(trips(20))}
    with pytest.raises((InvalidParameter, InvalidTasks), match=says):
        cross_validate(**valid | given)


@pytest.mark.parametrize("call", ["fit", "utilities", "predict_proba", "score"])
@pytest.mark.parametrize(
    ("given", "way"),
    [
        (trips(5), "from_frame"),
        ("trips.csv", "from_frame"),
        (np.zeros((4, 3)), "from_dense"),
        ([[1.0, 2.0]], "from_dense"),
        (None, "from_dense"),
    ],
)
def test_what_is_no_tasks_is_answered_by_the_way_to_make_them(call, given, way):
    model = MultinomialLogit()
    if call != "fit":
        model.fit(tasks_of(trips(20)))
    with pytest.raises(InvalidTasks, match=rf"got {type(given).__name__}, make .*{way}"):
        getattr(model, call)(given)


def test_what_cannot_be_predicted_is_refused():
    with pytest.raises(NotFitted):
        MultinomialLogit().predict(trips(5))
    model = MultinomialLogit().fit(tasks_of(trips(20)))
    with pytest.raises(InvalidTasks, match="from_dense"):
        model.predict(np.zeros((4, 3)))
    with pytest.raises(InvalidTasks, match="fitted on the features cost, time, got time, cost"):
        model.predict(tasks_of(trips(20), features="time,cost"))
    with pytest.raises(InvalidParameter, match="give no y"):
        MultinomialLogit().fit(tasks_of(trips(20)), y=np.zeros(20))


def test_utilities_that_are_no_probabilities_are_not_passed_off_as_such():
    tasks = tasks_of(trips(20))
    for model in (PairwiseSVM(), Feta(loss="hinge", **QUICK)):
        with pytest.raises(InvalidUtilities, match="are not probabilities"):
            model.fit(tasks).predict_proba(tasks)
    shares = MultinomialLogit().fit(tasks).predict_proba(tasks)
    assert np.allclose(tasks.reduce(np.add, shares), 1)


@pytest.mark.parametrize("kind", ["singleton", "subset"])
def test_scikit_learn_validates_and_searches(kind):
    tasks = tasks_of(trips(40, kind), kind, group="person")
    for cv, groups in (
        (KFold(4, shuffle=True, random_state=0), None),
        (GroupKFold(4), tasks.groups),
    ):
        scores = cross_val_score(
            MultinomialLogit(), tasks, cv=cv, groups=groups, error_score="raise"
        )
        train, test = next(cv.split(tasks, groups=groups))
        assert scores[0] == MultinomialLogit().fit(tasks[train]).score(tasks[test])
    grid = [1e-5, 1e3]
    search = GridSearchCV(MultinomialLogit(), {"l2": grid}, cv=3, error_score="raise").fit(tasks)
    means = [cross_val_score(MultinomialLogit(l2=l2), tasks, cv=3).mean() for l2 in grid]
    assert search.best_params_ == {"l2": grid[int(np.argmax(means))]}
    assert np.array_equal(search.predict(tasks), search.best_estimator_.predict(tasks))
    assert search.score(tasks) == search.best_estimator_.score(tasks)


def test_any_metric_scores_in_scikit_learn():
    tasks = tasks_of(trips(40))

    def log_loss(model, tasks, _=None):
        return -metric("log-loss")(tasks, model.predict_proba(tasks))

    scores = cross_val_score(MultinomialLogit(), tasks, cv=KFold(3), scoring=log_loss)
    assert (scores < 0).all()


def test_a_pipeline_changes_tasks_before_the_learner():
    tasks = tasks_of(trips(40))
    first = Pipeline(
        [("few", FunctionTransformer(lambda tasks: tasks[:30])), ("model", MultinomialLogit())]
    )
    assert np.array_equal(
        first.fit(tasks).predict(tasks), MultinomialLogit().fit(tasks[:30]).predict(tasks[:30])
    )
    search = GridSearchCV(first, {"model__l2": [1e-3, 1e-2]}, cv=2, error_score="raise").fit(tasks)
    assert search.best_estimator_["model"].l2 == search.best_params_["model__l2"]


def test_learners_keep_the_kind_of_their_tasks():
    model = MultinomialLogit().fit(tasks_of(trips(20)))
    assert model.kind_ is Kind.SINGLETON
    assert isinstance(model.predict(trips(4)), pd.DataFrame)
