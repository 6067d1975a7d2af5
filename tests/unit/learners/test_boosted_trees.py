"""Boosted trees: their likelihoods, their ranking loss and their optional package."""

import sys

import numpy as np
import pytest

from cschoice import make_dataset
from cschoice.errors import MissingDependency
from cschoice.evaluation.decisions import probabilities
from cschoice.evaluation.metrics import metric
from cschoice.learners import make_learner
from cschoice.learners.saving import load
from cschoice.tasks import ChoiceTasks, Kind


def tasks_of_one_factor(kind, n_tasks=3_000, seed=0):
    """Tasks of five objects with a feature of three values, each with its own true utility."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (n_tasks, 5))
    utilities = np.array([-1.0, 0.0, 1.5])[values]
    if kind is Kind.SINGLETON:
        chosen = (utilities + rng.gumbel(size=utilities.shape)).argmax(axis=1)
    else:
        chosen = rng.random(utilities.shape) < 1 / (1 + np.exp(-utilities))
        chosen[~chosen.any(axis=1), 0] = True
    return ChoiceTasks.from_dense(values[..., None].astype(float), chosen, kind)


@pytest.mark.parametrize("kind", Kind)
def test_the_likelihood_of_a_saturated_model_is_reached(kind):
    """With a leaf per value and no penalty, trees are the logit with a constant per value."""
    tasks = tasks_of_one_factor(kind)
    trees = make_learner("boosted-trees", n_leaves=3, leaf_penalty=0.0).learn(tasks)
    dummies = tasks.table == np.arange(3)
    logit = make_learner("mnl", l2=1e-8).learn(tasks.with_arrays(table=dummies.astype(np.float32)))
    expected = probabilities(tasks, logit.utilities(tasks.with_arrays(table=dummies * 1.0)))
    assert trees.predict_proba(tasks) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("kind", Kind)
def test_weights_count_as_repetitions(kind):
    tasks = tasks_of_one_factor(kind, 300)
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 4, len(tasks))
    repeated = tasks[np.repeat(np.arange(len(tasks)), counts)]
    weighted = tasks.with_arrays(weights=counts.astype(float))
    one, other = (
        make_learner("boosted-trees", min_per_leaf=1, n_leaves=3).learn(each).utilities(tasks)
        for each in (weighted, repeated)
    )
    assert one == pytest.approx(other, abs=1e-4)


def test_lambdarank_orders_and_claims_no_probabilities(tmp_path):
    train, test = make_dataset("pareto2d", n_train=300, n_test=200).fold(0, seed=1)
    model = make_learner("boosted-trees", loss="lambdarank", n_trees=50).fit(train)
    assert not model.probabilistic
    utilities = model.utilities(test)
    assert metric("auc-roc")(test, utilities) > 0.9
    model.save(tmp_path)
    assert (load(tmp_path).utilities(test) == utilities).all()


def test_utilities_depend_on_nothing_but_the_object():
    train, test = make_dataset("medoid", n_train=200, n_test=50).fold(0, seed=1)
    model = make_learner("boosted-trees").fit(train)
    nobody = np.zeros(test.n_entries, dtype=int)
    alone = ChoiceTasks.from_dense(test.features[:, None], nobody, test.kind)
    assert (model.utilities(alone) == model.utilities(test)).all()


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingDependency, match=r"pip install 'cschoice\[trees\]'"):
        make_learner("boosted-trees").learn(tasks_of_one_factor(Kind.SINGLETON, 20))
