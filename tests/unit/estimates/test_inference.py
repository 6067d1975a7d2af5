"""Tests of hypotheses, willingness to pay, and kinds of standard errors on made-up choices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

from cschoice import ChoiceTasks, Kind, estimate
from cschoice.errors import InvalidParameter
from cschoice.estimates.hypotheses import hausman_mcfadden, likelihood_ratio, nested_in, wald
from cschoice.estimates.willingness import willingness_to_pay

NAMES = ["cost", "time", "constant=a", "constant=b", "constant=c"]


def choices(n_people=150, per_person=4, seed=0, spread=0.0):
    """Return choices of three alternatives; people differ in how they mind time."""
    rng = np.random.default_rng(seed)
    n = n_people * per_person
    x = rng.normal([3, 5], [1, 2], size=(n, 3, 2)).round(2)
    people = np.repeat(np.arange(n_people), per_person)
    time = -0.4 + spread * rng.normal(size=n_people)[people]
    values = -x[:, :, 0] + time[:, None] * x[:, :, 1] + [0, 0.5, 1]
    chosen = (values + rng.gumbel(size=(n, 3))).argmax(axis=1)
    wide = np.concatenate([x, np.broadcast_to(np.eye(3), (n, 3, 3))], axis=2)
    tasks = ChoiceTasks.from_dense(wide, chosen, Kind.SINGLETON)
    return ChoiceTasks(
        tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind, groups=people
    )


@pytest.fixture(scope="module")
def found():
    return estimate(choices(spread=0.3), features=NAMES)


def test_the_reference_has_no_constant(found):
    assert found.names == ("cost", "time", "constant=b", "constant=c")
    assert found.fit.n_people == 150
    other = estimate(choices(spread=0.3), features=NAMES, reference="c")
    assert other.fit.log_likelihood == pytest.approx(found.fit.log_likelihood, abs=1e-9)
    assert other.names[2:] == ("constant=a", "constant=b")


def test_a_wald_test_of_one_coefficient_is_its_squared_z(found):
    for kind in ("classical", "robust", "clustered"):
        (row,) = [one for one in found.coefficients(kind) if one.name == "time"]
        test = wald(found, "time = 0", kind)
        assert test.statistic == pytest.approx(row.z**2)
        assert test.p == pytest.approx(row.p, rel=1e-6)
    joint = wald(found, "constant=b = 0, constant=c = 0")
    assert joint.degrees == 2
    assert joint.p == pytest.approx(chi2.sf(joint.statistic, 2))


def test_a_ratio_is_tested_as_a_function(found):
    ratio = float(found.values[1] / found.values[0])
    derived = found.derived("time / cost")
    assert derived.value == pytest.approx(ratio)
    assert wald(found, f"time / cost = {ratio!r}").statistic == pytest.approx(0, abs=1e-12)
    b, v = found.values[:2], found.covariance()[:2, :2]
    gradient = np.array([-b[1] / b[0] ** 2, 1 / b[0]])
    assert derived.error == pytest.approx(np.sqrt(gradient @ v @ gradient))


@pytest.mark.parametrize(
    "text", ["time", "time = tim", "time == cost", "time = 0, time = 0", "time = __import__('os')"]
)
def test_a_hypothesis_that_is_none_is_refused(found, text):
    with pytest.raises(InvalidParameter):
        wald(found, text)


def test_likelihood_ratio_of_a_fixed_coefficient(found):
    fixed = estimate(choices(spread=0.3), features=NAMES, fixed=["time = -0.3"])
    assert fixed.values[1] == -0.3
    assert fixed.fit.n_parameters == 3
    assert nested_in(fixed, found)
    assert not nested_in(found, fixed)
    test = likelihood_ratio(fixed, found)
    gain = found.fit.log_likelihood - fixed.fit.log_likelihood
    assert (test.statistic, test.degrees) == (pytest.approx(2 * gain), 1)
    robust = likelihood_ratio(fixed, found, "clustered")
    scale = found.standard_errors("clustered")[1] ** 2 / found.standard_errors()[1] ** 2
    assert robust.statistic == pytest.approx(test.statistic / scale)
    assert scale > 1.3  # people differ, so their choices are not independent
    with pytest.raises(InvalidParameter, match="nested"):
        likelihood_ratio(found, fixed)


def test_hausman_mcfadden_accepts_a_logit_and_refuses_a_nested_one():
    logit = estimate(choices(600, 1, seed=1), features=NAMES)
    for kind in ("classical", "robust", "clustered"):
        assert hausman_mcfadden(logit, "c", kind).p > 0.01
    # b and c share their noise: without c, b gains more than a.
    rng = np.random.default_rng(2)
    x = rng.normal(0, 1, size=(3000, 3, 1))
    noise = rng.gumbel(size=(3000, 3)) * [1, 0.15, 0.15] + rng.gumbel(size=(3000, 1)) * [0, 1, 1]
    wide = np.concatenate([x, np.broadcast_to(np.eye(3), (3000, 3, 3))], axis=2)
    nested = ChoiceTasks.from_dense(wide, (x[:, :, 0] + noise).argmax(axis=1), Kind.SINGLETON)
    found = estimate(nested, features=["x", *NAMES[2:]])
    for kind in ("classical", "robust"):
        assert hausman_mcfadden(found, "c", kind).p < 1e-6


def test_willingness_to_pay_is_what_the_model_in_that_space_estimates(found):
    """The other space: utility is scale · (−cost + w · time + …), estimated by itself."""
    paid = willingness_to_pay(found, "cost")
    (time,) = paid.rows
    x, chosen = choices(spread=0.3).features.reshape(-1, 3, 5), choices(spread=0.3).chosen
    chosen = chosen.reshape(-1, 3)

    def loss(at):
        scale, w, b, c = at
        values = scale * (-x[:, :, 0] + w * x[:, :, 1] + b * x[:, :, 3] + c * x[:, :, 4])
        return -(values[chosen] - np.log(np.exp(values).sum(axis=1))).sum()

    best = minimize(loss, [1, -0.4, 0.1, 0.1], method="BFGS", options={"gtol": 1e-6})
    assert time.value == pytest.approx(best.x[1], abs=1e-5)
    steps = 1e-4 * np.eye(4)
    hessian = [
        [sum(i * j * loss(best.x + i * a + j * b) for i in (1, -1) for j in (1, -1)) for a in steps]
        for b in steps
    ]
    inverse = np.linalg.inv(np.array(hessian) / 4e-8)
    assert time.error == pytest.approx(np.sqrt(inverse[1, 1]), rel=1e-3)
    low, high = paid.simulated[0]
    assert low < time.value < high
    assert (high - low) == pytest.approx(time.high - time.low, rel=0.1)


def test_the_model_in_that_space_is_estimated_itself(found):
    paid = willingness_to_pay(found, "cost", "robust")
    space = estimate(choices(spread=0.3), features=NAMES, money="cost")
    assert space.names == ("cost", "time in cost", "constant=b in cost", "constant=c in cost")
    assert space.fit.log_likelihood == pytest.approx(found.fit.log_likelihood, abs=1e-9)
    (time,) = paid.rows
    assert space.values[1] == pytest.approx(time.value, abs=1e-8)
    assert space.standard_errors("robust")[1] == pytest.approx(time.error, rel=1e-6)
    fixed = estimate(choices(spread=0.3), features=NAMES, money="cost", fixed=["time in cost = -1"])
    assert fixed.fit.log_likelihood < found.fit.log_likelihood
    with pytest.raises(InvalidParameter, match="amounts already"):
        willingness_to_pay(space, "cost")
    with pytest.raises(InvalidParameter, match="for mnl and mixed-logit, not for nl"):
        estimate(choices(), "nl", features=NAMES, money="cost")


def test_willingness_to_pay_that_differs_between_people_is_found_again():
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 1.0, size=(3000, 3, 2))
    people = np.repeat(np.arange(300), 10)
    price = -np.exp(0.3 * rng.normal(size=300))[people, None]
    amount = (-0.8 + 0.5 * rng.normal(size=300))[people, None]
    values = price * (x[:, :, 0] - amount * x[:, :, 1]) + rng.gumbel(size=(3000, 3))
    tasks = ChoiceTasks.from_dense(x, values.argmax(axis=1), Kind.SINGLETON)
    found = estimate(
        tasks.with_arrays(groups=people),
        "mixed-logit",
        features=["cost", "time"],
        money="cost",
        random={"cost": "negative-lognormal", "time": "normal"},
        draws=100,
    )
    rows = {row.name: row for row in found.coefficients("clustered")}
    assert found.optimum.converged
    for name, truth in (("cost", 0.0), ("time in cost", -0.8)):
        assert abs(rows[name].value - truth) < 3.5 * rows[name].error
    assert rows["deviation of time in cost"].value == pytest.approx(0.5, abs=0.1)
    assert rows["deviation of cost"].value == pytest.approx(0.3, abs=0.1)


def test_every_kind_of_standard_error_is_what_its_name_says(found):
    tasks = found.tasks
    inverse = np.linalg.inv(found.optimum.hessian)
    np.testing.assert_allclose(found.covariance(), inverse, rtol=1e-8)
    robust = inverse @ (found.scores.T @ found.scores) @ inverse
    np.testing.assert_allclose(found.covariance("robust"), robust, rtol=1e-8)
    sums = np.array([found.scores[tasks.groups == one].sum(axis=0) for one in range(150)])
    clustered = inverse @ (sums.T @ sums) @ inverse
    np.testing.assert_allclose(found.covariance("clustered"), clustered, rtol=1e-8)
    drawn = found.bootstrap(200)
    np.testing.assert_allclose(
        np.sqrt(np.diag(drawn)), found.standard_errors("clustered"), rtol=0.2
    )


def test_a_penalty_is_part_of_every_standard_error():
    """The matrix that is inverted is written out here: Hessian and penalty."""
    found = estimate(choices(n_people=50), features=NAMES, parameters={"l2": 0.1})
    penalty = found.learner.penalty(found.learner._data(found.tasks))
    assert (penalty > 1).all()
    inverse = np.linalg.inv(found.optimum.hessian + np.diag(penalty))
    np.testing.assert_allclose(found.covariance(), inverse, rtol=1e-8)
    robust = inverse @ (found.scores.T @ found.scores) @ inverse
    np.testing.assert_allclose(found.covariance("robust"), robust, rtol=1e-8)


def test_clusters_need_a_person_or_a_column():
    tasks = choices()
    alone = ChoiceTasks(tasks.table, tasks.items, tasks.offsets, tasks.chosen, tasks.kind)
    with pytest.raises(InvalidParameter, match="--group"):
        estimate(alone, features=NAMES).covariance("clustered")
    with pytest.raises(InvalidParameter, match="differs between the objects"):
        estimate(alone, features=NAMES, cluster="cost")
    with pytest.raises(InvalidParameter, match="unknown kind of standard errors 'robst'"):
        estimate(alone, features=NAMES).covariance("robst")
