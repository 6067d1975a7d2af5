"""Nests by alternative or by a column, and alternatives divided between nests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.estimates.designs import Design, with_columns
from cschoice.estimates.samples import Sample
from cschoice.estimates.specification import Specification
from cschoice.estimates.structure import Structure
from cschoice.learners.logit.optimization import Vector
from cschoice.registry import unknown_name

NESTED = ("nl", "gnl", "cnl")
_NEST = "nest"  # the column with the number of each object's nest

Nests = Mapping[str, tuple[str, ...]]


def nested(model: str, made: Design, specification: Specification) -> Structure:
    """Return the structure of a model with nests: those given, else clusters of the objects."""
    parameters: dict[str, Any] = {}
    if specification.max_dissimilarity is not None:
        parameters["max_dissimilarity"] = specification.max_dissimilarity
    if model == "nl" and specification.nest_column:
        return _by_column(made, specification.nest_column, parameters)
    if model == "nl" and specification.nests:
        return _by_alternative(made, specification.nests, parameters)
    if model == "cnl":
        return _crossed(made, specification.nests, parameters)
    return Structure(model, made.tasks, made.names, parameters)


def _by_alternative(made: Design, nests: Nests, parameters: dict[str, Any]) -> Structure:
    """Return the nested logit whose nests are named sets of alternatives."""
    complete = _complete(made.sample, nests)
    numbers: dict[str, int] = {}
    for number, members in enumerate(complete.values()):
        for member in members:
            if member in numbers:
                raise InvalidParameter(f"'{member}' is in two nests: estimate cnl instead of nl")
            numbers[member] = number
    single = [name for name, members in complete.items() if len(members) < 2]
    column = _sum(made.sample, numbers)
    return _with_nests(made, column, list(complete), single, parameters)


def _by_column(made: Design, name: str, parameters: dict[str, Any]) -> Structure:
    """Return the nested logit whose nests are the values, or the categories, of a column."""
    sample = made.sample
    if name in sample.features:
        values = sample.column(sample.features.index(name))
        labels = [f"{name} = {value:g}" for value in np.unique(values)]
        column = np.unique(values, return_inverse=True)[1].astype(np.float64)
    else:
        places = [k for k, one in enumerate(sample.features) if one.startswith(f"{name}=")]
        if not places:
            known = dict.fromkeys(one.partition("=")[0] for one in sample.features)
            raise InvalidParameter("nests: " + unknown_name("column", name, known))
        labels = [f"other {name}", *(sample.features[k] for k in places)]
        column = np.sum([number * sample.column(k) for number, k in enumerate(places, 1)], axis=0)
    own = [k for k, one in enumerate(made.names) if one.partition("=")[0] != name]
    tasks = with_columns(made.tasks, made.tasks.features[:, own])
    kept = Design(tasks, tuple(made.names[k] for k in own), sample, made.notes)
    return _with_nests(kept, column, labels, [], parameters)


def _with_nests(
    made: Design, column: Vector, labels: list[str], single: list[str], parameters: dict[str, Any]
) -> Structure:
    """Return the nested logit with a column of numbers of nests."""
    wide = with_columns(made.tasks, np.column_stack([made.tasks.features, column]))
    present = [labels[number] for number in np.unique(column).astype(int)]
    numbers = np.unique(column).astype(int).tolist()
    return Structure(
        "nl",
        wide,
        (*made.names, _NEST),
        {"nest_feature": len(made.names), **parameters},
        {
            f"dissimilarity of nest {number}": f"dissimilarity of {name}"
            for number, name in zip(numbers, present, strict=True)
        },
        # That of a nest of one object has no influence.
        fixed={f"dissimilarity of {name}": 1.0 for name in single if name in present},
    )


def _crossed(made: Design, nests: Nests, parameters: dict[str, Any]) -> Structure:
    """Return the cross-nested logit whose alternatives may be in several nests."""
    if not nests:
        raise InvalidParameter("cnl needs nests, such as public=train,bus: --nest or nests")
    sample = made.sample
    complete = _complete(sample, nests)
    kinds = list(sample.alternatives)
    columns = [_sum(sample, {name: number for number, name in enumerate(kinds)})]
    for members in complete.values():
        columns.append(_sum(sample, dict.fromkeys(members, 1)))
    n_own, n_nests = len(made.names), len(complete)
    wide = with_columns(made.tasks, np.column_stack([made.tasks.features, *columns]))
    labels = {}
    for number, nest in enumerate(complete, 1):
        labels[f"dissimilarity of nest {number}"] = f"dissimilarity of {nest}"
        for kind, name in enumerate(kinds, 1):
            labels[f"share of kind {kind} in nest {number}"] = f"share of {name} in {nest}"
    return Structure(
        "cnl",
        wide,
        (*made.names, _NEST, *(f"in {name}" for name in complete)),
        {
            "kind_feature": n_own,
            "nest_features": tuple(range(n_own + 1, n_own + 1 + n_nests)),
            **parameters,
        },
        labels,
        fixed={f"dissimilarity of {name}": 1.0 for name in complete if len(complete[name]) < 2},
    )


def _complete(sample: Sample, nests: Nests) -> dict[str, tuple[str, ...]]:
    """Return the nests with one more for each alternative that is in none."""
    if not sample.alternatives:
        raise InvalidParameter("nests need to know the alternatives: import with --constants")
    for nest, members in nests.items():
        for member in members:
            if member not in sample.alternatives:
                known = sample.alternatives
                raise InvalidParameter(
                    f"nest '{nest}': {unknown_name('alternative', member, known)}"
                )
    inside = {member for members in nests.values() for member in members}
    alone = {name: (name,) for name in sample.alternatives if name not in inside}
    return dict(nests) | alone


def _sum(sample: Sample, numbers: Mapping[str, int]) -> Vector:
    """Return the number of each entry's alternative; zero for those without one."""
    column = np.zeros(sample.tasks.n_entries)
    for name, number in numbers.items():
        column += number * sample.column(sample.alternatives[name])
    return column
