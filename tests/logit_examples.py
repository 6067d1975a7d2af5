"""Made-up choices for the logit models, and the models that are tested on them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from cschoice.learners import make_learner
from cschoice.tasks import ChoiceTasks, Kind

MODELS = {
    "mnl": ("mnl", {}),
    "lcl": ("lcl", {}),
    "lcl-rank": ("lcl", {"rank": 2, "n_starts": 2}),
    "cdm": ("cdm", {}),
    "cdm-rank": ("cdm", {"rank": 2, "n_starts": 2}),
    "mnl-money": ("mnl", {"money_feature": 0}),
    "nl": ("nl", {"n_nests": 3}),
    "nl-given": ("nl", {"nest_feature": 3}),
    "nl-centre": ("nl", {"n_nests": 3, "nest_utility": "centre"}),
    "gnl": ("gnl", {"n_nests": 3}),
    "gnl-one": ("gnl", {"n_nests": 1}),
    "nl-unbounded": ("nl", {"nest_feature": 3, "max_dissimilarity": 5.0}),
    "cnl": ("cnl", {"n_nests": 2, "n_kinds": 5}),
    "cnl-given": ("cnl", {"n_nests": 2, "kind_feature": 3}),
    "regret": ("random-regret", {}),
    "regret-some": ("random-regret", {"linear_features": (1, 3)}),
    "mixed-sobol": ("mixed-logit", {"n_draws": 64}),
    "mixed-halton": ("mixed-logit", {"n_draws": 20, "integration": "halton"}),
    "mixed-some": ("mixed-logit", {"n_draws": 16, "random_features": (2, 0)}),
    "mixed-exact": ("mixed-logit", {"integration": "quadrature", "random_features": (1,)}),
    "mixed-discrete": ("mixed-logit", {"mixing": "discrete", "n_components": 3}),
}


def ragged(n_tasks=150, seed=0, kind=Kind.SINGLETON, sizes=(1, 2, 3, 7), shared=False):
    """Choices by a linear utility with noise; the last feature is a small whole number."""
    rng = np.random.default_rng(seed)
    offsets = np.append(0, np.cumsum(rng.choice(sizes, n_tasks)))
    n_entries = offsets[-1]
    n_items = 40 if shared else n_entries
    table = rng.normal([0, 5, -1, 0], [1, 2, 0.5, 1], size=(n_items, 4)).astype(np.float32)
    table[:, 3] = rng.integers(0, 3, n_items)
    items = rng.integers(0, n_items, n_entries) if shared else rng.permutation(n_entries)
    values = table[items] @ [1.0, -0.5, 1.5, 0.2] + rng.gumbel(size=n_entries)
    chosen = np.zeros(n_entries, dtype=bool)
    for start, stop in pairwise(offsets):
        chosen[start + np.argmax(values[start:stop])] = True
    if kind is Kind.SUBSET:
        chosen |= values > -2
    return ChoiceTasks(table, items, offsets, chosen, kind)


def fitted(model, tasks, **parameters):
    name, given = MODELS[model]
    return make_learner(name, **{**given, **parameters}).fit(tasks, seed=1)


def differences(function, at, step=1e-6):
    """Return the gradient of a function by central differences."""
    steps = step * np.eye(len(at))
    return np.array([(function(at + s) - function(at - s)) / (2 * step) for s in steps])
