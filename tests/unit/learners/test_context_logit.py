"""Logit models with context: against their definitions and against exact, published optima."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from logit_examples import ragged
from published_data import car_pairs, sfwork, sushi_first, swissmetro_split

from cschoice.learners import make_learner
from cschoice.learners.logit.inference import IdentificationWarning
from cschoice.learners.logit.optimization import complex_hessian
from cschoice.tasks import ChoiceTasks, Kind


def loss_on(learner, tasks):
    return -np.log(learner.predict_proba(tasks)[tasks.chosen]).sum()


@pytest.mark.parametrize(
    ("tasks", "mnl", "lcl"),
    [(sushi_first, 9821.3818, 9772.7230), (car_pairs, 1702.0786, 1694.0593)],
    ids=["sushi", "cars"],
)
def test_exact_optima_on_whole_data(tasks, mnl, lcl):
    for name, expected in (("mnl", mnl), ("lcl", lcl)):
        learner = make_learner(name, l2=0).fit(tasks())
        assert -learner.log_likelihood_ == pytest.approx(expected, abs=6e-5)


def test_exact_optima_on_a_split():
    train, test = swissmetro_split("train"), swissmetro_split("test")
    assert (len(train), len(test)) == (7_234, 1_802)
    for name, fitted, held_out in (("mnl", 5766.7050, 1433.0716), ("lcl", 5087.386, 1272.310)):
        learner = make_learner(name, l2=0).fit(train)
        assert -learner.log_likelihood_ == pytest.approx(fitted, abs=6e-4)
        assert loss_on(learner, test) == pytest.approx(held_out, abs=6e-4)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("rank", [None, 2])
def test_lcl_is_its_definition(rank, kind):
    tasks = ragged(80, kind=kind)
    learner = make_learner("lcl", rank=rank, n_starts=1).fit(tasks)
    x = tasks.features.astype(float)
    means = np.array([x[tasks.entries(i)].mean(axis=0) for i in range(len(tasks))])
    means = np.repeat(means, tasks.sizes, axis=0)
    own = np.column_stack([x, np.ones(len(x))])[:, : len(learner.coefficients_)]
    slopes = learner.coefficients_ + means @ learner.effects.T
    np.testing.assert_allclose(
        learner.utilities(tasks), (slopes * own).sum(1), rtol=1e-5, atol=1e-5
    )


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("shared", [False, True])
def test_hessian_and_scores_are_those_of_the_loss(kind, shared):
    tasks = ragged(60, kind=kind, shared=shared)
    learner = make_learner("lcl").fit(tasks)
    data, at = learner._data(tasks), learner._parameters() * 0.8
    by_steps = complex_hessian(lambda p: learner._loss(data, p)[1], at)
    np.testing.assert_allclose(learner._hessian(data, at), by_steps, rtol=1e-8, atol=1e-8)
    scores = learner._scores(data, at)
    np.testing.assert_allclose(-scores.sum(axis=0), learner._loss(data, at)[1], atol=1e-8)


def test_moments_are_those_of_the_products():
    tasks = ragged(100)
    data = make_learner("lcl").fit(tasks)._data(tasks)
    products = np.concatenate([data.features(b).reshape(20, -1) for b in data.blocks], axis=1)
    mean, deviation = data.moments()
    np.testing.assert_allclose(mean, products.mean(axis=1), atol=1e-10)
    np.testing.assert_allclose(deviation, products.std(axis=1), rtol=1e-8)


def test_without_context_in_the_data_lcl_finds_none():
    """The true A is zero: about one in twenty of its estimates is two standard errors away."""
    tasks = ragged(4000, sizes=(3, 5))
    learner = make_learner("lcl", l2=0).fit(tasks)
    errors = learner.standard_errors(tasks)
    z = learner.context_ / errors["context_"]
    assert (np.abs(z) > 2).sum() <= 3
    assert 0.5 < z.std() < 1.5
    truth = np.array([1.0, -0.5, 1.5, 0.2])
    assert (np.abs(learner.coefficients_ - truth) < 4 * errors["coefficients_"]).all()


def test_sets_with_one_mean_do_not_identify_the_context():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(200, 2, 2))
    tasks = ChoiceTasks.from_dense(
        np.concatenate([half, -half], axis=1), rng.integers(0, 4, 200), "singleton"
    )
    learner = make_learner("lcl").fit(tasks)
    with pytest.warns(IdentificationWarning, match="not identified.*cost × mean of time"):
        errors = learner.standard_errors(tasks, ["cost", "time"])
    assert np.isfinite(errors["coefficients_"]).all()
    assert np.isnan(errors["context_"]).all()


def test_full_rank_as_factors_is_the_full_model():
    tasks = ragged(200)
    full = make_learner("lcl", l2=0).fit(tasks)
    factors = make_learner("lcl", rank=4, l2=0).fit(tasks)
    assert factors.log_likelihood_ == pytest.approx(full.log_likelihood_, abs=1e-5)
    np.testing.assert_allclose(factors.effects, full.context_, atol=0.02)


def test_many_features_have_effects_of_low_rank():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4, 101)).astype(np.float32)
    tasks = ChoiceTasks.from_dense(x, x[:, :, 0].argmax(axis=1), "singleton")
    learner = make_learner("lcl", n_starts=1, l2=1e-2).fit(tasks)
    assert learner.effects.shape == (101, 101)
    assert np.linalg.matrix_rank(learner.effects) == learner.effective_rank == 8
    assert make_learner("lcl").fit(ragged(20)).effective_rank is None


def test_low_rank_has_no_standard_errors_of_its_factors_but_of_the_rest():
    tasks = ragged(300, sizes=(3, 4))
    learner = make_learner("lcl", rank=1, l2=0).fit(tasks)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        errors = learner.standard_errors(tasks, ["a", "b", "c", "d"])
    assert "target 1: a" in str(told[0].message)  # twice the target, half the context is the same
    assert np.isfinite(errors["coefficients_"]).all()


def test_exact_optima_of_alternatives_without_features():
    """Of rank two, 4048.621 is a local optimum that others report; most searches end below it."""
    tasks = sfwork()
    assert tasks.weights.sum() == 5_029
    mnl, cdm = (make_learner(name, l2=0).fit(tasks) for name in ("mnl", "cdm"))
    assert -mnl.log_likelihood_ == pytest.approx(4132.9156, abs=6e-5)
    assert -cdm.log_likelihood_ == pytest.approx(4045.8771, abs=6e-5)
    for rank, expected in ((1, 4066.0115), (2, 4047.8477), (3, 4045.8771)):
        low = make_learner("cdm", rank=rank, l2=0).fit(tasks)
        assert -low.log_likelihood_ == pytest.approx(expected, abs=2e-4)


def test_the_reference_does_not_change_the_cdm():
    """Four alternatives: constants of three, of three others, or of all four."""
    rng = np.random.default_rng(0)
    effects = rng.normal(size=(4, 4))
    rows, chosen, sizes = [], [], rng.choice([2, 3, 4], 400)
    for size in sizes:
        members = np.sort(rng.choice(4, size, replace=False))
        inside = effects[np.ix_(members, members)]
        values = inside.sum(axis=1) - inside.diagonal() + rng.gumbel(size=size)
        rows.append(np.eye(4)[members])
        chosen.append(np.arange(size) == values.argmax())
    x, offsets = np.concatenate(rows), np.append(0, np.cumsum(sizes))
    for rank in (None, 1):
        found = [
            make_learner("cdm", rank=rank, l2=0).fit(
                ChoiceTasks(
                    x[:, kept], np.arange(len(x)), offsets, np.concatenate(chosen), "singleton"
                )
            )
            for kept in ([0, 1, 2], [1, 2, 3], [0, 1, 2, 3])
        ]
        values = [one.log_likelihood_ for one in found]
        assert np.ptp(values) < 1e-4
        assert found[0].predict_proba(found_tasks(x[:, :3], offsets)).shape == (len(x),)


def found_tasks(x, offsets):
    first = np.zeros(len(x), dtype=bool)
    first[offsets[:-1]] = True
    return ChoiceTasks(x, np.arange(len(x)), offsets, first, "singleton")


def test_cdm_is_its_definition():
    tasks = ragged(60)
    x = tasks.features.astype(float)
    full = make_learner("cdm").fit(tasks)
    low = make_learner("cdm", rank=2, n_starts=1).fit(tasks)
    affine = np.column_stack([x, np.ones(len(x))])
    targets, contexts = affine @ low.targets_.T, affine @ low.contexts_.T
    for number in range(len(tasks)):
        entries = tasks.entries(number)
        for i in entries:
            others = [k for k in entries if k != i]
            slopes = full.coefficients_ + len(others) * full.crowding_
            slopes = slopes + full.context_ @ x[others].sum(axis=0)
            assert full.utilities(tasks)[i] == pytest.approx(slopes @ x[i], rel=1e-4, abs=1e-4)
            pairs = sum(targets[i] @ contexts[k] for k in others)
            assert low.utilities(tasks)[i] == pytest.approx(pairs, rel=1e-4, abs=1e-4)
