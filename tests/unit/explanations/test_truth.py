"""Effects of context whose true sizes are known: choices simulated from a model of decisions."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from cschoice.explanations.triples import directions_of, triples
from cschoice.learners import make_learner

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def mlba(data_folder):  # noqa: ARG001 - skipped without data
    """The benchmark that prints the README's numbers."""
    found = importlib.util.spec_from_file_location("mlba", ROOT / "benchmarks/mlba.py")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_feta_finds_attraction_compromise_and_similarity(mlba):
    """A fit of twenty epochs on 20,000 sets takes 14 s: it is what the README tells."""
    train, test, truth = mlba.parts("test")
    chances = make_learner("feta", epochs=20).fit(train, seed=1).predict_proba(test)
    assert mlba.divergence(test, truth, chances) < 0.003
    directions = directions_of({"a1": "high", "a2": "high"}, test.feature_names)
    for some in triples(test, directions):
        own = mlba.shift(some, np.log(chances))
        true = mlba.shift(some, np.log(np.maximum(truth, 1e-300)))
        assert true > 0.25
        assert own == pytest.approx(true, abs=0.12)


def test_the_truth_diverges_from_itself_by_nothing(mlba):
    train, _, _ = mlba.parts("test")
    _, truth = mlba.read("train")
    assert mlba.divergence(train, truth, np.maximum(truth, 1e-300)) == pytest.approx(0, abs=1e-12)
    entropy = -np.where(truth > 0, truth * np.log(np.maximum(truth, 1e-300)), 0)
    assert train.reduce(np.add, entropy).mean() == pytest.approx(0.635935, abs=1e-6)
