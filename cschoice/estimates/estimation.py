"""From a sample, a model and a specification to estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidParameter
from cschoice.estimates.designs import Design, design
from cschoice.estimates.estimates import Estimates, Fit
from cschoice.estimates.limits import limits
from cschoice.estimates.optimum import climb
from cschoice.estimates.problems import (
    check_choices,
    check_separation,
    notes_of,
    without_collinear,
)
from cschoice.estimates.samples import Sample, constant_within, sample_of
from cschoice.estimates.specification import Specification
from cschoice.estimates.structure import Structure
from cschoice.estimates.structures import structure_of
from cschoice.learners import LEARNERS, make_learner
from cschoice.learners.logit.maximum_likelihood import LogitLearner
from cschoice.learners.logit.multinomial import MultinomialLogit
from cschoice.registry import unknown_name
from cschoice.tasks import ChoiceTasks, Kind


def estimate(
    source: Any,
    model: str = "mnl",
    specification: Specification | None = None,
    *,
    features: Sequence[str] | None = None,
    cluster: str | None = None,
    seed: int = 0,
    parameters: dict[str, Any] | None = None,
    **sections: Any,
) -> Estimates:
    """Estimate a model by maximum likelihood and return its estimates, ready to be published.

    ``source`` is the name of a dataset, a Parquet file, or ``ChoiceTasks``; ``features`` names the
    columns of the latter. ``sections`` are those of a ``Specification``: utility, where,
    reference, fixed, bounds, start, nests, random. ``parameters`` are the learner's. ``cluster``
    names the feature by which clustered standard errors are grouped, instead of the person.

    >>> import numpy as np
    >>> from cschoice import ChoiceTasks
    >>> x = np.random.default_rng(0).normal(size=(200, 3, 2))
    >>> tasks = ChoiceTasks.from_dense(x, x[:, :, 0].argmax(axis=1) * 0, "singleton")
    >>> estimate(tasks, features=["cost", "time"]).fit.n_parameters
    2
    """
    _check_model(model)
    if specification is None:
        specification = Specification.of(**sections)
    elif sections:
        raise InvalidParameter("give a specification or its sections, not both")
    sample = sample_of(source, tuple(features) if features else None)
    counts = specification.class_counts
    if model == "latent-class" and len(counts) > 1:
        words: dict[str, Any] = {"cluster": cluster, "seed": seed, "parameters": parameters}
        of_counts = (replace(specification, classes=str(count)) for count in counts)
        return _best_by_bic([estimate(sample, model, one, **words) for one in of_counts], counts)
    made = design(sample, specification)
    check_choices(made)
    structure = structure_of(model, made, specification)
    settings: dict[str, Any] = {"l2": 0.0, **structure.parameters, **(parameters or {})}
    learner = make_learner(structure.learner, **settings)
    assert isinstance(learner, LogitLearner)
    learner.learn(without_collinear(made, structure), seed=seed)
    return _estimates(model, learner, structure, made, specification, cluster, seed)


def _best_by_bic(tried: Sequence[Estimates], counts: Sequence[int]) -> Estimates:
    """Return the estimates with the lowest BIC, with a note on the others."""
    best = min(tried, key=lambda one: one.fit.bic)
    listed = ", ".join(
        f"{count}: {one.fit.bic:.3f}" for count, one in zip(counts, tried, strict=True)
    )
    note = f"{counts[tried.index(best)]} classes have the lowest BIC ({listed})"
    return replace(best, notes=(*best.notes, note))


def _check_model(name: str) -> None:
    """Refuse learners that are not fitted by maximum likelihood."""
    if name not in LEARNERS or not _is_logit(name):
        allowed = [name for name in LEARNERS if _is_logit(name)]
        LEARNERS[name]  # an unknown name has an error of its own
        raise InvalidParameter(
            f"'{name}' is not fitted by maximum likelihood: estimate one of {', '.join(allowed)}"
        )


def _is_logit(name: str) -> bool:
    return issubclass(LEARNERS[name].learner, LogitLearner)


def _estimates(
    model: str,
    learner: LogitLearner,
    structure: Structure,
    made: Design,
    specification: Specification,
    cluster: str | None,
    seed: int,
) -> Estimates:
    names = structure.renamed(learner.parameter_names(structure.features))
    own = structure.limited(names, learner._bounds())
    found = learner._parameters()
    start_at = np.zeros_like(found) if structure.from_zero else found
    bounds, start = limits(specification, names, own, start_at)
    data = learner._data(structure.tasks)
    optimum = climb(learner, data, start, bounds, learner.penalty(data))
    check_separation(made, optimum)
    learner._take(optimum.parameters, optimum.log_likelihood)
    tasks = structure.tasks
    estimates = Estimates(
        model=model,
        names=tuple(names),
        learner=learner,
        tasks=tasks,
        sample=made.sample,
        optimum=optimum,
        bounds=bounds,
        fit=Fit(
            log_likelihood=optimum.log_likelihood,
            null=_null(tasks),
            constants=_constants_only(made.sample),
            n_parameters=0,
            n_tasks=len(tasks),
            n_people=None if tasks.groups is None else len(np.unique(tasks.groups)),
        ),
        specification=specification,
        terms=made.names,
        clusters=tasks.groups if cluster is None else _clusters(made.sample, cluster),
        notes=made.notes,
        seed=seed,
    )
    return notes_of(estimates)


def _null(tasks: ChoiceTasks) -> float:
    """Return the log-likelihood of equal shares; of subsets, of one half for each object."""
    logs = tasks.sizes * np.log(2) if tasks.kind is Kind.SUBSET else np.log(tasks.sizes)
    weights = 1.0 if tasks.weights is None else tasks.weights
    return -float((weights * logs).sum())


def _constants_only(sample: Sample) -> float | None:
    """Return the log-likelihood of constants alone; None where alternatives are not known."""
    if not sample.alternatives or sample.tasks.kind is Kind.SUBSET:
        return None
    chosen_once = [
        k for k in sample.alternatives.values() if sample.column(k)[sample.tasks.chosen].any()
    ]
    tasks = sample.tasks
    constants = replace(tasks, table=tasks.table[:, chosen_once], encoding=None)
    return float(MultinomialLogit(l2=0.0).fit(constants).log_likelihood_)


def _clusters(sample: Sample, name: str) -> NDArray[np.int64]:
    """Return the cluster of each task, by a feature that is constant within tasks."""
    if name not in sample.features:
        raise InvalidParameter(unknown_name("column to cluster by", name, sample.features))
    values = sample.column(sample.features.index(name))
    if not constant_within(sample.tasks, values):
        raise InvalidParameter(f"cluster: '{name}' differs between the objects of a task")
    codes: NDArray[np.int64] = np.unique(values[sample.tasks.offsets[:-1]], return_inverse=True)[1]
    return codes
