"""Estimates from tables whose constants were imported without that of the reference."""

import numpy as np
import pandas as pd
import pytest

from cschoice import ChoiceTasks, estimate
from cschoice.errors import InvalidParameter


def trips(**words):
    """Return trips by three modes, chosen by a logit."""
    rng = np.random.default_rng(0)
    cost, income = rng.normal(size=(200, 3)), rng.normal(size=200)
    noise = rng.gumbel(size=(200, 3))
    best = (np.array([0, 0.5, 1]) - cost + 0.5 * income[:, None] * [0, 0, 1] + noise).argmax(axis=1)
    frame = pd.DataFrame(
        {
            "trip": np.repeat(np.arange(200), 3),
            "mode": ["bus", "car", "train"] * 200,
            "cost": cost.ravel(),
            "income": np.repeat(income, 3),
            "chosen": np.eye(3, dtype=int)[best].ravel(),
        }
    )
    described = {"task": "trip", "object": "mode", "chosen": "chosen", "features": "cost"}
    return ChoiceTasks.from_frame(frame, **described, constants=True, **words)


def test_the_reference_of_the_import_is_that_of_the_estimates():
    found = estimate(trips(reference="car"))
    assert found.names == ("cost", "constant=bus", "constant=train")
    other = estimate(trips(), reference="car")
    assert set(other.names) == set(found.names)
    assert other.fit.log_likelihood == pytest.approx(found.fit.log_likelihood, abs=1e-4)


def test_a_coefficient_for_each_alternative_includes_the_reference():
    found = estimate(trips(), utility="cost:constants, constants")
    assert {name for name in found.names if name.startswith("cost")} == {
        *("cost:bus", "cost:car", "cost:train"),
    }
    specific = estimate(trips(specific="cost"))
    assert specific.fit.log_likelihood == pytest.approx(found.fit.log_likelihood, abs=1e-3)


def test_interactions_of_another_reference_are_refused():
    tasks = trips(cross="income:constants")
    assert len(estimate(tasks).names) == 5
    with pytest.raises(InvalidParameter, match="import with another --reference"):
        estimate(tasks, reference="train")
