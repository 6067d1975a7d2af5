"""Models with context as estimates: parameters that add nothing are left at zero."""

from __future__ import annotations

import numpy as np

from cschoice.estimates.designs import Design
from cschoice.estimates.structure import Structure
from cschoice.learners import make_learner
from cschoice.learners.logit.context_logit import ContextLogit
from cschoice.learners.logit.inference import redundant

CONTEXT = ("lcl", "cdm")


def context_structure(model: str, made: Design) -> Structure:
    """Return the structure of a model with context, without the parameters that add nothing.

    The rest are identified, and as many as the model has degrees of freedom: alternatives or sets
    of one size determine sums of others, so that some effects follow from those before them.
    """
    learner = make_learner(model)
    assert isinstance(learner, ContextLogit)
    learner._accept(made.tasks)
    names = learner.parameter_names(made.names)
    data = learner._data(made.tasks)
    at_zero = np.zeros(len(names))
    lost = redundant(learner._hessian(data, at_zero), learner.sizes(data))
    fixed = {name: 0.0 for name, one in zip(names, lost, strict=True) if one}
    return Structure(model, made.tasks, made.names, fixed=fixed, from_zero=True)
