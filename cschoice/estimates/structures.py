"""Structures beside the terms of a utility: nests by alternative, random coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.estimates.samples import CONSTANT, Sample
from cschoice.estimates.specification import (
    NEST,
    Design,
    Specification,
    chooser_columns,
    with_columns,
)
from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.optimization import Bounds, Vector
from cschoice.registry import unknown_name
from cschoice.tasks import ChoiceTasks

_DRAWS = 500  # of random coefficients, per person


@dataclass(frozen=True)
class Structure:
    """A learner with its parameters, and the tasks in the form that it takes."""

    learner: str
    tasks: ChoiceTasks
    features: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)  # a parameter's name -> for people
    fixed: Mapping[str, float] = field(default_factory=dict)  # parameters that are not free

    def renamed(self, names: Sequence[str]) -> list[str]:
        """Return the parameters' names for people."""
        return [self.labels.get(name, name) for name in names]

    def limited(self, names: Sequence[str], own: Bounds) -> Bounds:
        """Return the bounds of the model, with parameters fixed that are not free."""
        low, high = own[0].copy(), own[1].copy()
        for name, value in self.fixed.items():
            low[list(names).index(name)] = high[list(names).index(name)] = value
        return low, high


def structure_of(model: str, made: Design, specification: Specification) -> Structure:
    """Return the structure of a model."""
    if model == "nl" and specification.nests:
        return _nested(made, specification.nests)
    if model in ("mixed-logit", "panel-mixed-logit"):
        return _mixed(made, specification)
    if model == "latent-class":
        return _classes(made, specification)
    return Structure(model, made.tasks, made.names)


def _mixed(made: Design, specification: Specification) -> Structure:
    """Return the mixed logit whose coefficients belong to people, or to tasks of nobody."""
    names = list(made.names)
    given = dict(specification.random)
    if not given:
        given = {name: "normal" for name in names if not name.startswith(CONSTANT)}
    columns, zeros = _error_components(made, specification.errors)
    for name in given:
        if name not in names:
            raise InvalidParameter("random: " + unknown_name("coefficient", name, names))
        if given[name] not in DISTRIBUTIONS:
            raise InvalidParameter(unknown_name("distribution", given[name], DISTRIBUTIONS))
    given |= dict.fromkeys(zeros, "normal")
    tasks = made.tasks
    if columns:
        tasks = with_columns(tasks, np.column_stack([tasks.features, *columns]))
        names += zeros
    return Structure(
        "panel-mixed-logit",
        tasks,
        tuple(names),
        {
            "random_features": tuple(names.index(name) for name in given),
            "distributions": ",".join(given.values()),
            "correlated": specification.correlated,
            "n_draws": specification.draws or _DRAWS,
            "integration": specification.integration or "sobol",
        },
        fixed=dict.fromkeys(zeros, 0.0),
    )


def _classes(made: Design, specification: Specification) -> Structure:
    """Return the latent class logit whose classes depend on features of the chooser."""
    columns = chooser_columns(made.sample, specification.membership)
    tasks, n_own = made.tasks, len(made.names)
    if columns:
        tasks = with_columns(tasks, np.column_stack([tasks.features, *columns.values()]))
    (n_classes,) = specification.class_counts
    return Structure(
        "latent-class",
        tasks,
        (*made.names, *columns),
        {
            "n_classes": n_classes,
            "membership_features": tuple(range(n_own, n_own + len(columns))) or None,
        },
    )


def _error_components(
    made: Design, errors: Mapping[str, tuple[str, ...]]
) -> tuple[list[Vector], list[str]]:
    """Return for each set of alternatives an indicator, and its name."""
    columns, names = [], []
    for name, members in errors.items():
        for member in members:
            if member not in made.sample.alternatives:
                known = made.sample.alternatives
                raise InvalidParameter(f"errors: {unknown_name('alternative', member, known)}")
        columns.append(
            np.sum([made.sample.column(made.sample.alternatives[one]) for one in members], axis=0)
        )
        names.append(f"error of {name}")
    return columns, names


def _nested(made: Design, nests: Mapping[str, tuple[str, ...]]) -> Structure:
    """Return the nested logit whose nests are named sets of alternatives."""
    numbers = _nest_numbers(made.sample, nests)
    names = [*nests, *(name for name in numbers if not _inside(name, nests))]
    table = made.sample.tasks
    column = np.zeros(table.n_entries)
    for alternative, number in numbers.items():
        column += number * made.sample.column(made.sample.alternatives[alternative])
    tasks = made.tasks
    wide = with_columns(tasks, np.column_stack([tasks.features, column]))
    present = np.unique(column).astype(int).tolist()
    labels = {
        f"dissimilarity of nest {number}": f"dissimilarity of {names[number]}" for number in present
    }
    alone = [
        name
        for number, name in enumerate(names)
        if number in present and len(nests.get(name, (name,))) < 2
    ]
    return Structure(
        "nl",
        wide,
        (*made.names, NEST),
        {"nest_feature": len(made.names)},
        labels,
        fixed={f"dissimilarity of {name}": 1.0 for name in alone},  # without influence
    )


def _inside(alternative: str, nests: Mapping[str, tuple[str, ...]]) -> bool:
    return any(alternative in members for members in nests.values())


def _nest_numbers(sample: Sample, nests: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Return the number of each alternative's nest; one that is in none has its own."""
    if not sample.alternatives:
        raise InvalidParameter("nests need to know the alternatives: import with --constants")
    found: dict[str, int] = {}
    for number, (nest, members) in enumerate(nests.items()):
        for member in members:
            if member not in sample.alternatives:
                raise InvalidParameter(
                    f"nest '{nest}': " + unknown_name("alternative", member, sample.alternatives)
                )
            if member in found:
                raise InvalidParameter(f"'{member}' is in two nests: a cross-nested logit can that")
            found[member] = number
    others = [name for name in sample.alternatives if name not in found]
    return found | {name: len(nests) + k for k, name in enumerate(others)}
