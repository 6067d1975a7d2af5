"""Obstacles to estimates, each in one line that names it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cschoice.errors import NotEstimable
from cschoice.estimates.designs import Design
from cschoice.estimates.estimates import AT_BOUND, FIXED, RUNS_AWAY, UNIDENTIFIED, Estimates
from cschoice.estimates.optimum import Optimum
from cschoice.estimates.samples import CONSTANT, Sample
from cschoice.estimates.structure import Structure
from cschoice.learners.logit.distributions import DISTRIBUTIONS
from cschoice.learners.logit.inference import redundant
from cschoice.learners.logit.latent_class import LatentClassLogit
from cschoice.learners.logit.layout import TaskLayout
from cschoice.learners.logit.multinomial import loss_terms
from cschoice.learners.logit.panel import people_of
from cschoice.learners.logit.panel_mixed_logit import PanelMixedLogit
from cschoice.tasks import ChoiceTasks, Kind

_LARGE = 15.0  # a coefficient times the deviation of its feature: odds of a million
# Their utilities are linear in the columns of the specification, and their search is not Newton's.
_LINEAR = ("nl", "gnl", "cnl", "panel-mixed-logit", "latent-class")
_DRAWS = {"sobol": "scrambled Sobol", "halton": "Halton", "mlhs": "MLHS"}
_CHECKED_VALUES = 20_000_000  # differences of features in the linear program


def check_choices(made: Design) -> None:
    """Refuse constants of alternatives that nobody chose."""
    has = {name for name in made.sample.alternatives if f"{CONSTANT}{name}" in made.names}
    for name in never_chosen(made.sample):
        if name in has:
            raise NotEstimable(
                f"alternative '{name}' is never chosen: its constant would run to minus infinity; "
                "leave the alternative out of the table, or its constant out of the utility"
            )
        if len(has) == len(made.sample.alternatives) - 1:
            raise NotEstimable(
                f"alternative '{name}' is never chosen: as the reference it would make the other "
                "constants run to infinity; leave it out of the table, or a constant out"
            )


def without_collinear(made: Design, structure: Structure) -> ChoiceTasks:
    """Return the tasks to start from: columns that add nothing to those before them are zero.

    A search goes astray where the likelihood is flat. Of a linear utility such columns are not
    needed to find the optimum; that no coefficient of them is identified, its curvature tells.
    """
    if structure.learner not in _LINEAR or made.tasks.kind is Kind.SUBSET:
        return structure.tasks
    own = np.array([k for k, name in enumerate(structure.features) if name in made.names])
    table = structure.tasks.table
    layout = TaskLayout(structure.tasks.with_arrays(table=table[:, own], encoding=None))
    hessian = loss_terms(layout, layout.blocks, np.zeros(layout.n_features))[2]
    mean, deviation = layout.moments()
    lost = own[redundant(hessian, layout.n_tasks * (mean**2 + deviation**2))]
    if not len(lost):
        return structure.tasks
    started = table.copy()
    started[:, lost] = 0.0
    return structure.tasks.with_arrays(table=started, encoding=None)


def check_separation(made: Design, optimum: Optimum) -> None:
    """Refuse features that predict every choice: their coefficients run to infinity."""
    n = len(made.names)
    features = made.tasks.table[made.tasks.items[: min(made.tasks.n_entries, 100_000)]]
    spread = features.std(axis=0)
    if optimum.converged and (np.abs(optimum.parameters[:n]) * spread < _LARGE).all():
        return
    names = separating(made)
    if names:
        raise NotEstimable(
            f"{', '.join(names)}: a combination of these predicts choices without an error, so "
            "that coefficients run to infinity (perfect separation); leave one out, or fix it"
            if len(names) > 1
            else f"{names[0]} predicts choices without an error, so that its coefficient runs to "
            "infinity (perfect separation); leave it out, or fix it"
        )


def separating(made: Design) -> list[str]:
    """Return the features of a direction in which no chosen object is worse than another.

    The likelihood has a maximum only if there is none: a linear program tells.
    """
    from scipy.optimize import linprog

    if made.tasks.kind is Kind.SUBSET or made.tasks.n_entries * len(made.names) > _CHECKED_VALUES:
        return []
    layout = TaskLayout(made.tasks, chosen_first=True)
    parts = []
    for block in layout.blocks:
        x = layout.features(block)
        parts.append((x[:, :1] - x[:, 1:]).reshape(layout.n_features, -1).T)
    better = np.concatenate(parts)
    scale = np.abs(better).max(axis=0)
    better = better / np.where(scale > 0, scale, 1.0)

    def separate(kept: list[int]) -> bool:
        part = better[:, kept]
        found = linprog(-part.sum(axis=0), A_ub=-part, b_ub=np.zeros(len(part)), bounds=(-1, 1))
        return bool(found.success and -found.fun > 1e-6)

    kept = list(range(len(made.names)))
    if not separate(kept):
        return []
    for k in list(kept):  # name those only that it takes
        if len(kept) > 1 and separate([one for one in kept if one != k]):
            kept.remove(k)
    return [made.names[k] for k in kept]


def notes_of(estimates: Estimates) -> Estimates:
    """Return the estimates with the number of free parameters and notes on the others."""
    remarks = estimates.remarks
    notes = list(estimates.notes)
    named = {
        remark: [estimates.names[k] for k in estimates.shown if remarks[k] == remark]
        for remark in (UNIDENTIFIED, RUNS_AWAY, AT_BOUND, FIXED)
    }
    if n_network := len(remarks) - len(estimates.shown):
        notes.append(
            f"{n_network} parameters are a network's last layer; standard errors account for them, "
            "and take the layers before it as given"
        )
    if lost := named[UNIDENTIFIED]:
        notes.append(
            f"not identified: {', '.join(lost)}: these columns are collinear, or constant within "
            "tasks; leave one out"
        )
    if away := named[RUNS_AWAY]:
        notes.append(
            f"runs to infinity: {', '.join(away)}: the model predicts some choices without an "
            "error; fewer classes or parameters, or bounds, help"
        )
    notes += [*_notes_on_data(estimates), *_notes_on_people(estimates)]
    values = dict(zip(estimates.names, estimates.values.tolist(), strict=True))
    if at := named[AT_BOUND]:
        notes.append(f"at its bound: {', '.join(f'{name} = {values[name]:.6g}' for name in at)}")
    if not estimates.optimum.converged:
        notes.append(
            "not converged: the estimates are about "
            f"{estimates.optimum.distance:.2g} standard errors from the optimum"
        )
    n_parameters = estimates.rank + remarks.count(AT_BOUND)
    fit = replace(estimates.fit, n_parameters=n_parameters)
    return replace(estimates, notes=tuple(notes), fit=fit)


def _notes_on_data(estimates: Estimates) -> list[str]:
    """Return notes on weights, draws, alternatives that nobody chose, and nests nobody named."""
    notes, tasks, sample = [], estimates.tasks, estimates.sample
    if tasks.weights is not None:
        notes.append(f"weighted: {len(tasks):,} tasks count as {tasks.weights.sum():,.6g}")
    if isinstance(estimates.learner, PanelMixedLogit):
        whose = "task" if tasks.groups is None else "person"
        name = _DRAWS[estimates.learner.integration]
        notes.append(f"simulated by {estimates.learner.n_draws:,} {name} draws per {whose}")
        notes += _transformed(estimates.learner, estimates.names)
    if isinstance(estimates.learner, LatentClassLogit):
        notes.append(f"shares of people: {_shares(estimates.learner, tasks)}")
    if never := ", ".join(never_chosen(sample)):
        notes.append(f"never chosen: {never}")
    if estimates.model in ("nl", "gnl") and not (
        estimates.specification.nests or estimates.specification.nest_column
    ):
        notes.append("nests are clusters of the objects' features; --nest names them")
    return notes


def _transformed(learner: PanelMixedLogit, names: Sequence[str]) -> list[str]:
    """Return notes on coefficients that are functions of the normal variables in the table."""
    notes, factors = [], learner._matrix(learner.spreads_)
    for feature, factor, kind in zip(
        learner._random(), factors, learner._names_of_kinds(), strict=True
    ):
        if sign := DISTRIBUTIONS[kind].sign:
            at, spread = float(learner.coefficients_[feature]), float(np.linalg.norm(factor))
            median, mean = _median_and_mean(kind, sign * at, spread, sign)
            notes.append(
                f"{names[feature]} is {kind}, median {median:.4g}, mean {mean:.4g}; the table "
                "has the normal variable behind it"
            )
    return notes


def _median_and_mean(kind: str, at: float, spread: float, sign: float) -> tuple[float, float]:
    """Return median and mean of a log-normal or censored coefficient; ``at`` is that of its size.

    >>> _median_and_mean("censored", 0.0, 1.0, 1.0)
    (0.0, 0.3989422804014327)
    """
    if kind.endswith("lognormal"):
        at *= sign  # the logarithm is not mirrored
        return sign * math.exp(at), sign * math.exp(at + spread**2 / 2)
    ratio = at / spread if spread else math.copysign(math.inf, at)
    below = math.erfc(-ratio / math.sqrt(2)) / 2
    density = math.exp(-(ratio**2) / 2) / math.sqrt(2 * math.pi)
    return sign * max(at, 0.0), sign * (at * below + spread * density)


def _shares(learner: LatentClassLogit, tasks: ChoiceTasks) -> str:
    """Return the shares of classes, the means of each person's before choosing."""
    of_people = learner.class_shares(tasks)
    if tasks.weights is None:
        shares = of_people.mean(axis=0)
    else:
        _, first = np.unique(people_of(tasks), return_index=True)
        shares = np.average(of_people, axis=0, weights=tasks.weights[first])
    return ", ".join(f"class {k} {100 * share:.1f} %" for k, share in enumerate(shares, 1))


def never_chosen(sample: Sample) -> list[str]:
    """Return the alternatives that nobody chose."""
    if sample.tasks.kind is Kind.SUBSET:
        return []
    return [
        name
        for name, column in sample.alternatives.items()
        if not sample.column(column)[sample.tasks.chosen].any()
    ]


def _notes_on_people(estimates: Estimates) -> list[str]:
    """Return a note on people who chose once, where a model tells people from their choices."""
    units = estimates.learner.units(estimates.tasks)
    if units is None:
        return []
    n_tasks = np.bincount(units)
    n_once, n_people = int((n_tasks == 1).sum()), len(n_tasks)
    if not n_once:
        return []
    if n_once < n_people:
        return [f"{n_once:,} of {n_people:,} people have one task only"]
    return [
        "every person has one task only: differences between people cannot be told from chance "
        "by repeated choices, but by the form of the model alone"
    ]
