"""The way to intervals that fits a model: standard errors, folds, or fitting again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from cschoice.effects.models import Model
from cschoice.effects.situations import Situations
from cschoice.effects.standard_errors import DeltaMethod, KrinskyRobb
from cschoice.effects.uncertainty import (
    BOOTSTRAP,
    DELTA,
    FOLDS,
    KRINSKY_ROBB,
    NONE,
    WAYS,
    Bootstrap,
    FoldModels,
    NoInterval,
    Way,
)
from cschoice.errors import InvalidParameter
from cschoice.registry import unknown_name
from cschoice.seeding import seed_for


def way_of(
    models: Sequence[Model],
    situations: Situations,
    name: str | None = None,
    *,
    errors: str = "robust",
    level: float = 0.95,
    draws: int | None = None,
    seed: int = 0,
) -> Way:
    """Return a way to intervals by its name, or the one that fits.

    Estimates have standard errors: the delta method, or Krinsky and Robb's draws. Several models
    are those of folds. One network alone has no interval, unless it is fitted again to the tasks of
    these situations, drawn with replacement (``bootstrap``).
    """
    model = models[0]
    estimated = model.estimates is not None
    if name is None:
        name = FOLDS if len(models) > 1 else DELTA if estimated else NONE
    if name not in WAYS:
        raise InvalidParameter(unknown_name("way to intervals", name, WAYS))
    if not 0 < level < 1:
        raise InvalidParameter(f"the level of intervals must lie between 0 and 1, got {level:g}")
    if len(models) > 1 and name != FOLDS:
        raise InvalidParameter(f"several models give intervals by folds, not '{name}'")
    if name == FOLDS:
        if len(models) < 2:
            raise InvalidParameter("intervals by folds need the models of several: name them")
        return FoldModels(tuple(models), level)
    if name == NONE:
        return NoInterval(model, level)
    if name == BOOTSTRAP and not estimated:
        refitted = partial(_refitted, model, situations, seed)
        return Bootstrap(model, refitted, draws or 20, level)
    if not estimated:
        raise InvalidParameter(
            f"{name} needs the standard errors of estimates; a fitted {model.name} has intervals "
            f"by {FOLDS} (several models) or {BOOTSTRAP}"
        )
    if name == KRINSKY_ROBB:
        return KrinskyRobb(model, errors, level, draws or 500, seed)
    if name == BOOTSTRAP:
        assert model.estimates is not None
        model.estimates.bootstrap(draws or 200)
        return DeltaMethod(model, BOOTSTRAP, level)
    return DeltaMethod(model, errors, level)


def _refitted(model: Model, situations: Situations, seed: int, number: int) -> Model:
    """Return the model fitted to tasks, or all tasks of people, drawn with replacement."""
    from sklearn.base import clone

    if situations.chosen is None:
        raise InvalidParameter("bootstrap fits the model again: the data must say what was chosen")
    rng = np.random.default_rng(seed_for(seed, "bootstrap", number=number))
    if situations.groups is None:
        drawn = rng.integers(0, len(situations), len(situations))
        tasks = situations[drawn].tasks()
    else:
        _, codes = np.unique(situations.groups, return_inverse=True)
        members = np.split(np.argsort(codes, kind="stable"), np.cumsum(np.bincount(codes))[:-1])
        people = rng.integers(0, len(members), len(members))
        drawn = np.concatenate([members[person] for person in people])
        # Someone drawn twice is two people.
        groups = np.repeat(np.arange(len(people)), [len(members[person]) for person in people])
        tasks = replace(situations[drawn], groups=groups).tasks()
    learner = clone(model.learner).fit(tasks, seed=seed_for(seed, "fit", number=number))
    return replace(model, learner=learner)
