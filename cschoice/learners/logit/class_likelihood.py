"""The likelihood of latent classes of people, with its gradient and the steps of EM."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.multinomial import loss_terms
from cschoice.learners.logit.optimization import Vector, newton
from cschoice.learners.logit.panel import Panel
from cschoice.learners.logit.softmax import log_softmax, log_sum

_LEAST_WEIGHT = 1e-12  # of a person in a class: a weight of zero would lose its units


@dataclass(frozen=True)
class Classes:
    """The data: tasks by person, and the features of people."""

    panel: Panel
    people: NDArray[np.int64]  # of tasks
    members: NDArray[np.float64]  # (people, 1 + features of membership), the first column one

    @property
    def layout(self) -> TaskLayout:
        """Return the layout of the tasks."""
        return self.panel.layout

    @property
    def weights(self) -> NDArray[np.float64]:
        """Return how much each person counts."""
        return np.ones(self.panel.n_people) if self.panel.weights is None else self.panel.weights


def log_shares(members: Values, membership: Values) -> Values:
    """Return the logarithm of each person's chance of each class; the last class is at zero."""
    functions = members @ membership.T
    last = np.zeros((len(functions), 1), dtype=functions.dtype)
    return log_softmax(np.concatenate([functions, last], axis=1), axis=1)


def class_terms(data: Classes, coefficients: Values, membership: Values) -> tuple[Values, Values]:
    """Return each person's log-likelihood and its gradient by all parameters, flattened."""
    dtype = np.result_type(coefficients, membership)
    logs, slopes = _by_class(data, coefficients)
    priors = log_shares(data.members, membership)
    joint = priors + logs
    totals = log_sum(joint, axis=1)
    posterior = np.exp(joint - totals[:, None])
    surprise = (posterior - np.exp(priors))[:, :-1]
    by_coefficient = (posterior[:, :, None] * slopes).reshape(len(logs), -1)
    by_membership = (surprise[:, :, None] * data.members[:, None]).reshape(len(logs), -1)
    gradient = np.concatenate([by_coefficient, by_membership], axis=1).astype(dtype, copy=False)
    return data.weights * totals, gradient * data.weights[:, None]


def posterior_classes(data: Classes, coefficients: Vector, membership: Vector) -> Matrix:
    """Return each person's chance of each class, given the person's choices."""
    joint = log_shares(data.members, membership) + _by_class(data, coefficients)[0]
    posterior: Matrix = np.exp(log_softmax(joint, axis=1))
    return posterior


def em_step(
    data: Classes, coefficients: Vector, membership: Vector, penalty: Vector
) -> tuple[Vector, Vector]:
    """Return the parameters after one step of expectation and maximization.

    Given the chances of classes, each class is a weighted multinomial logit, and membership is a
    logit whose outcomes are the chances.
    """
    posterior = posterior_classes(data, coefficients, membership)
    counted = posterior * data.weights[:, None]
    layout, found = data.layout, np.empty_like(coefficients)
    before = layout.weights
    try:
        for k, start in enumerate(coefficients):
            of_tasks = np.maximum(counted[:, k], _LEAST_WEIGHT)[data.people]
            layout.weights = of_tasks[layout.task_numbers]

            def terms(at: Vector) -> tuple[float, Vector, Matrix]:
                loss, gradient, hessian = loss_terms(layout, layout.blocks, at)
                loss += 0.5 * float((penalty * at) @ at)
                return loss, gradient + penalty * at, hessian + np.diag(penalty)

            found[k] = newton(terms, start, decrement=1e-6, max_steps=10)
    finally:
        layout.weights = before
    return found, _membership_step(data.members, counted, membership)


def _membership_step(members: Matrix, counted: Matrix, membership: Vector) -> Vector:
    """Return the membership that makes the chances of classes most likely."""
    n_free, n_members = membership.shape
    if not n_free:
        return membership
    totals = counted.sum(axis=1)

    def terms(at: Vector) -> tuple[float, Vector, Matrix]:
        logs = log_shares(members, at.reshape(membership.shape))
        shares = np.exp(logs)[:, :-1]
        gradient = (totals[:, None] * shares - counted[:, :-1]).T @ members
        spread = -shares[:, :, None] * shares[:, None]
        spread[:, np.arange(n_free), np.arange(n_free)] += shares
        hessian = np.einsum("n,nab,ni,nj->aibj", totals, spread, members, members, optimize=True)
        size = n_free * n_members
        return -float((counted * logs).sum()), gradient.ravel(), hessian.reshape(size, size)

    return newton(terms, membership.ravel(), decrement=1e-6, max_steps=10).reshape(membership.shape)


def _by_class(data: Classes, coefficients: Values) -> tuple[Values, Values]:
    """Return each person's log-likelihood in each class, and its gradient by coefficients."""
    n_people, n_classes = data.panel.n_people, len(coefficients)
    logs = np.empty((n_people, n_classes), dtype=coefficients.dtype)
    slopes = np.empty((n_people, *coefficients.shape), dtype=coefficients.dtype)
    for block in data.panel.blocks:
        utilities = block.differences @ coefficients.T
        if block.absent is not None:
            utilities[block.absent] = -np.inf
        by_task = block.by_task(utilities)
        top = np.maximum(by_task.real.max(axis=2), 0.0)
        by_task -= top[:, :, None]
        np.exp(utilities, out=utilities)
        totals = by_task.sum(axis=2) + np.exp(-top)
        by_task /= totals[:, :, None]
        logs[block.people] = -(np.log(totals) + top).sum(axis=1)
        slopes[block.people] = -(utilities.swapaxes(1, 2) @ block.differences)
    return logs, slopes
