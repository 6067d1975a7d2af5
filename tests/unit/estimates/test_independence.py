"""Tests of context: published statistics, their level where there is none, plain verdicts."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from published_data import car_pairs, sfwork, sushi_first

from cschoice import ChoiceTasks, context_tests, estimate
from cschoice.errors import InvalidParameter
from cschoice.estimates.exchanges import Offers, exchange_test
from cschoice.estimates.samples import Sample

ROOT = Path(__file__).parents[3]
RATIO, EXCHANGES = "likelihood ratio, ", "exchanges of choices"


def script(name):
    found = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


level = script("context_level")


def by_name(result):
    return {test.name: test for test in result.tests}


def test_work_trips_depend_on_context():
    result = context_tests(sfwork(), n_samples=39)
    tests = by_name(result)
    assert tests[RATIO + "CDM"].statistic == pytest.approx(174.08, abs=5e-3)
    assert tests[RATIO + "CDM"].degrees == 16
    assert tests[EXCHANGES].p == 1 / 40
    assert (result.n_tasks, result.n_sets, result.matters) == (5_029, 12, True)
    assert result.verdict.startswith("Context matters")
    assert any("12 different sets" in warning for warning in result.warnings)
    assert any("2 estimates run to infinity" in warning for warning in result.warnings)


def test_sushi_depend_on_context_for_a_model():
    result = context_tests(sushi_first(), n_samples=19)
    ratio = by_name(result)[RATIO + "LCL"]
    assert ratio.statistic == pytest.approx(97.32, abs=5e-3)
    assert ratio.degrees == 36
    assert by_name(result)[EXCHANGES].p > 0.05
    assert "exchanges do not" in result.warnings[-1]


def test_pairs_of_cars_cannot_tell_all_effects():
    """Of sixteen effects, five follow from others: the features of ten cars are no more than that.

    On sixteen degrees of freedom, as published, the test would reject too rarely.
    """
    result = context_tests(car_pairs())
    (ratio,) = result.tests
    assert ratio.statistic == pytest.approx(16.04, abs=5e-3)
    assert ratio.degrees == 11
    x = car_pairs().features.reshape(-1, 2, 4).astype(float)
    mean, difference = x.mean(axis=1), x[:, 0] - x[:, 1]
    products = (mean[:, :, None] * difference[:, None]).reshape(len(x), -1)
    assert np.linalg.matrix_rank(np.column_stack([products, difference])) == 11 + 4
    assert result.matters is False
    assert "5 of 16 effects follow from the others" in result.warnings[0]
    assert "no two objects come together in two different sets" in result.warnings[1]


def test_without_context_five_percent_are_rejected():
    """By models of features, and by exchanges; benchmarks/context_level.py prints all of them."""
    ratio = level.rejections("features", 300)[RATIO + "LCL"]
    found = [
        exchange_test(Offers.of(level.alternatives(seed, n_tasks=200).tasks), 19, seed).p
        for seed in range(400)
    ]
    for share in (ratio, np.mean(np.array(found) <= 0.05)):
        assert 0.03 <= share <= 0.07


def with_decoy(n_tasks=400, seed=0):
    """Return choices of a and b, where c is on offer half of the time and helps a alone."""
    rng = np.random.default_rng(seed)
    inside = np.ones((n_tasks, 3), dtype=bool)
    inside[:, 2] = rng.random(n_tasks) < 0.5
    values = rng.gumbel(loc=[0.0, 0.5, -1.5], size=(n_tasks, 3))
    values[:, 0] += 1.2 * inside[:, 2]
    chosen = np.where(inside, values, -np.inf).argmax(axis=1)
    offsets = np.append(0, np.cumsum(inside.sum(axis=1)))
    objects = np.nonzero(inside)[1]
    task = np.repeat(np.arange(n_tasks), inside.sum(axis=1))
    tasks = ChoiceTasks(
        np.eye(3)[objects], np.arange(len(objects)), offsets, objects == chosen[task], "singleton"
    )
    return Sample(tasks, ("constant=a", "constant=b", "constant=c"))


def test_a_decoy_is_found_by_every_test():
    result = context_tests(with_decoy(), n_samples=199)
    assert {test.name for test in result.tests} == {RATIO + "CDM", "Hausman–McFadden", EXCHANGES}
    assert all(test.p < 0.05 for test in result.tests)
    assert result.matters


def test_effects_that_add_nothing_are_left_at_zero_in_estimates():
    sample = with_decoy()
    mnl, cdm = estimate(sample, "mnl"), estimate(sample, "cdm")
    unrestricted = estimate(sample, "cdm", parameters={"l2": 1e-9})
    assert cdm.fit.log_likelihood == pytest.approx(unrestricted.fit.log_likelihood, abs=1e-4)
    # Three shares with c and two without: three odds, of which two are the constants.
    assert (mnl.fit.n_parameters, cdm.fit.n_parameters) == (2, 3)
    free = [k for k, remark in enumerate(cdm.remarks) if not remark]
    assert np.isfinite(cdm.standard_errors()[free]).all()
    assert set(cdm.remarks) == {"", "fixed"}


def test_one_set_cannot_tell():
    x = np.tile(np.eye(3), (100, 1, 1))
    tasks = ChoiceTasks.from_dense(x, np.arange(100) % 3, "singleton")
    result = context_tests(Sample(tasks, ("constant=a", "constant=b", "constant=c")))
    assert RATIO + "CDM" not in by_name(result)
    assert EXCHANGES not in by_name(result)
    assert "every task offers the same objects" in result.warnings[-1]


def test_people_who_choose_often_are_a_warning():
    tasks = level.features(0).tasks
    often = tasks.with_arrays(groups=np.arange(len(tasks)) // 5)
    assert "different tastes" in context_tests(often).warnings[0]


def test_exchanges_keep_how_often_objects_are_chosen_and_what_is_on_offer():
    sample = level.alternatives(0)
    offers = Offers.of(sample.tasks)
    from cschoice.estimates.exchanges import _exchanged

    rng, chosen = np.random.default_rng(0), offers.chosen
    for _ in range(20):
        chosen = _exchanged(chosen, offers.inside, rng)
    assert (chosen != offers.chosen).mean() > 0.3
    assert offers.inside[np.arange(len(chosen)), chosen].all()
    np.testing.assert_array_equal(np.bincount(chosen), np.bincount(offers.chosen))
    expected = offers.expected()
    np.testing.assert_allclose(np.diag(expected), np.bincount(offers.chosen), rtol=1e-6)


def test_weights_are_repeated_tasks_for_exchanges():
    tasks = level.alternatives(1, n_tasks=100).tasks
    weights = np.ones(100)
    weights[:10] = 2
    doubled = ChoiceTasks.concatenate([tasks, tasks[:10]])
    one = Offers.of(tasks.with_arrays(weights=weights))
    other = Offers.of(doubled)
    assert exchange_test(one, 19).statistic == pytest.approx(exchange_test(other, 19).statistic)
    assert Offers.of(tasks.with_arrays(weights=weights / 2)) is None


def test_what_cannot_be_tested_is_refused():
    tasks = level.features(0).tasks
    with pytest.raises(InvalidParameter, match="level must lie between 0 and 1"):
        context_tests(tasks, level=5)
    subsets = ChoiceTasks(tasks.table, tasks.items, tasks.offsets, tasks.chosen, "subset")
    with pytest.raises(InvalidParameter, match="choices of one object"):
        context_tests(subsets)
