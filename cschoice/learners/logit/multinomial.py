"""The multinomial logit model (singleton choice) and the generalized linear model (subset)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cschoice.learners.logit.amounts import amounts_of, by_amounts, check_money, coefficients_of
from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.layout import Block, TaskLayout, Values, linear_utilities
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.optimization import Vector, minimize, newton
from cschoice.learners.logit.softmax import log_softmax, softplus
from cschoice.space import Dimension, Limit, Number, Optional, Real, Whole
from cschoice.tasks import ChoiceTasks, Kind

_NEWTON_FEATURES = 256  # with more, a Hessian costs more than the steps it saves
_SAMPLE = 8  # one block of so many gives the start of the fit on all tasks


class MultinomialLogit(LogitLearner):
    """A linear utility with softmax (singleton) or independent Bernoulli choices (subset).

    Subset choice has an intercept, so that utility zero means a probability of one half; in
    singleton choice it would cancel. The loss is convex, so the estimate is its global minimum.
    With ``money_feature`` the other coefficients are amounts of that feature, see ``amounts``.
    """

    name = "mnl"
    limits: ClassVar[Mapping[str, Limit]] = {"l2": Number(0), "money_feature": Optional(Whole(0))}
    search_space: ClassVar[Mapping[str, Dimension]] = {"l2": Real(1e-6, 10.0)}

    coefficients_: Vector
    intercept_: Vector
    money_feature: int | None = None

    def __init__(self, l2: float = 1e-5, money_feature: int | None = None) -> None:
        self.l2 = l2
        self.money_feature = money_feature

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        check_money(self.money_feature, tasks)
        layout = self._data(tasks)
        found = fit_linear(layout, self.l2 * self._penalty_weights(layout))
        if self.money_feature is not None:
            found = amounts_of(found, self.money_feature)
            scores, penalty = self._scores(layout, found), self.penalty(layout)
            curvature = scores.T @ scores + np.diag(penalty)
            found = minimize(self._penalized(layout, penalty), found, curvature)
        self._take(found, -float(self._loss(layout, found)[0]))

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        return linear_utilities(tasks, self._own()) + float(self.intercept_.sum())

    def _own(self) -> Vector:
        """Return the coefficients of features, whatever was estimated."""
        own: Vector = coefficients_of(self.coefficients_, self.money_feature)
        return own

    def _inclusive_values(self, tasks: ChoiceTasks) -> Vector | None:
        if tasks.kind is Kind.SUBSET:
            return None  # nothing is given up for what is included
        values = linear_utilities(tasks, self._own())
        largest = tasks.reduce(np.maximum, values)
        sums: Vector = np.log(tasks.reduce(np.add, np.exp(values - tasks.spread(largest))))
        return largest + sums

    def _gradient(
        self,
        tasks: ChoiceTasks,  # noqa: ARG002 - the same everywhere
        weights: NDArray[np.floating[Any]],
    ) -> Vector:
        gradient: Vector = np.outer(weights, self._own())
        return gradient

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> TaskLayout:
        return TaskLayout(tasks, chosen_first=learning, intercept=tasks.kind is Kind.SUBSET)

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        n_constants = int(self.kind_ is Kind.SUBSET)
        return {"coefficients_": (self.n_features_in_,), "intercept_": (n_constants,)}

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:
        values = by_feature.copy()
        values[self.n_features_in_ :] = other
        return values

    def _names(self, features: Sequence[str]) -> list[str]:
        return [*features, *["intercept"] * len(self.intercept_)]

    def _loss(self, data: TaskLayout, parameters: Values) -> tuple[Any, Values]:
        money = self.money_feature
        loss, gradient = loss_gradient(data, coefficients_of(parameters, money))
        return loss, by_amounts(gradient, parameters, money)

    def _hessian(self, data: TaskLayout, parameters: Vector) -> Matrix:
        if self.money_feature is not None:
            return super()._hessian(data, parameters)
        return loss_terms(data, data.blocks, parameters)[2]

    def _scores(self, data: TaskLayout, parameters: Vector) -> Vector:
        money = self.money_feature
        scores = linear_scores(data, coefficients_of(parameters, money))
        found: Vector = by_amounts(scores, parameters, money)
        return found


def linear_scores(layout: TaskLayout, coefficients: Vector) -> Vector:
    """Return the gradient of each task's log-likelihood, of a linear utility."""
    utilities = layout.linear(coefficients)
    if layout.kind is Kind.SUBSET:
        return layout.by_task(layout.entry_weights() * (layout.chosen - expit(utilities)))
    for block in layout.blocks:
        view = block.view(utilities)
        view[:] = -np.exp(log_softmax(view))
        view[0] += 1.0
        view *= layout.weights_of(block)
    return layout.by_task(utilities)


