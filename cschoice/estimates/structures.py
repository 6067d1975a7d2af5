"""Structures beside the terms of a utility: random coefficients, classes, errors in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.estimates.contexts import CONTEXT, context_structure
from cschoice.estimates.designs import Design, chooser_columns, term_columns, with_columns
from cschoice.estimates.nests import NESTED, nested
from cschoice.estimates.samples import CONSTANT
from cschoice.estimates.specification import Specification
from cschoice.estimates.structure import Structure
from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.optimization import Vector
from cschoice.registry import unknown_name

_DRAWS = 500  # of random coefficients, per person


def structure_of(model: str, made: Design, specification: Specification) -> Structure:
    """Return the structure of a model."""
    structure = _structure_of(model, made, specification)
    if specification.money is None:
        return structure
    return _in_money(structure, specification.money)


def _in_money(structure: Structure, money: str) -> Structure:
    """Return the structure in which coefficients are amounts of money."""
    if structure.learner not in ("mnl", "panel-mixed-logit"):
        raise InvalidParameter(f"money is for mnl and mixed-logit, not for {structure.learner}")
    if money not in structure.features:
        raise InvalidParameter("money: " + unknown_name("coefficient", money, structure.features))
    labels = {}
    for name in structure.features:
        if name != money:
            labels[name] = f"{name} in {money}"
            labels[f"deviation of {name}"] = f"deviation of {name} in {money}"
    parameters = {**structure.parameters, "money_feature": structure.features.index(money)}
    return replace(structure, parameters=parameters, labels={**structure.labels, **labels})


def _structure_of(model: str, made: Design, specification: Specification) -> Structure:
    if model in NESTED:
        return nested(model, made, specification)
    if model in ("mixed-logit", "panel-mixed-logit"):
        return _mixed(made, specification)
    if model == "latent-class":
        return _classes(made, specification)
    if model in ("l-mnl", "taste-net"):
        return _with_network(model, made, specification)
    if model in CONTEXT:
        return context_structure(model, made)
    if model == "random-regret":
        return _regret(made)
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


def _with_network(model: str, made: Design, specification: Specification) -> Structure:
    """Return the logit with a network of other features, which have no coefficients."""
    columns = term_columns(made.sample, specification.network)
    if not columns:
        raise InvalidParameter(f"{model} needs features for its network, such as --network income")
    seen = ", ".join(name for name in columns if name in made.names)
    if seen:
        raise InvalidParameter(f"network: {seen} cannot be in the utility, too: leave it out there")
    n_own = len(made.names)
    constants = [k for k, name in enumerate(made.names) if name.startswith(CONSTANT)]
    moved = constants
    if model == "taste-net":
        for name in specification.tastes:
            if name not in made.names:
                raise InvalidParameter("tastes: " + unknown_name("coefficient", name, made.names))
        moved = [made.names.index(name) for name in specification.tastes]
        moved = moved or [k for k in range(n_own) if k not in constants]
    elif made.sample.alternatives and not constants:
        raise InvalidParameter("l-mnl needs 'constants' in the utility: the network adds to them")
    return Structure(
        model,
        with_columns(made.tasks, np.column_stack([made.tasks.features, *columns.values()])),
        (*made.names, *columns),
        {
            "network_features": tuple(range(n_own, n_own + len(columns))),
            "moved_features": tuple(moved) or None,
        },
    )


def _regret(made: Design) -> Structure:
    """Return random regret; terms of a single alternative are added, not compared."""
    of_one = tuple(f":{name}" for name in made.sample.alternatives)
    linear = [
        place
        for place, name in enumerate(made.names)
        if name.startswith(CONSTANT) or (of_one and name.endswith(of_one))
    ]
    return Structure(
        "random-regret", made.tasks, made.names, {"linear_features": tuple(linear) or None}
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
