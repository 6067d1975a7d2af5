"""Estimates find the coefficients that journeys were generated with."""

from __future__ import annotations

import numpy as np
import pytest

from cschoice import estimate
from cschoice.datasets import make_dataset
from cschoice.datasets.generated.journeys import COEFFICIENTS, DEVIATION_OF_TIME
from cschoice.estimates.willingness import willingness_to_pay

UTILITY = "constants, cost, time, income:constants"


@pytest.fixture(scope="module")
def journeys():
    return make_dataset("journeys").sample(8_000, seed=5)


def test_the_panel_mixed_logit_finds_the_truth_and_covers_it(journeys):
    found = estimate(journeys, "mixed-logit", utility=UTILITY, random={"time": "normal"}, draws=150)
    truth = {**COEFFICIENTS, "deviation of time": DEVIATION_OF_TIME}
    assert set(found.names) == set(truth)
    errors = found.standard_errors("clustered")
    z = (found.values - [truth[name] for name in found.names]) / errors
    assert np.abs(z).max() < 3
    paid = willingness_to_pay(found, "cost", "clustered")
    (time,) = [row for row in paid.rows if row.name == "time"]
    assert time.low < -COEFFICIENTS["time"] / COEFFICIENTS["cost"] < time.high


def test_a_logit_of_everyone_alike_fits_worse_and_has_larger_errors_by_person(journeys):
    found = estimate(journeys, utility=UTILITY)
    place = found.place("time")
    classical, clustered = (
        found.standard_errors(kind)[place] for kind in ("classical", "clustered")
    )
    assert clustered > 1.3 * classical
