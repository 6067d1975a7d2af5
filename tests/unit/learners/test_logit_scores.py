"""Scores of tasks: their sum is the gradient, and each is the gradient of its task alone."""

from __future__ import annotations

import numpy as np
import pytest
from logit_examples import MODELS, differences, fitted, ragged

from cschoice.learners import make_learner
from cschoice.tasks import Kind

CASES = [*MODELS, "mnl-subset"]


@pytest.mark.parametrize("model", CASES)
def test_scores_are_the_gradients_of_single_tasks(model):
    tasks = ragged(60, kind=Kind.SUBSET if model == "mnl-subset" else Kind.SINGLETON)
    learner = fitted(model, tasks) if model in MODELS else make_learner("mnl").fit(tasks)
    data = learner._data(tasks)
    at = learner._parameters() * 0.9  # away from the optimum, where the sum is zero
    scores = learner._scores(data, at)
    assert scores.shape == (60, len(at))
    np.testing.assert_allclose(-scores.sum(axis=0), learner._loss(data, at)[1], atol=1e-9)
    if "mixed" in model and model != "mixed-discrete":
        return  # draws belong to the place of a task, so a task alone has others
    for number in (0, 17, 59):
        alone = learner._data(tasks[[number]])
        slope = differences(lambda x, alone=alone: float(learner._loss(alone, x)[0]), at)
        np.testing.assert_allclose(-scores[number], slope, atol=1e-6)
