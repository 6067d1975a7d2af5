"""Parameters in a study: each is one that a learner or dataset has, with a value it may take."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from cschoice.datasets import DATASETS
from cschoice.errors import InvalidPlugin
from cschoice.learners import LEARNERS, keep_declarations
from cschoice.registry import load, unknown_name
from cschoice.space import Limit
from cschoice.study.settings import Study

# The limits of each parameter; None where a package of others declares none.
Limits = Mapping[str, Limit | None]


@dataclass(frozen=True)
class _Given:
    """Parameters at one place of a study, and the learners or datasets that it speaks to."""

    where: str
    values: Mapping[str, Any]
    owners: Mapping[str, Limits]  # what they have, by name
    others: Iterable[str] = ()  # words that may stand there, too
    used: Collection[str] = ()  # the owners whose values count; none means all

    def problems(self) -> Iterator[str]:
        """Yield a problem for each name that no owner has and each value that one refuses."""
        known = {name for limits in self.owners.values() for name in limits}
        for name, value in self.values.items():
            if name in known:
                yield from self._problems_of_value(name, value)
            elif name not in self.others:
                names = dict.fromkeys([n for limits in self.owners.values() for n in limits])
                allowed = [*names, *self.others]
                yield f"{self.where}: {unknown_name('parameter', name, allowed)}"

    def _problems_of_value(self, name: str, value: Any) -> Iterator[str]:
        """Yield the problems of a value, with the owners that have it where others do not."""
        found: dict[str, list[str]] = {}
        having = {one: limits[name] for one, limits in self.owners.items() if name in limits}
        concerned = {one: limit for one, limit in having.items() if one in self.used} or having
        for owner, limit in concerned.items():
            if limit is not None and (problem := limit.problem(name, value)):
                found.setdefault(problem, []).append(owner)
        for problem, owners in found.items():
            whose = "" if len(owners) == len(concerned) else f" (of {', '.join(owners)})"
            yield f"{self.where}.{problem}{whose}"


def problems_of_parameters_in(study: Study) -> list[str]:
    """Return a line for each parameter that does not exist or has a value that is not allowed."""
    given = [*_of_learners(study), *_of_datasets(study)]
    return [f"{study.file}: {problem}" for one in given for problem in one.problems()]


def _of_learners(study: Study) -> Iterator[_Given]:
    """Yield parameters for learners: an experiment's for its own, a profile's for all or one."""
    every = {name: found for name in LEARNERS if (found := _limits_of_learner(name)) is not None}
    keep_declarations()
    used = {study.registered(name) for name in study.mentioned}
    for name, experiment in study.experiments.items():
        own = {one: _limits_of_learner(study.registered(one)) for one in experiment.learners}
        usable = {one: limits for one, limits in own.items() if limits is not None}
        if len(usable) == len(own):  # one that cannot be used has no job, and any parameter
            yield _Given(f"experiments.{name}.parameters", experiment.parameters, usable)
    for name, settings in study.learners.items():
        limits = _limits_of_learner(study.registered(name))
        if limits is not None:
            yield _Given(f"learners.{name}.parameters", settings.parameters, {name: limits})
            yield _Given(f"learners.{name}.space", settings.space, {name: _unlimited(limits)})
    for name, profile in study.profiles.items():
        for table, content in (("learners", profile.learners), ("space", profile.space)):
            at, is_space = f"profiles.{name}.{table}", table == "space"
            of_all = {word: value for word, value in content.items() if word not in LEARNERS}
            spoken_to = {one: _unlimited(own) if is_space else own for one, own in every.items()}
            yield _Given(at, of_all, spoken_to, list(LEARNERS), used)
            for word in content.keys() - of_all.keys():
                limits = _limits_of_learner(word)
                if limits is not None:
                    own_limits = _unlimited(limits) if is_space else limits
                    yield _Given(f"{at}.{word}", content[word], {word: own_limits})


def _of_datasets(study: Study) -> Iterator[_Given]:
    """Yield the parameters for datasets; a profile's are for all that there are."""
    every = {name: _limits_of_dataset(name) for name in DATASETS}
    used = {name for one in study.experiments.values() for name in one.datasets}
    for name, parameters in study.datasets.items():
        limits = _limits_of_dataset(name)
        yield _Given(f"datasets.{name}", parameters, {name: limits})
    for name, profile in study.profiles.items():
        yield _Given(f"profiles.{name}.datasets", profile.datasets, every, used=used)


def _limits_of_learner(name: str) -> Limits | None:
    """Return the limits of a learner's parameters; None for one that cannot be used."""
    try:
        return LEARNERS[name].declared.limits
    except InvalidPlugin:
        return None


def _limits_of_dataset(name: str) -> Limits:
    source = load(DATASETS[name].source)
    limits = getattr(source, "limits", {})
    return {field.name: limits.get(field.name) for field in fields(source)}


def _unlimited(limits: Limits) -> Limits:
    """Return the same names; ranges of a search are cut to the learner's own space."""
    return dict.fromkeys(limits)
