"""``experiments.yaml``: read, and checked as a whole before anything runs.

``load`` returns a valid study or raises one error that lists all problems: file, dotted path,
what was got, what is allowed, the nearest name. No inheritance, no interpolation, no code. (Names
and values of parameters are checked when jobs are planned, which loads the learners; see
``parameters``.)
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cschoice.datasets import DATASETS
from cschoice.errors import ConfigError
from cschoice.io.plain_yaml import read_yaml
from cschoice.learners import LEARNERS
from cschoice.registry import load as registry_load
from cschoice.registry import unknown_name
from cschoice.runs.executors import EXECUTORS
from cschoice.runs.executors.resources import Resources
from cschoice.runs.protocols import PROTOCOLS
from cschoice.study.settings import (
    Experiment,
    FrugalSettings,
    LearnerSettings,
    Profile,
    Study,
    with_names,
)

DEFAULT_FILE = "experiments.yaml"
DEFAULT_PROFILE = "laptop"
_NEEDED = {"experiments", "profiles"}


def load(path: Path | None = None) -> Study:
    """Read a study: the file given, else experiments.yaml here, else the built-in one.

    Experiments and profiles that a file leaves out are the built-in ones.
    """
    built_in = Path(str(files("cschoice") / DEFAULT_FILE))
    if path is None:
        path = Path(DEFAULT_FILE)
        if not path.exists():
            path = built_in
    content = read_yaml(path)
    if isinstance(content, dict) and content and not content.keys() >= _NEEDED:
        content = _completed(content, read_yaml(built_in))
    return check(content, path)


def _completed(content: Mapping[str, Any], built_in: Mapping[str, Any]) -> dict[str, Any]:
    """Add the sections that are left out, with the learners that built-in experiments name."""
    completed = {**built_in, **content}
    own = content.get("learners", {})
    if "experiments" in content:
        completed["learners"] = own
    elif isinstance(own, dict):
        completed["learners"] = {**built_in.get("learners", {}), **own}
    return completed


def check(content: Any, path: Path) -> Study:
    """Return the content of the file as a study, or list every problem in it."""
    if content is None:
        raise ConfigError([f"{path}: is empty; a study has 'experiments' and 'profiles'"])
    try:
        study = Study.model_validate(content).read_from(path)
    except ValidationError as error:
        raise ConfigError([f"{path}: {_problem(e)}" for e in error.errors()]) from error
    problems = [f"{path}: {problem}" for problem in _problems_of_names(study)]
    if problems:
        raise ConfigError(problems)
    return study


def with_options(resources: Resources, **options: Any) -> Resources:
    """Override the study's resources with the options that were given (not None)."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Resources.model_validate(resources.model_dump() | given)
    except ValidationError as error:
        raise ConfigError([f"--{_problem(e)}" for e in error.errors()]) from error


