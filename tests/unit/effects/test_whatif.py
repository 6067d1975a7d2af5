"""What-if numbers: published ones to their digits, and others against plain computations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from published_data import mode_canada
from trips_example import trips

from cschoice import ChoiceTasks, MultinomialLogit, estimate
from cschoice.effects.assortments import EXACT_UP_TO
from cschoice.effects.functions import (
    best_assortment,
    calibration,
    comparisons,
    diversion_ratios,
    elasticities,
    marginal_effects,
    predictions,
)
from cschoice.errors import InvalidParameter
from cschoice.learners import make_learner

UTILITY = "constants, cost, freq, income:constants, time:constants"


@cache
def canada():
    return estimate(mode_canada(), utility=UTILITY, reference="car")


def matrix(frame, value):
    return frame.pivot(index="changed", columns="of", values=value)


def values(frame, measure, key="value"):
    return dict(frame[frame.measure == measure].set_index("alternative")[key])


def test_the_shares_of_mode_canada_before_and_after_faster_trains():
    frame = comparisons(canada(), scenarios={"faster": "train.time * 0.8"}, intervals="none")
    before = values(frame[frame.scenario == ""], "share")
    after = values(frame[frame.scenario == "faster"], "share")
    for shares, published in (
        (before, {"car": 0.4575659, "train": 0.1672084, "air": 0.3752257}),
        (after, {"car": 0.4044736, "train": 0.2635802, "air": 0.3319462}),
    ):
        assert shares == {name: pytest.approx(one, abs=6e-8) for name, one in published.items()}


def test_the_elasticities_of_mode_canada_at_means():
    found = matrix(elasticities(canada(), column="cost", at="means"), "elasticity")
    own = {"car": -0.91313, "train": -1.25050, "air": -3.14097}
    cross = {"car": 0.93769, "train": 0.33580, "air": 1.23167}
    for name, one in own.items():
        assert found.loc[name, name] == pytest.approx(one, abs=6e-6)
        others = found.loc[name].drop(name)
        assert list(others) == [pytest.approx(cross[name], abs=6e-6)] * 2


def test_the_value_of_time_of_mode_canada():
    for name, published in (("car", 29.527), ("train", 23.094), ("air", 36.954)):
        found = canada().derived(f"60 * time:{name} / cost")
        assert found.value == pytest.approx(published, abs=6e-4)


def test_the_consumer_surplus_of_faster_trains():
    frame = comparisons(canada(), scenarios={"faster": "train.time * 0.8"}, money="cost")
    rows = frame.set_index("measure")
    assert rows.value["surplus in cost"] == pytest.approx(4.6971, abs=6e-5)
    quartiles = [rows.value[name] for name in rows.index if "surplus" in name][1:]
    assert quartiles == [pytest.approx(one, abs=6e-5) for one in (2.8439, 3.8998, 5.8437)]
    assert rows.low["surplus in cost"] < 4.6971 < rows.high["surplus in cost"]


def test_delta_method_draws_and_formulas_agree():
    """The standard error of a share is that of a plain gradient; draws are close to it."""
    words = {"scenarios": {"faster": "train.time * 0.8"}, "errors": "classical"}
    delta = comparisons(canada(), **words)
    drawn = comparisons(canada(), **words, intervals="krinsky-robb", draws=300)
    changes = delta[delta.measure == "change"].std_error.to_numpy()
    expected = drawn[drawn.measure == "change"].std_error.to_numpy()
    np.testing.assert_allclose(changes, expected, rtol=0.2)
    found = canada()
    x = found.tasks.features.astype(np.float64)
    offsets, air = found.tasks.offsets, found.sample.alternatives["air"]

    def share(coefficients):
        odds = np.exp(x @ coefficients)
        chances = odds / np.repeat(np.add.reduceat(odds, offsets[:-1]), np.diff(offsets))
        return chances[found.sample.column(air) == 1].mean()

    at, step = found.values, 1e-6
    gradient = [
        (share(at + step * unit) - share(at - step * unit)) / (2 * step) for unit in np.eye(len(at))
    ]
    error = np.sqrt(gradient @ found.covariance("classical") @ gradient)
    shares = delta[(delta.measure == "share") & (delta.scenario == "")]
    assert shares.set_index("alternative").std_error["air"] == pytest.approx(error, rel=1e-4)


LONG = {"task": "trip", "object": "mode", "chosen": "chosen", "features": "cost,time"}


@cache
def tasks(kind="singleton"):
    return ChoiceTasks.from_frame(trips(120, kind), **LONG, kind=kind, constants=True)


@cache
def fitted(name, kind="singleton"):
    quick = {"epochs": 8, "n_units": 16, "n_embedding": 16}
    known = make_learner(name).get_params()
    learner = make_learner(name, **{key: one for key, one in quick.items() if key in known})
    return learner.fit(tasks(kind), seed=1)


@pytest.mark.parametrize("name", ["feta", "fate", "mnl", "mixed-logit", "pointwise-net"])
def test_marginal_effects_and_elasticities_are_those_of_small_changes(name):
    """Gradients, or differences, against shares before and after a change of a hundredth."""
    step = 0.5 if name in ("feta", "fate", "pointwise-net") else 0.01
    slopes = matrix(marginal_effects(fitted(name), tasks(), "cost", intervals="none"), "effect")
    frame = comparisons(
        fitted(name),
        tasks(),
        {f"{sign}{mode}": f"{mode}.cost {sign} {step}" for mode in slopes.index for sign in "+-"},
        intervals="none",
    )
    moved = frame[frame.measure == "share"].set_index(["scenario", "alternative"]).value
    for changed in slopes.index:
        for other in slopes.columns:
            up, down = (moved[f"{sign}{changed}", other] for sign in "+-")
            expected = (up - down) / (2 * step)
            assert slopes.loc[changed, other] == pytest.approx(expected, rel=0.05, abs=3e-4)
    np.testing.assert_allclose(slopes.sum(axis=1), 0, atol=1e-6)  # somebody loses it
    points = matrix(elasticities(fitted(name), tasks(), "cost", intervals="none"), "elasticity")
    arcs = matrix(
        elasticities(fitted(name), tasks(), "cost", arc=1, intervals="none"), "elasticity"
    )
    np.testing.assert_allclose(points, arcs, atol=0.02)


def test_a_multinomial_logit_diverts_in_proportion_to_shares():
    """Of one task: what leaves goes to the others by their chances."""
    one = tasks()[:1]
    chances = predictions(fitted("mnl"), one).set_index("mode").probability
    for column in (None, "cost"):
        frame = diversion_ratios(fitted("mnl"), one, column, intervals="none")
        ratios = matrix(frame, "ratio")
        for gone in chances.index:
            rest = chances.drop(gone)
            for other in rest.index:
                expected = rest[other] / rest.sum()
                assert ratios.loc[gone, other] == pytest.approx(expected, rel=1e-4)


def test_an_added_alternative_is_where_its_like_is_and_has_its_constant():
    scenario = {"add": {"night": {"like": "train", "time": "train.time * 2"}}}
    frame = predictions(fitted("mnl"), tasks(), scenario=scenario)
    assert len(frame) == tasks().n_entries + len(tasks())
    night, train = (frame[frame["mode"] == name].set_index("task") for name in ("night", "train"))
    np.testing.assert_allclose(night.time, 2 * train.time)
    np.testing.assert_allclose(night.cost, train.cost)
    learner = fitted("mnl")
    slope = learner.coefficients_[learner.feature_names.index("time")]
    odds = np.log(night.probability / train.probability)
    np.testing.assert_allclose(odds, slope * train.time, rtol=1e-4)


def test_folds_give_the_interval_of_a_jackknife():
    everything = tasks()
    numbers = np.arange(len(everything)) % 4
    models = [MultinomialLogit().fit(everything[numbers != fold]) for fold in range(4)]
    frame = comparisons(models, everything, {"dearer": "car.cost + 2"})
    shares = np.array(
        [
            predictions(one, everything).groupby("mode").probability.mean().to_numpy()
            for one in models
        ]
    )
    error = np.sqrt(3 / 4 * ((shares - shares.mean(axis=0)) ** 2).sum(axis=0))
    found = frame[(frame.measure == "share") & (frame.scenario == "")]
    np.testing.assert_allclose(found.value, shares.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(found.std_error, error, rtol=1e-6)
    np.testing.assert_allclose((found.high - found.value) / found.std_error, 3.182446, rtol=1e-6)


@pytest.mark.parametrize("name", ["mnl", "fate"])
def test_bootstrap_fits_again_and_the_same_seed_gives_the_same_interval(name):
    words = {"scenarios": {"dearer": "car.cost + 2"}, "intervals": "bootstrap", "draws": 4}
    one, again = (comparisons(fitted(name), tasks(), **words, seed=3) for _ in range(2))
    assert one.equals(again)
    assert (one[one.measure == "change"].std_error > 0).all()


def test_predictions_of_a_calibrated_model_lie_on_the_diagonal():
    found = calibration(fitted("mnl"), tasks())
    assert sum(group.n_objects for group in found.by_chance) == tasks().n_entries
    for group in found.by_name:  # constants reproduce the shares of the data
        assert group.predicted == pytest.approx(group.observed, abs=1e-3)
        assert group.low < group.observed < group.high
    assert found.error < 0.1


def test_tasks_without_a_choice_are_predicted_but_not_compared():
    """Of a table some of whose choices are missing, the others say what is observed."""
    rows = trips(120)
    lost = rows.assign(chosen=np.where(rows.trip < 20, 0, rows.chosen))
    part = calibration(fitted("mnl"), lost)
    assert part.n_tasks == 100
    frame = comparisons(fitted("mnl"), lost)
    known = rows[rows.trip >= 20].groupby("mode").chosen.mean()
    assert values(frame, "observed share") == pytest.approx(dict(known))
    whole = comparisons(fitted("mnl"), rows)
    assert values(frame, "share") == pytest.approx(values(whole, "share"))
    with pytest.raises(InvalidParameter, match="do not say what was chosen"):
        calibration(fitted("mnl"), rows.drop(columns="chosen"))


def test_the_best_assortment_is_the_best_of_all_sets():
    revenues = {"bus": 1.0, "car": 2.0, "train": 6.0}
    found = best_assortment(fitted("feta"), tasks(), revenues, 2, always=["car"])
    assert found.exact
    assert found.n_tried == 3
    by_hand = {}
    for offer, gone in ((("bus",), ["train"]), (("train",), ["bus"]), (("bus", "train"), [])):
        frame = predictions(fitted("feta"), tasks(), scenario={"remove": gone} if gone else None)
        by_hand[offer] = (frame.probability * frame["mode"].map(revenues)).sum() / len(tasks())
    best = max(by_hand, key=by_hand.get)
    assert found.offers[0] == best
    assert found.revenues.values[0] == pytest.approx(by_hand[best])


def test_many_alternatives_are_searched_from_two_starts(monkeypatch):
    """A multinomial logit earns most with some that earn most: the search finds them."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(
        {
            "case": np.repeat(np.arange(30), 8),
            "item": [f"i{k}" for k in range(8)] * 30,
            "worth": rng.normal(size=240),
            "chosen": np.tile([1] + [0] * 7, 30),
        }
    )
    own = ChoiceTasks.from_frame(
        frame, task="case", object="item", chosen="chosen", features="worth", constants=True
    )
    model = MultinomialLogit(l2=0.1).fit(own)
    revenues = {f"i{k}": float(k * k) for k in range(1, 8)}
    exact = best_assortment(model, own, revenues, 3, always=["i0"])
    assert exact.exact
    monkeypatch.setattr("cschoice.effects.assortments.EXACT_UP_TO", 5)
    searched = best_assortment(model, own, revenues, 3, always=["i0"])
    assert not searched.exact
    assert searched.n_tried < exact.n_tried <= EXACT_UP_TO
    assert searched.offers[0] == exact.offers[0]


