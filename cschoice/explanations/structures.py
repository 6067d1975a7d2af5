"""The part of a model that is its context, shown as it is: FETA's U₁, the matrix A of the LCL.

FETA's U₁(x_j, x_k) is the effect v_j({k}), see ``halo``: the mean over pairs of the data's sets is
shown by name. A_ab is how much one unit more of feature b, in the mean of the set, adds to the
coefficient of feature a.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from cschoice.explanations.halo import first_order
from cschoice.explanations.objects import Objects
from cschoice.explanations.sets import Values
from cschoice.learners.ensemble import MeanEnsemble
from cschoice.learners.learner import Learner
from cschoice.tasks import ChoiceTasks

_PAIRWISE = ("feta", "feta-linear", "cdm")  # whose v_j({k}) is a part of the model
_NORMAL = 1.959964  # of a 95 % interval


@dataclass(frozen=True)
class Structure:
    """A matrix of the model; errors are NaN where the model has none."""

    name: str
    meaning: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Values
    errors: Values

    @property
    def clear(self) -> Any:
        """Whether the interval leaves out zero."""
        return np.abs(self.values) > _NORMAL * self.errors


def structure(
    learner: Learner, tasks: ChoiceTasks, some: ChoiceTasks, objects: Objects
) -> Structure | None:
    """Return the matrix of a model that has one; ``some`` are the tasks that ``objects`` name."""
    name = learner.learner if isinstance(learner, MeanEnsemble) else learner.name
    if name not in _PAIRWISE:
        has_matrix = getattr(learner, "context_", None) is not None
        return _of_lcl(learner, tasks) if has_matrix else None
    values = first_order(learner, some, objects)
    return Structure(
        "U₁" if name.startswith("feta") else "U",
        "what the object in the row gains, in utility, from the one in the column beside it",
        objects.names,
        objects.names,
        values,
        np.full(values.shape, np.nan),
    )


def _of_lcl(learner: Any, tasks: ChoiceTasks) -> Structure:
    names = learner.feature_names
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parameters without an error are shown without one
        errors = learner.standard_errors(tasks)["context_"]
    rows = [*names, "intercept"][: len(learner.context_)]
    return Structure(
        "A",
        "what one unit more of the feature in the column, in the mean of the set, adds to the "
        "coefficient of the feature in the row",
        tuple(rows),
        tuple(names),
        learner.context_,
        errors,
    )