def _problem(error: Any) -> str:
    """Describe a problem that pydantic found, with the nearest name where a key is unknown."""
    where = ".".join(str(part) for part in error["loc"]) or "the whole file"
    if error["type"] == "extra_forbidden":
        allowed = _fields_beside(error["loc"])
        near = difflib.get_close_matches(str(error["loc"][-1]), allowed, n=1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        return f"{where}: unknown key; {hint}Known: {', '.join(allowed)}"
    got = repr(error["input"])
    what = error["msg"].removeprefix("Value error, ")
    return f"{where}: {what}, got {got if len(got) < 60 else type(error['input']).__name__}"


def _fields_beside(location: tuple[Any, ...]) -> list[str]:
    """Return the known keys of the section where an unknown one was found."""
    section = {
        1: Study,
        2: Resources,
        3: {"learners": LearnerSettings, "experiments": Experiment},
    }
    model: Any = section.get(len(location), FrugalSettings)
    if isinstance(model, dict):
        model = model.get(location[0], Profile)
    return list(model.model_fields)


def _problems_of_names(study: Study) -> Iterator[str]:
    """Check every name against its registry."""
    yield from _unknown("datasets", "dataset", study.datasets, DATASETS)
    yield from _problems_of_learners(study)
    for name, experiment in study.experiments.items():
        at = f"experiments.{name}"
        yield from _unknown(f"{at}.datasets", "dataset", experiment.datasets, DATASETS)
        unknown = [learner for learner in experiment.learners if not study.knows(learner)]
        yield from _unknown(f"{at}.learners", "learner", unknown, study.learner_names)
    for name, parameters in study.datasets.items():
        if name in DATASETS:
            source = registry_load(DATASETS[name].source)
            known = {field.name: field for field in fields(source)}
            yield from _unknown(f"datasets.{name}", f"parameter of {name}", parameters, known)
    for name, settings in study.learners.items():
        yield from _problems_of_limits(f"learners.{name}.space", settings.space)
    for name, profile in study.profiles.items():
        yield from _problems_of_limits(f"profiles.{name}.space", profile.space)
        for table, content in (("learners", profile.learners), ("space", profile.space)):
            for learner, own in content.items():
                if learner in LEARNERS and not isinstance(own, dict):
                    at = f"profiles.{name}.{table}.{learner}"
                    yield f"{at}: expected parameters of {learner} with their values, got {own!r}"
    yield from _unknown("executor.name", "executor", [study.executor.name], EXECUTORS)
    if study.executor.options and study.executor.name in EXECUTORS.written:
        yield f"executor.options: {study.executor.name} has none"
    yield from _problems_of_settings(study)


def _unknown(where: str, noun: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"{where}: {unknown_name(noun, str(name), known)}"


def _problems_of_learners(study: Study) -> Iterator[str]:
    for name, own in study.learners.items():
        if own.learner is None:
            for problem in _unknown("learners", "learner", [name], LEARNERS):
                yield f"{problem}; a name of your own says which of them it is: 'learner: …'"
        elif name in LEARNERS:
            yield f"learners.{name}.learner: '{name}' is a learner itself: choose another name"
        else:
            yield from _unknown(f"learners.{name}.learner", "learner", [own.learner], LEARNERS)


def _problems_of_settings(study: Study) -> Iterator[str]:
    """Check the settings of every protocol."""
    models = {name: registry_load(source) for name, source in PROTOCOLS.items()}
    problems: list[str] = []
    for name, experiment in study.experiments.items():
        at, model = f"experiments.{name}.settings", models[experiment.protocol]
        noun = f"setting of {experiment.protocol}"
        problems += _unknown(at, noun, experiment.settings, model.model_fields)
        problems += _problems_of_values(at, model, experiment.settings)
    everything = {field: None for model in models.values() for field in model.model_fields}
    for name, profile in study.profiles.items():
        at = f"profiles.{name}.settings"
        problems += _unknown(at, "setting", profile.settings, everything)
        for model in models.values():
            problems += _problems_of_values(at, model, profile.settings)
    # Two protocols may complain of one value, and two profiles of one experiment: once is enough.
    yield from dict.fromkeys(problems or _problems_of_foundations(study))


def _problems_of_foundations(study: Study) -> Iterator[str]:
    """Check that an experiment builds on one that tunes; also, nothing ever builds on itself."""
    tuning = {
        name
        for name, experiment in study.experiments.items()
        if registry_load(PROTOCOLS[experiment.protocol]).tunes
    }
    for name in study.experiments:
        for profile in study.profiles:
            other = study.protocol(name, profile).builds_on
            if other in study.experiments and other not in tuning:
                yield f"experiments.{name}.settings: experiment '{other}' tunes no parameters"
            elif other is not None:
                at = f"experiments.{name}.settings"
                yield from _unknown(at, "experiment", [other], study.experiments)


def _problems_of_values(where: str, model: Any, settings: Mapping[str, Any]) -> list[str]:
    try:
        model.model_validate(with_names(settings, model.model_fields))
    except ValidationError as error:
        return [f"{where}.{_problem(e)}" for e in error.errors()]
    return []


def _are_limits(limits: Any) -> bool:
    if not isinstance(limits, list) or len(limits) != 2:
        return False
    numbers = all(type(limit) in (int, float) and math.isfinite(limit) for limit in limits)
    return numbers and limits[0] <= limits[1]


def _problems_of_limits(where: str, space: Mapping[str, Any]) -> Iterator[str]:
    for name, limits in space.items():
        if isinstance(limits, dict):
            yield from _unknown(where, "learner", [name], LEARNERS)
            yield from _problems_of_limits(f"{where}.{name}", limits)
        elif name not in LEARNERS and not _are_limits(limits):
            yield (
                f"{where}.{name}: limits are [low, high], got {limits} "
                "(YAML reads 1e-3 as text: write 1.0e-3)"
            )