def test_subset_choice_has_rates_and_says_which_effects_it_lacks():
    model, own = fitted("feta", "subset"), tasks("subset")
    frame = comparisons(model, own, {"dearer": "cost * 3"})
    rates = values(frame[frame.scenario == ""], "share")
    frame_of_objects = predictions(model, own)
    for name, rate in rates.items():
        of_name = frame_of_objects[frame_of_objects["mode"] == name]
        assert rate == pytest.approx(of_name.probability.mean(), rel=1e-6)
    slopes = matrix(marginal_effects(model, own, "cost", intervals="none"), "effect")
    assert abs(slopes.sum(axis=1)).max() > 1e-4  # what one loses, no other has to gain
    with pytest.raises(InvalidParameter, match="diversion is of singleton choice"):
        diversion_ratios(model, own)
    mnl = fitted("mnl", "subset")
    with pytest.raises(InvalidParameter, match="has no consumer surplus"):
        comparisons(mnl, own, {"dearer": "cost + 1"}, money="cost")


def test_objects_without_names_are_told_apart_by_a_column():
    x = np.random.default_rng(4).normal(size=(60, 4, 2))
    own = ChoiceTasks.from_dense(x, x[:, :, 0].argmax(axis=1), "singleton")
    model = MultinomialLogit(l2=0.01).fit(own)
    with pytest.raises(InvalidParameter, match="alternatives have no names here: say by which"):
        comparisons(model, own)
    frame = comparisons(model, own, {"more": "x0 + (x1 > 0)"}, of="x1 > 0", intervals="none")
    before, after = (
        frame[(frame.measure == "share") & (frame.scenario == name)].set_index("alternative").value
        for name in ("", "more")
    )
    chances = model.predict_proba(own)
    assert before["True"] == pytest.approx(chances[own.features[:, 1] > 0].sum() / 60, rel=1e-6)
    assert after["True"] > before["True"] + 0.1
    with pytest.raises(InvalidParameter, match="'x1' has 240 values: shares need few classes"):
        comparisons(model, own, of="x1")


