"""The mixed logit: coefficients differ between choices and follow a learned distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.learners.learner import Arrays
from cschoice.learners.logit.integration import Draws, make_draws
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.mixed_likelihood import (
    Simulation,
    discrete_log_probabilities,
    discrete_loss,
    discrete_scores,
    normal_log_probabilities,
    normal_scores,
    shared_normal_loss,
)
from cschoice.learners.logit.multinomial import fit_linear
from cschoice.learners.logit.optimization import Vector, minimize
from cschoice.seeding import seed_for
from cschoice.space import Dimension, Limit, Number, OneOf, Optional, Real, Several, Whole
from cschoice.tasks import ChoiceTasks, Kind

_COARSE = 8  # one draw of so many gives the start of the fit with all draws
_ACCURACY, _STEPS = 1e-8, 500  # looser than elsewhere: mixtures of logits have flat valleys
_MATRIX_PARAMETERS = 512  # with more, a matrix of curvature costs more than the steps it saves
# A model with few parameters is read, so its estimates are exact. A model with many is there to
# predict: the last digits of its likelihood take most steps and barely change its accuracy.
_MANY_PARAMETERS, _ROUGH, _EXACT = 100, 1e-5, 1e-14


class MixedLogit(LogitLearner):
    """A logit model with random coefficients.

    With ``mixing="normal"`` the coefficients of ``random_features`` (default: all) are
    independent normal variables. ``integration`` is the method of integrating over them:
    ``sobol`` (scrambled) or ``halton`` with ``n_draws`` draws per task, or, for a single random
    coefficient, ``quadrature`` with ``n_draws`` nodes, which is exact.

    The model is cross-sectional: every task has draws of its own, also where groups tell that one
    person chose in several. ``PanelMixedLogit`` gives each person one draw.

    With ``mixing="discrete"`` the coefficients have ``n_components`` equally probable values.
    That likelihood has several maxima; the seed determines the start of the search.
    """

    name = "mixed-logit"
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})
    limits: ClassVar[Mapping[str, Limit]] = {
        "mixing": OneOf(("normal", "discrete")),
        "n_draws": Whole(1, 100_000),
        "integration": OneOf(("sobol", "halton", "quadrature")),
        "random_features": Optional(Several(Whole(0))),
        "n_components": Whole(1, 1000),
        "l2": Number(0),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {"l2": Real(1e-6, 10.0)}

    coefficients_: Vector  # means (n_features,) or values (n_components, n_features)
    deviations_: Vector  # (n_random,), none if discrete
    seed_: int
    signs_: Vector

    def __init__(
        self,
        mixing: str = "normal",
        n_draws: int = 128,
        integration: str = "sobol",
        random_features: Sequence[int] | None = None,
        n_components: int = 4,
        l2: float = 1e-5,
    ) -> None:
        self.mixing = mixing
        self.n_draws = n_draws
        self.integration = integration
        self.random_features = random_features
        self.n_components = n_components
        self.l2 = l2

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        self._check_parameters()
        self.seed_ = seed_for(seed, "mixed-logit")
        self.signs_ = np.ones(len(self._random()))
        data = self._data(tasks)
        layout = data.layout if isinstance(data, Simulation) else data
        weights = self.l2 * len(tasks) * self._penalty_weights(layout)
        linear = fit_linear(layout, weights[: layout.n_features] / len(tasks))
        if isinstance(data, Simulation):
            found = self._fit_normal(data, linear, weights)
        else:
            found = self._fit_discrete(data, linear, weights)
        self._take(found, -float(self._loss(data, found)[0]))
        # A negative deviation equals a positive one with mirrored draws.
        self.signs_ = np.where(self.deviations_ < 0, -1.0, 1.0)
        self.deviations_ = np.abs(self.deviations_)

    def _fit_normal(self, data: Simulation, linear: Vector, weights: Vector) -> Vector:
        """Return the estimates, found with few draws first and from there with all."""
        deviation = data.layout.moments()[1]
        spread = 1 / (deviation[data.random] * np.sqrt(len(data.random)))
        found = np.append(linear, spread)
        if len(found) > _MATRIX_PARAMETERS:
            rough = data.layout.n_tasks / 4 * np.append(deviation, deviation[data.random]) ** 2
            objective = self._penalized(data, weights)
            return minimize(objective, found, rough + weights, accuracy=_ACCURACY, max_steps=_STEPS)
        accuracy = _ROUGH if len(found) > _MANY_PARAMETERS else _EXACT
        n_draws = data.draws.points.shape[2]
        stages = [(data, 1e-4)]
        if self.integration != "quadrature" and n_draws >= 8 * _COARSE:
            few = data.draws.fewer(n_draws // _COARSE)
            stages.insert(0, (Simulation(data.layout, data.random, few), 0.1))
        for stage, tolerance in stages:
            # The sign of a deviation has no meaning, but few draws can give a negative one.
            found[len(linear) :] = np.abs(found[len(linear) :])
            parts = self._split(found)
            scores = normal_scores(stages[0][0], *parts.values())[1]
            curvature = scores.T @ scores + np.diag(weights)
            objective = self._penalized(stage, weights)
            found = minimize(objective, found, curvature, tolerance=tolerance, accuracy=accuracy)
        return found

    def _fit_discrete(self, layout: TaskLayout, linear: Vector, weights: Vector) -> Vector:
        rng = np.random.default_rng(self.seed_)
        deviation = layout.moments()[1]
        noise = rng.normal(size=(self.n_components, len(linear))) / np.sqrt(len(linear))
        start = np.ravel(linear + 2 * noise / deviation)
        curvature = np.tile(
            layout.n_tasks / self.n_components / 4 * deviation**2, self.n_components
        )
        return minimize(
            self._penalized(layout, weights),
            start,
            curvature + weights,
            accuracy=_ACCURACY,
            max_steps=_STEPS,
        )

    def _loss(self, data: Any, parameters: Values) -> tuple[Any, Values]:
        parts = self._split(parameters)
        if not isinstance(data, Simulation):
            loss, gradient = discrete_loss(data, parts["coefficients_"], self._log_shares())
            return loss, gradient.ravel()
        if len(parameters) > _MATRIX_PARAMETERS:
            loss, *gradients = shared_normal_loss(data, *parts.values())
            return loss, np.concatenate(gradients)
        logs, scores = normal_scores(data, parts["coefficients_"], parts["deviations_"])
        return -logs.sum(), -scores.sum(axis=0)

    def _scores(self, data: Any, parameters: Vector) -> Vector:
        parts = self._split(parameters)
        if not isinstance(data, Simulation):
            return discrete_scores(data, parts["coefficients_"], self._log_shares())
        scores = np.empty((data.layout.n_tasks, len(parameters)))
        by_position = normal_scores(data, parts["coefficients_"], parts["deviations_"])[1]
        scores[data.layout.task_numbers] = by_position
        return scores

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        layout = TaskLayout(tasks)
        values: Values
        if self.mixing == "discrete":
            values = discrete_log_probabilities(layout, self.coefficients_, self._log_shares())
        else:
            # All tasks share one set of draws: predictions must not depend on other tasks.
            draws = self._draws(1)
            values = normal_log_probabilities(
                layout, self._random(), draws, self.coefficients_, self.deviations_
            )
        restored: NDArray[np.float64] = layout.restore(values)
        return restored

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> Simulation | TaskLayout:
        if self.mixing == "discrete" or not learning:
            return TaskLayout(tasks, chosen_first=learning)
        n_parameters = self.n_features_in_ + len(self._random())
        n_sets = len(tasks) if n_parameters <= _MATRIX_PARAMETERS else 1
        return Simulation.of(tasks, self._random(), self._draws(n_sets))

    def _log_shares(self) -> Vector:
        return np.full(self.n_components, -np.log(self.n_components))

    def _draws(self, n_tasks: int) -> Draws:
        draws = make_draws(self.integration, n_tasks, len(self._random()), self.n_draws, self.seed_)
        return draws.mirrored(self.signs_)

    def _random(self) -> NDArray[np.int64]:
        if self.random_features is None:
            return np.arange(self.n_features_in_)
        return np.asarray(self.random_features, dtype=np.int64)

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        if self.mixing == "discrete":
            return {"coefficients_": (self.n_components, self.n_features_in_), "deviations_": (0,)}
        return {"coefficients_": (self.n_features_in_,), "deviations_": (len(self._random()),)}

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:  # noqa: ARG002
        if self.mixing == "discrete":
            return np.tile(by_feature, self.n_components)
        return np.append(by_feature, by_feature[self._random()])

    def _names(self, features: Sequence[str]) -> list[str]:
        if self.mixing == "discrete":
            components = range(1, self.n_components + 1)
            return [f"{name} of component {number}" for number in components for name in features]
        return [*features, *(f"deviation of {features[number]}" for number in self._random())]

    def _state(self) -> Arrays:
        return {**super()._state(), "seed_": np.array(self.seed_), "signs_": self.signs_}

    def _check_parameters(self) -> None:
        random = self._random()
        if random.max() >= self.n_features_in_:
            allowed = f"numbers from 0 to {self.n_features_in_ - 1}"
            raise InvalidParameter(f"random_features must be {allowed}, got {random.tolist()}")
