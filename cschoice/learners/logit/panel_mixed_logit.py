"""The panel mixed logit: a person draws coefficients once, for all tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.learners.learner import Arrays
from cschoice.learners.logit.amounts import amounts_of, check_money, coefficients_of
from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.inference import Matrix
from cschoice.learners.logit.integration import uniform_points
from cschoice.learners.logit.layout import TaskLayout, Values
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.mixed_likelihood import discrete_log_probabilities
from cschoice.learners.logit.multinomial import fit_linear
from cschoice.learners.logit.optimization import Vector, minimize
from cschoice.learners.logit.panel import Panel, people_of
from cschoice.learners.logit.panel_likelihood import (
    PanelSimulation,
    Tastes,
    people_hessian,
    people_terms,
    posteriors,
)
from cschoice.seeding import seed_for
from cschoice.space import (
    Dimension,
    Flag,
    Limit,
    Number,
    OneOf,
    Optional,
    Real,
    Several,
    Whole,
    Words,
)
from cschoice.tasks import ChoiceTasks, Kind

_COARSE = 8  # one draw of so many gives the start of the fit with all draws


class PanelMixedLogit(LogitLearner):
    """A logit model whose coefficients differ between people, not between their choices.

    ``random_features`` (default: all) have random coefficients. ``distributions`` are separated by
    commas, one for all or one for each: normal, lognormal, negative-lognormal, censored (negative
    values are zero), negative-censored, triangular and uniform around the mean. Of log-normal and
    censored coefficients, mean and deviation are those of the normal variable behind them.
    ``correlated`` normal variables have a covariance whose Cholesky factor is estimated. People are
    the groups of the tasks; without groups each task is another person's.

    With ``known_people`` those whose choices were learned from are predicted by their own mean
    coefficients given what they chose, ``individual_``; everyone else by the distribution.

    With ``money_feature`` the other coefficients are amounts of that feature, see ``amounts``: then
    willingness to pay is distributed as said, whatever money is worth to a person.
    """

    name = "panel-mixed-logit"
    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})
    limits: ClassVar[Mapping[str, Limit]] = {
        "random_features": Optional(Several(Whole(0))),
        "distributions": Words(tuple(DISTRIBUTIONS)),
        "correlated": Flag(),
        "n_draws": Whole(1, 100_000),
        "integration": OneOf(("sobol", "halton", "mlhs")),
        "known_people": Flag(),
        "money_feature": Optional(Whole(0)),
        "l2": Number(0),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {"l2": Real(1e-6, 10.0)}

    coefficients_: Vector
    spreads_: Vector  # deviations, or the lower triangle of the Cholesky factor by rows
    seed_: int
    signs_: Vector
    people_: NDArray[np.int64]
    individual_: Vector  # (people, features): posterior mean coefficients

    def __init__(
        self,
        random_features: Sequence[int] | None = None,
        distributions: str = "normal",
        correlated: bool = False,
        n_draws: int = 128,
        integration: str = "sobol",
        known_people: bool = False,
        l2: float = 1e-5,
        money_feature: int | None = None,
    ) -> None:
        self.random_features = random_features
        self.distributions = distributions
        self.correlated = correlated
        self.n_draws = n_draws
        self.integration = integration
        self.known_people = known_people
        self.money_feature = money_feature
        self.l2 = l2

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        self._check_random()
        check_money(self.money_feature, tasks)
        self.seed_ = seed_for(seed, "panel-mixed-logit")
        self.signs_ = np.ones(len(self._random()))
        data = self._data(tasks)
        found = self._start(data)
        for stage, tolerance in self._stages(data):
            scores = self._scores(data, found)
            curvature = scores.T @ scores + np.diag(self.penalty(data))
            objective = self._penalized(stage, self.penalty(data))
            found = minimize(objective, found, curvature, tolerance=tolerance)
        self._take(found, -float(self._loss(data, found)[0]))
        self.people_, self.individual_ = np.empty(0, dtype=np.int64), np.empty((0, 0))
        if self.known_people and tasks.groups is not None:
            self.people_, self.individual_ = self.individual_coefficients(tasks)

    def _start(self, data: PanelSimulation) -> Vector:
        """Return the coefficients of a multinomial logit, with moderate deviations."""
        weights = self.l2 * self._penalty_weights(data.layout)[: self.n_features_in_]
        means = amounts_of(fit_linear(data.layout, weights), self.money_feature)
        unit = data.layout.moments()[1]
        if self.money_feature is not None:  # amounts are larger where money is worth little
            price = abs(means[self.money_feature])
            unit = np.where(np.arange(len(unit)) == self.money_feature, unit, unit * price)
        spreads = np.zeros((len(self._random()),) * 2)
        for k, (feature, name) in enumerate(
            zip(self._random(), self._names_of_kinds(), strict=True)
        ):
            size = max(abs(means[feature]), 0.1 / unit[feature])
            spreads[k, k] = 0.5 / (unit[feature] * np.sqrt(len(spreads)))
            if name.endswith("lognormal"):
                means[feature], spreads[k, k] = np.log(size), 0.5
            elif sign := DISTRIBUTIONS[name].sign:
                means[feature] = sign * size
        return np.append(means, self._packed(spreads))

    def _stages(self, data: PanelSimulation) -> list[tuple[PanelSimulation, float]]:
        """Return the data with few draws, then with all."""
        if self.n_draws < 8 * _COARSE:
            return [(data, 1e-4)]
        draws = data.tastes.draws[:, :, : self.n_draws // _COARSE]
        few = PanelSimulation(data.panel, replace(data.tastes, draws=draws))
        return [(few, 0.1), (data, 1e-4)]

    def _take(self, parameters: Vector, log_likelihood: float) -> None:
        """Store the estimates with positive deviations: mirrored draws make up for the signs."""
        parts = self._split(parameters)
        spreads = self._matrix(parts["spreads_"])
        signs = np.where(np.diag(spreads) < 0, -1.0, 1.0)
        parts["spreads_"] = self._packed(spreads * signs)
        super()._take(np.concatenate(list(parts.values())), log_likelihood)
        self.signs_ = self.signs_ * signs

    def _loss(self, data: PanelSimulation, parameters: Values) -> tuple[Any, Values]:
        logs, scores = self._terms(data, parameters)
        return -logs.sum(), -scores.sum(axis=0)

    def _scores(self, data: PanelSimulation, parameters: Vector) -> Vector:
        """Return the gradient of each person's log-likelihood."""
        scores: Vector = self._terms(data, parameters)[1]
        return scores

    def _terms(self, data: PanelSimulation, parameters: Values) -> tuple[Values, Values]:
        parts = self._split(parameters)
        spreads = self._matrix(parts["spreads_"])
        logs, by_mean, by_spread = people_terms(data, parts["coefficients_"], spreads)
        return logs, np.concatenate([by_mean, by_spread[(slice(None), *self._places())]], axis=1)

    def _hessian(self, data: PanelSimulation, parameters: Vector) -> Matrix:
        if self.money_feature is not None:
            return super()._hessian(data, parameters)
        parts = self._split(parameters)
        random = self._random()
        named = [(feature, 0) for feature in range(self.n_features_in_)]
        rows, columns = self._places()
        named += [(int(random[k]), int(n) + 1) for k, n in zip(rows, columns, strict=True)]
        spreads = self._matrix(parts["spreads_"])
        return -people_hessian(data, parts["coefficients_"], spreads, named)

    def units(self, tasks: ChoiceTasks) -> NDArray[np.int64] | None:
        """Return the number of each task's person."""
        return None if tasks.groups is None else people_of(tasks)

    def individual_coefficients(self, tasks: ChoiceTasks) -> tuple[NDArray[np.int64], Vector]:
        """Return people, by their groups, and their mean coefficients given their choices."""
        data = self._data(tasks)
        found = np.tile(self.coefficients_, (data.panel.n_people, 1))
        spreads = self._matrix(self.spreads_)
        for people, values, shares in posteriors(data, self.coefficients_, spreads):
            found[np.ix_(people, data.tastes.random)] = (values * shares[:, None]).sum(axis=2)
        if tasks.groups is None:
            return np.arange(len(tasks)), found
        groups, first = np.unique(tasks.groups, return_index=True)
        return groups, found[people_of(tasks)[first]]

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        layout = TaskLayout(tasks)
        tastes = Tastes(self._random(), self._names_of_kinds(), self._draws(1))
        arguments = self.coefficients_[tastes.random][:, None]
        arguments = arguments + self._matrix(self.spreads_) @ tastes.draws
        coefficients = np.tile(self.coefficients_, (self.n_draws, 1))
        coefficients[:, tastes.random] = tastes.values(arguments)[0][0].T
        coefficients = coefficients_of(coefficients, self.money_feature)
        log_weights = np.full(self.n_draws, -np.log(self.n_draws))
        values = discrete_log_probabilities(layout, coefficients, log_weights)
        utilities: NDArray[np.float64] = layout.restore(values)
        if len(self.people_) and tasks.groups is not None:
            place = np.minimum(np.searchsorted(self.people_, tasks.groups), len(self.people_) - 1)
            known = self.people_[place] == tasks.groups
            entries = np.flatnonzero(tasks.spread(known))
            own = self.individual_[tasks.spread(place)[entries]]
            features = tasks.table[tasks.items[entries]]
            utilities[entries] = np.einsum("ij,ij->i", features, own)
        return utilities

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> PanelSimulation:  # noqa: ARG002
        panel = Panel.of(tasks, self.n_draws)
        draws = self._draws(panel.n_people)
        tastes = Tastes(self._random(), self._names_of_kinds(), draws, self.money_feature)
        return PanelSimulation(panel, tastes)

    def _draws(self, n_people: int) -> NDArray[np.float64]:
        """Return the draws of people, (people, random, draws)."""
        random = self._random()
        points = uniform_points(self.integration, n_people, len(random), self.n_draws, self.seed_)
        draws = np.empty((n_people, len(random), self.n_draws))
        for k, name in enumerate(self._names_of_kinds()):
            draws[:, k] = self.signs_[k] * DISTRIBUTIONS[name].draw(points[:, :, k])
        return draws

    def _random(self) -> NDArray[np.int64]:
        if self.random_features is None:
            return np.arange(self.n_features_in_)
        return np.asarray(self.random_features, dtype=np.int64)

    def _names_of_kinds(self) -> tuple[str, ...]:
        names = tuple(name.strip() for name in self.distributions.split(","))
        return names * len(self._random()) if len(names) == 1 else names

    def _places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and columns of the estimated part of the Cholesky factor."""
        n = len(self._random())
        rows, columns = np.tril_indices(n) if self.correlated else (np.arange(n), np.arange(n))
        return rows.astype(np.int64), columns.astype(np.int64)

    def _matrix(self, packed: Values) -> Values:
        matrix = np.zeros((len(self._random()),) * 2, dtype=packed.dtype)
        matrix[self._places()] = packed
        return matrix

    def _packed(self, matrix: Values) -> Values:
        packed: Values = matrix[self._places()]
        return packed

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        return {"coefficients_": (self.n_features_in_,), "spreads_": (len(self._places()[0]),)}

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:  # noqa: ARG002
        return np.append(by_feature, by_feature[self._random()[self._places()[0]]])

    def _names(self, features: Sequence[str]) -> list[str]:
        names = [features[number] for number in self._random()]
        spreads = [
            f"deviation of {names[row]}"
            if not self.correlated
            else f"cholesky of {names[row]}, {names[column]}"
            for row, column in zip(*self._places(), strict=True)
        ]
        return [*features, *spreads]

    def _state(self) -> Arrays:
        return {
            **super()._state(),
            "seed_": np.array(self.seed_),
            "signs_": self.signs_,
            "people_": self.people_,
            "individual_": self.individual_,
        }

    def _check_random(self) -> None:
        random, names = self._random(), self._names_of_kinds()
        if random.max() >= self.n_features_in_:
            allowed = f"numbers from 0 to {self.n_features_in_ - 1}"
            raise InvalidParameter(f"random_features must be {allowed}, got {random.tolist()}")
        if len(names) != len(random):
            raise InvalidParameter(
                f"distributions must be one, or one for each of {len(random)} random features, "
                f"got {len(names)}"
            )
        if self.known_people and self.money_feature is not None:
            raise InvalidParameter("known_people are predicted by coefficients, not by amounts")
        bounded = [name for name in names if not DISTRIBUTIONS[name].normal]
        if self.correlated and bounded:
            raise InvalidParameter(f"correlated coefficients must be normal, got {bounded[0]}")