def fit_linear(
    layout: TaskLayout, weights: Vector, newton_features: int = _NEWTON_FEATURES
) -> Vector:
    """Return the coefficients that minimize the mean loss of a task plus the penalty.

    By Newton's method, up to so many features.
    """
    weights = weights * layout.n_tasks
    start = np.zeros(layout.n_features)
    if layout.n_features > newton_features:

        def objective(at: Vector) -> tuple[float, Vector]:
            loss, gradient = loss_gradient(layout, at)
            return loss + 0.5 * (weights * at) @ at, gradient + weights * at

        return minimize(objective, start, information(layout, start, weights))

    def stage(blocks: list[Block], start: Vector) -> Vector:
        share = weights * sum(block.n_tasks for block in blocks) / layout.n_tasks

        def terms(at: Vector) -> tuple[float, Vector, NDArray[np.float64]]:
            loss, gradient, hessian = loss_terms(layout, blocks, at)
            loss += 0.5 * float((share * at) @ at)
            return loss, gradient + share * at, hessian + np.diag(share)

        return newton(terms, start)

    few = layout.blocks[::_SAMPLE]
    if len(layout.blocks) > _SAMPLE:
        start = stage(few, start)
    return stage(layout.blocks, start)


def information(layout: TaskLayout, coefficients: Vector, weights: Vector) -> NDArray[np.float64]:
    """Return the Hessian of loss and penalty; a rough diagonal where features are many."""
    if layout.n_features > _NEWTON_FEATURES:
        rough: Vector = layout.n_tasks * layout.moments()[1] ** 2 / 4 + weights
        return rough
    return loss_terms(layout, layout.blocks, coefficients)[2] + np.diag(weights)


def loss_gradient(layout: TaskLayout, coefficients: Values) -> tuple[Any, Values]:
    """Return the negative log-likelihood of a linear utility and its gradient."""
    if layout.kind is Kind.SUBSET:
        signs = np.where(layout.chosen, -1.0, 1.0)
        margins = signs * layout.linear(coefficients)
        weights = layout.entry_weights()
        residuals = weights * signs / (1 + np.exp(-margins))
        return (weights * softplus(margins)).sum(), layout.transposed(residuals)
    losses: list[Any] = []

    def to_residuals(block: Block, utilities: Values) -> None:
        logs = log_softmax(utilities)
        weights = layout.weights_of(block)
        losses.append(-(weights * logs[0]).sum())
        np.exp(logs, out=utilities)
        utilities[0] -= 1.0
        if layout.weights is not None:
            utilities *= weights

    gradient = layout.gradient(coefficients, to_residuals)
    return sum(losses), gradient


def loss_terms(
    layout: TaskLayout, blocks: list[Block], coefficients: Vector
) -> tuple[float, Vector, NDArray[np.float64]]:
    """Return the negative log-likelihood of the given blocks, its gradient and Hessian."""
    loss, gradient = 0.0, np.zeros(layout.n_features)
    hessian = np.zeros((layout.n_features, layout.n_features))
    for block in blocks:
        x = layout.features(block)
        flat = x.reshape(layout.n_features, -1)
        values = coefficients @ flat
        if layout.kind is Kind.SUBSET:
            signs = np.where(layout.chosen[block.entries], -1.0, 1.0)
            weights = layout.entry_weights(block.entries)
            loss += float((weights * softplus(signs * values)).sum())
            shares = expit(values)
            gradient += flat @ (weights * (shares - (signs < 0)))
            hessian += (flat * (weights * shares * (1 - shares))) @ flat.T
        else:
            logs = log_softmax(values.reshape(block.size, -1))
            weights = layout.weights_of(block)
            loss -= float((weights * logs[0]).sum())
            # In differences from the chosen object, features constant in a task are exactly zero.
            differences = x - x[:, :1]
            weighted = differences * np.exp(logs)
            means = weighted.sum(axis=1)
            flat = differences.reshape(flat.shape)
            if layout.weights is None:
                gradient += means.sum(axis=1)
                hessian += weighted.reshape(flat.shape) @ flat.T - means @ means.T
            else:
                gradient += (means * weights).sum(axis=1)
                hessian += (weighted * weights).reshape(flat.shape) @ flat.T
                hessian -= (means * weights) @ means.T
    return loss, gradient, hessian
