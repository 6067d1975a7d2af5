"""Uncertainty, gain, importance and dependence, and all of it together."""

import numpy as np
import pytest
from closed_form import random_tasks, written
from numpy.testing import assert_allclose
from trips_example import trips

from cschoice.errors import InvalidParameter, InvalidTasks
from cschoice.explanations.dependence import Grid, dependence
from cschoice.explanations.explanation import explain
from cschoice.explanations.features import feature_groups
from cschoice.explanations.importance import importance
from cschoice.explanations.objects import objects_of
from cschoice.explanations.partners import pair_of
from cschoice.explanations.support import support
from cschoice.explanations.uncertainty import jackknife, measured
from cschoice.learners import make_learner
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.logit.inference import IdentificationWarning
from cschoice.tasks import ChoiceTasks, Kind


def crowded(x):
    """Utility that sees the rivals' second feature and nothing else of them."""
    return x[:, 0] - (x[:, 1].sum() - x[:, 1]) / (len(x) - 1)


@pytest.fixture(scope="module")
def trip_tasks():
    return ChoiceTasks.from_frame(
        trips(120), task="trip", object="mode", chosen="chosen", features="cost,time",
        constants=True, group="person",
    )  # fmt: skip


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(0).normal(size=20)
    of_copies = [[np.atleast_1d(np.delete(values, k).mean())] for k in range(20)]
    found = jackknife(np.atleast_1d(values.mean()), of_copies)
    assert found.errors[0] == pytest.approx(values.std(ddof=1) / np.sqrt(20))
    assert found.low[0] < values.mean() < found.high[0]


def test_the_variance_of_the_start_is_counted_once():
    """The jackknife alone takes it for a variance of the data, and counts it K − 1 times."""
    rng = np.random.default_rng(0)
    starts = rng.normal(size=(300, 5, 2, 1))  # of copies that the data do not change
    errors = [jackknife(np.zeros(1), rows).errors[0] for rows in starts]
    alone = [jackknife(np.zeros(1), rows[:, :1]).errors[0] for rows in starts]
    assert 1 < np.sqrt(np.mean(np.square(errors))) < 1.6
    assert np.sqrt(np.mean(np.square(alone))) > 1.7


def test_without_copies_nothing_is_known_of_noise():
    found = measured(make_learner("random"), [], lambda _: np.ones(2))
    assert np.isnan(found.errors).all()
    assert not found.clear.any()


def test_importance_tells_own_features_from_those_of_rivals():
    tasks = random_tasks(300, 3, 2)
    chosen = np.concatenate([crowded(tasks[k].features) for k in range(len(tasks))])
    best = chosen == tasks.spread(tasks.reduce(np.maximum, chosen))
    tasks = tasks.with_arrays(chosen=best)
    model = written(lambda x: 3 * crowded(x), tasks)
    found = importance(model, tasks, objects_of(tasks), feature_groups(tasks))
    (own_0, rivals_0), (own_1, rivals_1) = found
    assert own_0 > 0.3
    assert 0.3 > rivals_1 > 0.05  # a mean of two
    assert_allclose([own_1, rivals_0], 0, atol=1e-6)


def test_partial_dependence_is_that_of_the_model():
    tasks = random_tasks(40, 2, 2)
    model = written(crowded, tasks)
    groups = feature_groups(tasks)
    objects = objects_of(tasks)
    own, rival = dependence(model, tasks, objects, Grid.of(tasks, groups[0]))
    assert (np.diff(own[:, 0]) > 0.01).all()
    assert_allclose(own + rival, 1, atol=1e-6)  # of two, what one gains the other loses
    own, rival = dependence(model, tasks, objects, Grid.of(tasks, groups[1]))
    assert (np.diff(rival[:, 0]) < -0.01).all()


def test_products_follow_the_feature_they_are_made_of():
    frame = trips(20).assign(rich=np.repeat(np.arange(20) % 2, 3))
    tasks = ChoiceTasks.from_frame(
        frame, task="trip", object="mode", chosen="chosen", features="cost,time", cross="rich"
    )
    groups = {group.name: group for group in feature_groups(tasks)}
    assert list(groups) == ["cost", "time"]
    from cschoice.explanations.features import moved

    changed = moved(tasks.features, groups["cost"], 7.0)
    names = tasks.feature_names
    rich = np.repeat(frame["rich"].to_numpy()[::3], 3)
    assert_allclose(changed[:, names.index("cost")], 7.0)
    assert_allclose(changed[:, names.index("cost × rich")], 7.0 * rich, rtol=1e-5)
    assert_allclose(changed[:, names.index("time")], tasks.features[:, names.index("time")])


def test_alternatives_are_named_by_their_constants(trip_tasks):
    objects = objects_of(trip_tasks)
    assert objects.sort == "alternative"
    assert set(objects.names) == {"bus", "car", "train"}
    assert [objects.names[k] for k in objects.codes[:3]] == ["bus", "car", "train"]
    found = support(trip_tasks, objects)
    assert (found.n_tasks, found.n_people, found.sizes) == (120, 30, ((3, 120),))
    assert (found.n_distinct, found.n_line_ups) == (120, 1)
    assert found.meetings[0, 1] == 120


