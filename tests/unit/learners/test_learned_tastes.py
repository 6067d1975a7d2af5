"""L-MNL and TasteNet: a network moves some coefficients, the others are what they were."""

from __future__ import annotations

import numpy as np
import pytest
from logit_examples import differences

from cschoice import ChoiceTasks, Kind, estimate
from cschoice.errors import InvalidParameter
from cschoice.learners import make_learner

NAMES = ["cost", "time", "constant=a", "constant=b", "constant=c", "age", "income"]
QUICK = {"n_units": 12, "epochs": 25, "learning_rate": 0.01}


def choices(n=3000, seed=0, by_age=True):
    """Return choices in which the constant, or the coefficient of time, bends with the age."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3, 2))
    age, income = rng.normal(size=(2, n))
    bend = np.abs(age) - 0.8
    values = -x[:, :, 0] - 0.5 * x[:, :, 1] + rng.gumbel(size=(n, 3))
    if by_age:
        values[:, 2] += 3 * bend
    else:
        values -= bend[:, None] * x[:, :, 1]
    constants = np.broadcast_to(np.eye(3), (n, 3, 3))
    chooser = np.broadcast_to(np.stack([age, income], 1)[:, None], (n, 3, 2))
    wide = np.concatenate([x, constants, chooser], axis=2)
    return ChoiceTasks.from_dense(wide, values.argmax(axis=1), Kind.SINGLETON)


def fitted(model, tasks, **sections):
    given = {"utility": "constants, cost, time", "network": "age, income"}
    return estimate(tasks, model, features=NAMES, parameters=QUICK, **given, **sections)


def test_l_mnl_learns_what_bends_and_keeps_the_coefficients():
    tasks = choices()
    plain = estimate(tasks, features=NAMES, utility="constants, cost, time")
    found = fitted("l-mnl", tasks)
    assert found.fit.log_likelihood > plain.fit.log_likelihood + 200
    rows = {row.name: row for row in found.coefficients("robust")}
    assert list(rows) == ["constant=b", "constant=c", "cost", "time"]
    for name, truth in (("cost", -1.0), ("time", -0.5)):
        assert abs(rows[name].value - truth) < 3 * rows[name].error
    assert 0.02 < rows["cost"].error < 0.06
    assert any("a network's last layer" in note for note in found.notes)


def test_standard_errors_are_those_of_the_whole_last_layer():
    found = fitted("l-mnl", choices(400))
    learner, data = found.learner, found._data
    penalty = learner.penalty(data)
    assert (penalty[:4] == 0).all()
    assert (penalty[4:] > 0).all()
    slope = differences(lambda at: learner._loss(data, at)[1], found.values)
    inverse = np.linalg.inv(slope + np.diag(penalty))
    expected = np.sqrt(np.diag(inverse))[:4]
    np.testing.assert_allclose(found.standard_errors()[:4], expected, rtol=1e-4)


def test_taste_net_finds_how_tastes_depend_on_the_chooser():
    tasks = choices(by_age=False)
    found = fitted("taste-net", tasks, tastes="time")
    test = choices(500, seed=1, by_age=False)
    seen = ChoiceTasks(
        test.features[:, [3, 4, 0, 1, 5, 6]], np.arange(1500), test.offsets, test.chosen, test.kind
    )
    tastes = found.learner.tastes(seen)[::3, 0]
    truth = -0.5 - (np.abs(test.features[::3, 5]) - 0.8)
    assert np.corrcoef(tastes, truth)[0, 1] > 0.9
    assert np.abs(tastes - truth).mean() < 0.25


def test_a_weight_of_two_is_a_task_twice_for_the_last_layer():
    tasks = choices(300)
    learner = make_learner("l-mnl", network_features=(5, 6), moved_features=(3, 4), **QUICK)
    learner.fit(tasks)
    weights = np.where(np.arange(300) < 100, 2.0, 1.0)
    twice = ChoiceTasks.concatenate([tasks, tasks[:100]])
    at = learner._parameters()
    weighted, doubled = (
        learner._loss(learner._data(one), at)[0]
        for one in (tasks.with_arrays(weights=weights), twice)
    )
    assert weighted == pytest.approx(doubled, abs=1e-9)


def test_what_cannot_be_is_refused():
    tasks = choices(50)
    with pytest.raises(InvalidParameter, match="needs features for its network"):
        estimate(tasks, "l-mnl", features=NAMES)
    with pytest.raises(InvalidParameter, match="cost cannot be in the utility, too"):
        estimate(tasks, "l-mnl", features=NAMES, utility="constants, cost", network="cost")
    with pytest.raises(InvalidParameter, match="unknown coefficient 'tim'"):
        fitted("taste-net", tasks, tastes="tim")
    with pytest.raises(InvalidParameter, match="needs 'constants'"):
        estimate(tasks, "l-mnl", features=NAMES, utility="cost", network="age")
    with pytest.raises(InvalidParameter, match="no feature with a coefficient"):
        make_learner("l-mnl", network_features=tuple(range(7))).fit(tasks)
