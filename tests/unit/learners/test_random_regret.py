"""Random regret against a plain loop over pairs, and where it is a multinomial logit."""

from __future__ import annotations

import numpy as np
import pytest
from logit_examples import ragged

from cschoice import estimate
from cschoice.errors import InvalidParameter
from cschoice.learners import make_learner


def test_the_likelihood_is_that_of_a_plain_loop():
    tasks = ragged(80)
    learner = make_learner("random-regret", linear_features=[1], l2=0).fit(tasks)
    b = learner.coefficients_
    total = 0.0
    for task in range(len(tasks)):
        x = tasks.features[tasks.entries(task)].astype(float)
        regrets = -b[1] * x[:, 1]
        for i in range(len(x)):
            for j in range(len(x)):
                for m in (0, 2, 3):
                    if i != j:
                        regrets[i] += np.log(1 + np.exp(b[m] * (x[j, m] - x[i, m])))
        chances = np.exp(-regrets) / np.exp(-regrets).sum()
        total += np.log(chances[tasks.chosen[tasks.entries(task)]][0])
    assert learner.log_likelihood_ == pytest.approx(total, abs=1e-9)


def test_of_two_objects_it_is_the_multinomial_logit():
    tasks = ragged(300, sizes=(2,))
    regret = make_learner("random-regret", l2=0).fit(tasks)
    mnl = make_learner("mnl", l2=0).fit(tasks)
    np.testing.assert_allclose(regret.coefficients_, mnl.coefficients_, atol=1e-5)
    assert regret.log_likelihood_ == pytest.approx(mnl.log_likelihood_, abs=1e-8)


def test_constants_are_added_and_not_compared():
    tasks = ragged(200, sizes=(3,))
    constants = np.tile(np.eye(3, dtype=np.float32), (200, 1))
    table = np.column_stack([tasks.features[:, :2], constants])
    named = tasks.with_arrays(table=table, items=np.arange(600))
    features = ["cost", "time", "constant=a", "constant=b", "constant=c"]
    found = estimate(named, "random-regret", features=features)
    assert list(found.learner.linear_features) == [2, 3]
    assert found.optimum.converged
    assert (found.standard_errors("robust") > 0).all()


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidParameter, match="numbers from 0 to 3, got"):
        make_learner("random-regret", linear_features=[4]).fit(ragged(20))
