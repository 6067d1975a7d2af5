"""Models whose choices are asked for: fitted learners, and estimates with their utility."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from cschoice.effects.situations import Situations
from cschoice.errors import InvalidParameter
from cschoice.estimates.application import as_seen
from cschoice.estimates.estimates import Estimates
from cschoice.evaluation.decisions import choose, probabilities
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.learner import Learner
from cschoice.learners.logit.optimization import Vector
from cschoice.learners.prediction import encoding_of
from cschoice.models.predictor import Predictor
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.frames.encoding import Encoding

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted learner; or that of estimates, which sees tasks through their specification."""

    name: str
    learner: Learner
    estimates: Estimates | None = None
    # The same situations are asked about again and again, of models that see them alike.
    views: WeakKeyDictionary[Situations, ChoiceTasks] = field(default_factory=WeakKeyDictionary)

    @property
    def encoding(self) -> Encoding | None:
        """Return how tables become tasks of the model; None: as the dataset was imported."""
        return None if self.estimates is not None else encoding_of(self.learner)

    @property
    def probabilistic(self) -> bool:
        """Tell whether the model gives probabilities."""
        return self.learner.probabilistic

    def seen(self, situations: Situations) -> ChoiceTasks:
        """Return situations as the tasks that the learner takes."""
        if situations not in self.views:
            tasks = situations.tasks()
            seen = tasks if self.estimates is None else as_seen(self.estimates, tasks)
            self.views[situations] = seen
        return self.views[situations]

    def chances(self, situations: Situations) -> Floats:
        """Return the chance of each object: to be chosen, or of subsets to be included.

        Of a model without probabilities, 1 for the objects that it would choose and 0 for others.
        """
        tasks = self.seen(situations)
        utilities = self.learner.precise_utilities(tasks)
        if self.probabilistic:
            return probabilities(tasks, utilities)
        return choose(tasks, utilities, self.learner.preparation_.rule).astype(np.float64)

    def per_unit(self, situations: Situations, column: str) -> Floats | None:
        """Return how much the features of each object change with a column, by one unit of it.

        None where a term of the utility is not linear in the column.
        """
        one, two, three = (
            self.seen(situations.with_column(column, np.full(situations.n_objects, value))).features
            for value in (1.0, 2.0, 3.0)
        )
        first, second = (np.subtract(b, a, dtype=np.float64) for a, b in ((one, two), (two, three)))
        return first if np.allclose(first, second, rtol=1e-5, atol=1e-7) else None

    def with_parameters(self, parameters: Vector) -> Self:
        """Return the estimates' model at other parameters."""
        assert self.estimates is not None
        learner = copy.copy(self.estimates.learner)
        learner._take(parameters, learner.log_likelihood_)
        return replace(self, learner=learner)


def models_of(given: Any) -> list[Model]:
    """Return the models behind a learner, estimates, the folder of a model, or several of these.

    A folder that holds models of folds, fold-0/model, …, gives all of them.
    """
    if isinstance(given, Model):
        return [given]
    if isinstance(given, Estimates):
        return [Model(given.model, given.learner, given)]
    if isinstance(given, Learner):
        return [Model(_name(given), given)]
    if isinstance(given, Predictor):
        return models_of(given.learner)
    if isinstance(given, str | Path):
        return models_of([Predictor.load(folder) for folder in _folders(Path(given))])
    if isinstance(given, Sequence):
        found = [model for one in given for model in models_of(one)]
        return _alike(found)
    raise InvalidParameter(f"a model is a fitted learner, estimates or a folder, got {given!r}")


def _name(learner: Learner) -> str:
    return f"mean of {learner.learner}" if isinstance(learner, MeanEnsemble) else learner.name


def _folders(folder: Path) -> Iterator[Path]:
    """Yield the folder, or those of the models of folds in it."""
    of_folds = sorted(folder.glob("fold-*/model"))
    yield from of_folds or [folder]


def _alike(models: list[Model]) -> list[Model]:
    """Refuse models that do not read the same columns: they are no folds of one study."""
    if not models:
        raise InvalidParameter("give at least one model")
    first = models[0]
    for other in models[1:]:
        if (other.name, other.encoding) != (first.name, first.encoding):
            raise InvalidParameter(
                "several models must be those of folds: the same learner on the same features; "
                f"got {first.name} and {other.name}"
            )
    return models
