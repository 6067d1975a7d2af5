"""The same model on the same draws as another library, where that is installed."""

from __future__ import annotations

import numpy as np
import pytest

from cschoice.learners import LEARNERS, make_learner
from cschoice.tasks import ChoiceTasks, Kind


def test_mixed_logit_equals_xlogit():
    xlogit = pytest.importorskip("xlogit", reason="xlogit is not installed")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(800, 4, 3)).astype(np.float32).astype(np.float64)
    tastes = rng.normal([1.0, -0.8, 0.6], 0.8, size=(800, 3))
    y = (np.einsum("njk,nk->nj", x, tastes) + rng.gumbel(size=(800, 4))).argmax(axis=1)
    peer = xlogit.MixedLogit()
    peer.fit(
        X=x.reshape(-1, 3),
        y=(y[:, None] == np.arange(4)).ravel(),
        varnames=["a", "b", "c"],
        ids=np.repeat(np.arange(800), 4),
        alts=np.tile(np.arange(4), 800),
        randvars={"a": "n", "c": "n"},
        n_draws=100,
        verbose=0,
    )
    tasks = ChoiceTasks.from_dense(x, y, Kind.SINGLETON)
    learner = make_learner(
        "mixed-logit", l2=0, integration="halton", n_draws=100, random_features=(0, 2)
    ).fit(tasks)
    assert learner.log_likelihood_ == pytest.approx(peer.loglikelihood, abs=5e-5)
    np.testing.assert_allclose(learner.coefficients_, peer.coeff_[:3], atol=1e-3)
    np.testing.assert_allclose(learner.deviations_, peer.coeff_[3:], atol=1e-3)


@pytest.mark.parametrize(
    "name", ["mnl", "nl", "gnl", "mixed-logit", "pairwise-svm", "all-positive", "random"]
)
def test_search_space_is_about_parameters_and_contains_the_defaults(name):
    assert name in LEARNERS
    learner = make_learner(name)
    assert learner.name == name
    defaults = learner.get_params()
    for parameter, dimension in learner.search_space.items():
        assert defaults[parameter] in dimension
