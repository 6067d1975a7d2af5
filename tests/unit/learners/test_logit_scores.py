"""Scores of tasks: their sum is the gradient, and each is the gradient of its task alone."""

from __future__ import annotations

from dataclasses import replace

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


@pytest.mark.parametrize("model", CASES)
def test_a_weight_of_two_counts_as_a_task_twice(model):
    """Draws belong to the place of a task, so the twice are made by hand for simulated models."""
    kind = Kind.SUBSET if model == "mnl-subset" else Kind.SINGLETON
    tasks = ragged(50, kind=kind)
    weights = np.where(np.arange(50) < 10, 2.0, 1.0)
    weighted = replace(tasks, weights=weights)
    learner = fitted(model, tasks) if model in MODELS else make_learner("mnl").fit(tasks)
    at = learner._parameters() * 0.9
    once = learner._scores(learner._data(tasks), at)
    data = learner._data(weighted)
    np.testing.assert_allclose(learner._scores(data, at), weights[:, None] * once, atol=1e-9)
    loss, gradient = learner._loss(data, at)
    np.testing.assert_allclose(-gradient, (weights[:, None] * once).sum(axis=0), atol=1e-9)
    slope = differences(lambda x: float(learner._loss(data, x)[0]), at)
    np.testing.assert_allclose(gradient, slope, atol=1e-5)
    hessian = learner._hessian(data, at)
    steps = 1e-6 * np.eye(len(at))
    by_steps = [
        (learner._loss(data, at + s)[1] - learner._loss(data, at - s)[1]) / 2e-6 for s in steps
    ]
    np.testing.assert_allclose(hessian, by_steps, atol=1e-4)
    assert np.isfinite(loss)