def test_models_without_probabilities_have_shares_of_choices_and_arcs_only():
    model = fitted("pairwise-svm")
    frame = comparisons(model, tasks(), {"dearer": "train.cost * 3"}, intervals="none")
    shares = values(frame[frame.scenario == ""], "share")
    assert sum(shares.values()) == pytest.approx(1)
    with pytest.raises(InvalidParameter, match="was not fitted by its likelihood"):
        elasticities(model, tasks(), "cost")
    assert len(elasticities(model, tasks(), "cost", arc=50)) == 9


@pytest.mark.parametrize("name", ["nl", "mixed-logit", "latent-class"])
def test_estimates_with_structures_see_scenarios_through_them(name):
    nests = {"nests": {"wheels": ["bus", "car"]}} if name == "nl" else {}
    draws = {"draws": 20} if name == "mixed-logit" else {}
    found = estimate(tasks(), name, utility="constants, cost, log(time)", **nests, **draws)
    frame = comparisons(found, scenarios={"slower": {"change": "time * 2", "remove": "bus"}})
    before = frame[(frame.measure == "share") & (frame.scenario == "")].set_index("alternative")
    chances = predictions(found).groupby("mode").probability.mean()
    for mode in chances.index:
        assert before.value[mode] == pytest.approx(chances[mode])
        assert before.low[mode] < before.value[mode] < before.high[mode]
    after = values(frame[frame.scenario == "slower"], "share")
    assert after["bus"] == 0
    assert sum(after.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        ("train.tmie * 2", "did you mean 'train.time'"),
        ("2 * cost", "does not begin with the column that changes"),
        ("train = 3", "unknown column 'train'"),
        ({"change": "cost / 0"}, "'cost' is not a number for"),
        ({"remove": "boat"}, "unknown alternative 'boat'"),
        ({"remove": ["bus", "car", "train"]}, "nothing is left on offer"),
        ({"remov": "bus"}, "did you mean 'remove'"),
        ({"add": {"night": {"cost": "1", "time": "2"}}}, "say which alternative it is like"),
        ({"add": {"night": {"cost": "1"}}}, "'night' needs time"),
        ({"add": {"night": {"cost": "cost", "time": "1"}}}, "whose cost is meant"),
        ({"add": {"night": {"like": "boat"}}}, "unknown alternative 'boat'"),
        ({"add": {"bus": {"like": "train"}}}, "is an alternative already"),
        ({"add": "night"}, "write an alternative as"),
        ({}, "needs sections change, remove, add"),
    ],
)
def test_wrong_scenarios_say_what_there_is(scenario, message):
    with pytest.raises(InvalidParameter) as error:
        predictions(fitted("mnl"), tasks(), scenario=scenario)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