def test_the_same_sets_in_another_order_are_not_different():
    tasks = ChoiceTasks.from_dense(
        [[[1.0], [2.0]], [[2.0], [1.0]], [[1.0], [3.0]]], [0, 0, 0], Kind.SINGLETON
    )
    assert support(tasks, objects_of(tasks)).n_distinct == 2


def test_partners_have_the_same_sizes_and_differ_in_context():
    pair = pair_of(make_learner("feta", n_units=16, epochs=3), Kind.SINGLETON)
    assert (pair.with_.name, pair.without.name) == ("feta", "pointwise-net")
    assert (pair.without.n_units, pair.without.epochs) == (16, 3)
    assert pair.without.learning_rate == make_learner("pointwise-net").learning_rate
    pair = pair_of(make_learner("mnl"), Kind.SINGLETON)
    assert (pair.with_.name, pair.without.name) == ("lcl", "mnl")
    both = pair_of(MeanEnsemble("fate", {"n_units": 8}, 3), Kind.SINGLETON)
    assert both.without.learner == "pointwise-net"
    assert both.without.parameters["n_units"] == 8
    assert pair_of(make_learner("all-positive"), Kind.SUBSET) is None


def test_everything_together_on_a_table_of_ones_own(trip_tasks):
    said = []
    model = make_learner("lcl").fit(trip_tasks)
    found = explain(
        model, trip_tasks, better={"cost": "low", "time": "low"}, decisions=[17], folds=3,
        progress=said.append,
    )  # fmt: skip
    assert "fitting LCL without a part of the data: 3 of 3" in said
    assert (found.gain.with_, found.gain.without) == ("LCL", "MNL")
    assert found.matrix.values.shape == (3, 3)
    assert np.isfinite(found.matrix.margins[0, 1])
    assert found.structure.name == "A"
    assert_allclose(found.structure.values, model.context_)
    with pytest.warns(IdentificationWarning, match="not identified"):  # line-ups are all alike
        errors = model.standard_errors(trip_tasks)["context_"]
    assert_allclose(found.structure.errors, errors, equal_nan=True)
    assert 0 < np.isnan(errors).sum() < errors.size
    assert [one.triples.effect for one in found.triples] == [
        "attraction", "compromise", "similarity",
    ]  # fmt: skip
    assert all(one.moves for one in found.triples if one.main)
    (one,) = found.decisions
    assert one.task == 17
    assert one.gap == pytest.approx(0, abs=1e-6)
    assert found.features == ("cost", "time")
    again = explain(
        model, trip_tasks, better={"cost": "low", "time": "low"}, decisions=[17], folds=3
    )
    assert_allclose(again.matrix.values, found.matrix.values, rtol=1e-6)


def test_a_task_of_weight_three_is_three_tasks():
    """Folds and averages count them, and decisions keep the numbers that people know."""
    tasks = random_tasks(40, 4, 2)
    thrice = tasks.with_arrays(weights=np.where(np.arange(40) < 20, 3.0, 1.0))
    model = make_learner("lcl", l2=0.1).fit(thrice)
    copies = tasks[np.repeat(np.arange(40), thrice.weights.astype(int))]
    one = explain(model, thrice, folds=2, decisions=[39])
    other = explain(model, copies, folds=2, decisions=[79])
    assert (one.support.n_tasks, one.support.n_distinct, one.about.weighted) == (80, 40, False)
    assert_allclose(one.matrix.values, other.matrix.values)
    assert one.gain.scores_with == other.gain.scores_with
    assert (one.decisions[0].task, one.decisions[0].total) == (39, other.decisions[0].total)
    halves = explain(model, tasks.with_arrays(weights=np.full(40, 0.5)), folds=0)
    assert (halves.support.n_tasks, halves.about.weighted) == (40, True)


def test_subsets_are_explained_too():
    tasks = random_tasks(40, 4, 2, kind=Kind.SUBSET)
    found = explain(make_learner("mnl").fit(tasks), tasks, folds=0)
    assert found.gain is None
    assert_allclose(np.nan_to_num(found.matrix.values), 0, atol=1e-6)
    assert found.importance is not None


def test_what_cannot_be_explained_is_refused(trip_tasks):
    model = make_learner("mnl").fit(trip_tasks)
    with pytest.raises(InvalidParameter, match="folds must be 0 or at least 2, got 1"):
        explain(model, trip_tasks, folds=1)
    with pytest.raises(InvalidParameter, match="0 to 119, got 120"):
        explain(model, trip_tasks, decisions=[120])
    alone = ChoiceTasks.from_dense(np.zeros((3, 1, 2)), np.zeros(3, int), Kind.SINGLETON)
    with pytest.raises(InvalidTasks, match="no context to explain"):
        explain(make_learner("mnl").fit(random_tasks(9, 3, 2)), alone)
