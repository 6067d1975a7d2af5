"""Estimates that others published, to the printed digits, on two data sets of the literature."""

from __future__ import annotations

import numpy as np
import pytest
from published_data import read

from cschoice.learners import make_learner
from cschoice.learners.logit.inference import IdentificationWarning
from cschoice.tasks import ChoiceTasks, Kind


@pytest.fixture(scope="module")
def swissmetro() -> ChoiceTasks:
    """Train, Swissmetro and car: train and car constants, time, cost, nest of the existing."""
    data = read("swissmetro/swissmetro.csv.gz")
    data = data[data.PURPOSE.isin([1, 3]) & (data.CHOICE != 0)]
    pays = (data.GA == 0).to_numpy()
    no, yes = np.zeros(len(data)), np.ones(len(data))
    modes = [
        np.column_stack([yes, no, data.TRAIN_TT / 100, data.TRAIN_CO * pays / 100, no]),
        np.column_stack([no, no, data.SM_TT / 100, data.SM_CO * pays / 100, yes]),
        np.column_stack([no, yes, data.CAR_TT / 100, data.CAR_CO / 100, no]),
    ]
    stated = (data.SP != 0).to_numpy()
    available = np.column_stack([data.TRAIN_AV * stated, data.SM_AV, data.CAR_AV * stated]) > 0
    chosen = data.CHOICE.to_numpy()[:, None] == [1, 2, 3]
    return ChoiceTasks(
        table=np.stack(modes, axis=1)[available],
        items=np.arange(np.count_nonzero(available)),
        offsets=np.append(0, np.cumsum(available.sum(axis=1))),
        chosen=chosen[available],
        kind=Kind.SINGLETON,
    )


@pytest.fixture(scope="module")
def swissmetro_flat(swissmetro: ChoiceTasks) -> ChoiceTasks:
    """Swissmetro without the column of nests."""
    return ChoiceTasks(
        swissmetro.table[:, :4],
        swissmetro.items,
        swissmetro.offsets,
        swissmetro.chosen,
        swissmetro.kind,
    )


def test_swissmetro_mnl(swissmetro_flat):
    assert len(swissmetro_flat) == 6_768
    learner = make_learner("mnl", l2=0).fit(swissmetro_flat)
    assert learner.log_likelihood_ == pytest.approx(-5331.252, abs=5e-4)
    expected = [-0.7012, -0.1546, -1.2779, -1.0838]
    np.testing.assert_allclose(learner.coefficients_, expected, rtol=0, atol=5e-5)
    errors = learner.standard_errors(swissmetro_flat)["coefficients_"]
    np.testing.assert_allclose(errors, [0.0549, 0.0432, 0.0569, 0.0518], rtol=0, atol=5e-5)


def test_swissmetro_nested_logit(swissmetro):
    learner = make_learner("nl", l2=0, nest_feature=4).fit(swissmetro)
    assert learner.log_likelihood_ == pytest.approx(-5236.900, abs=5e-4)
    assert learner.dissimilarities_[0] == pytest.approx(0.4868, abs=5e-5)
    # The dissimilarity of a nest of one object has no influence.
    with pytest.warns(IdentificationWarning, match="dissimilarity of nest 1 = 1"):
        errors = learner.standard_errors(swissmetro)["dissimilarities_"]
    assert 0.02 < errors[0] < 0.04
    assert np.isnan(errors[1])


def test_swissmetro_mixed_logit(swissmetro_flat):
    learner = make_learner(
        "mixed-logit", l2=0, random_features=(2,), integration="quadrature", n_draws=400
    ).fit(swissmetro_flat)
    assert learner.log_likelihood_ == pytest.approx(-5214.893, abs=5e-4)
    assert learner.coefficients_[2] == pytest.approx(-2.2598, abs=1e-4)
    assert learner.deviations_[0] == pytest.approx(1.6576, abs=1e-4)


def test_mode_canada_mnl():
    data = read("modecanada/ModeCanada.csv.gz")
    data = data[data.noalt == 4].sort_values(["case", "alt"])
    is_mode = data.alt.to_numpy()[:, None] == ["air", "train", "car", "bus"]
    shared = data[["cost", "freq", "ovt"]].to_numpy()
    by_mode = is_mode * data.ivt.to_numpy()[:, None]
    income = is_mode[:, 1:] * data.income.to_numpy()[:, None]
    features = np.column_stack([shared, is_mode[:, 1:], income, by_mode])
    tasks = ChoiceTasks.from_dense(
        features.reshape(-1, 4, features.shape[1]),
        data.choice.to_numpy(dtype=bool).reshape(-1, 4),
        Kind.SINGLETON,
    )
    assert len(tasks) == 2_779
    learner = make_learner("mnl", l2=0).fit(tasks)
    assert learner.log_likelihood_ == pytest.approx(-1874.343, abs=5e-4)
