"""``experiments.yaml``: what a study consists of, checked as a whole before anything runs.

``load`` returns a valid study or raises one error that lists all problems: file, dotted path,
what was got, what is allowed, the nearest name. No inheritance, no interpolation, no code.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cschoice.datasets import DATASETS
from cschoice.errors import ConfigError, FileNotUsable, UnknownName
from cschoice.learners import LEARNERS
from cschoice.protocols import PROTOCOLS
from cschoice.registry import load as registry_load
from cschoice.registry import unknown_name
from cschoice.resources import Resources

if TYPE_CHECKING:
    from cschoice.protocols.base import Protocol

Section = TypeVar("Section")

DEFAULT_FILE = "experiments.yaml"
DEFAULT_PROFILE = "laptop"

Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]
Name = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]  # it becomes the name of a folder


def _known_protocol(name: str) -> str:
    if name not in PROTOCOLS:
        raise ValueError(unknown_name("protocol", name, PROTOCOLS))
    return name


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LearnerSettings(_Strict):
    """Fixed parameters of a learner, and limits within its search space.

    Under a name of its own, ``learner`` says which it is: a variant to compare with others.
    """

    learner: str | None = None
    parameters: dict[str, Any] = {}
    space: dict[str, list[Any]] = {}


class Experiment(_Strict):
    """Which learners on which datasets under which protocol."""

    protocol: Annotated[str, AfterValidator(_known_protocol)]
    datasets: Annotated[list[str], Field(min_length=1)]
    learners: Annotated[list[str], Field(min_length=1)]
    parameters: dict[str, Any] = {}  # for every learner that has such a parameter
    settings: dict[str, Any] = {}  # of the protocol


class FrugalSettings(_Strict):
    """Spend the budget where it pays; the fields are those of ``records.Frugal``."""

    task_share: Share = 1.0
    epoch_share: Share = 1.0
    n_promoted: Annotated[int, Field(ge=0)] = 0
    hopeless: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0


class Profile(_Strict):
    """How much is spent; the same protocol from seconds to weeks."""

    seed: Annotated[int, Field(ge=0)] = 0
    folds: Count = 5
    trials: Annotated[int, Field(ge=0)] = 100
    inner_splits: Count = 3
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.1
    threshold_refit: bool = True
    threads: Count = 1
    frugal: FrugalSettings | None = None
    datasets: dict[str, Any] = {}  # for every dataset that has such a parameter
    # For every learner that has such a parameter; under a learner's name, for it alone.
    learners: dict[str, Any] = {}
    space: dict[str, list[Any]] = {}  # for every learner that has such a dimension
    settings: dict[str, Any] = {}  # for every protocol that has such a setting

    def said_to(self, learner: str) -> dict[str, Any]:
        """Return what the profile says to all learners, and above it what it says to this one."""
        to_all = {name: value for name, value in self.learners.items() if name not in LEARNERS}
        return {**to_all, **self.learners.get(learner, {})}


class Study(_Strict):
    """A whole study."""

    datasets: dict[str, dict[str, Any]] = {}
    learners: dict[Name, LearnerSettings] = {}
    experiments: dict[Name, Experiment]
    profiles: dict[Name, Profile]
    executor: Resources = Resources()

    def experiment(self, name: str) -> Experiment:
        """Return the experiment of that name."""
        return _named("experiment", name, self.experiments)

    def profile(self, name: str) -> Profile:
        """Return the profile of that name."""
        return _named("profile", name, self.profiles)

    @property
    def learner_names(self) -> list[str]:
        """Return every learner there is: the registered ones and this study's variants."""
        return [*LEARNERS, *(name for name, own in self.learners.items() if own.learner)]

    def registered(self, learner: str) -> str:
        """Return the registered learner behind a name."""
        own = self.learners.get(learner)
        return own.learner if own is not None and own.learner else learner

    def protocol(self, experiment: str, profile: str) -> Protocol:
        """Return the protocol of an experiment; its own settings are above the profile's."""
        of_experiment = self.experiment(experiment)
        model: type[Protocol] = registry_load(PROTOCOLS[of_experiment.protocol])
        shared = _known(self.profile(profile).settings, model.model_fields)
        return model.model_validate({**shared, **of_experiment.settings})


def load(path: Path | None = None) -> Study:
    """Read a study: the file given, else experiments.yaml here, else the built-in one."""
    if path is None:
        path = Path(DEFAULT_FILE)
        if not path.exists():
            path = Path(str(files("cschoice") / DEFAULT_FILE))
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: not UTF-8 text: {error}"]) from error
    except yaml.YAMLError as error:
        raise ConfigError([f"{path}: not YAML: {' '.join(str(error).split())}"]) from error
    return check(content, path)


def check(content: Any, path: Path) -> Study:
    """Turn what the file says into a study, or list everything that is wrong with it."""
    if content is None:
        raise ConfigError([f"{path}: is empty; a study has 'experiments' and 'profiles'"])
    try:
        study = Study.model_validate(content)
    except ValidationError as error:
        raise ConfigError([f"{path}: {_problem(e)}" for e in error.errors()]) from error
    problems = [f"{path}: {problem}" for problem in _problems_of_names(study)]
    if problems:
        raise ConfigError(problems)
    return study


def with_options(resources: Resources, **options: Any) -> Resources:
    """Let what the command line says stand above the study; None says nothing."""
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return Resources.model_validate(resources.model_dump() | given)
    except ValidationError as error:
        raise ConfigError([f"--{_problem(e)}" for e in error.errors()]) from error


def _problem(error: Any) -> str:
    """Say what pydantic found, with the nearest name where a key is unknown."""
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
    """Return the keys that are known where an unknown one was found."""
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
        yield from _unknown(f"{at}.learners", "learner", experiment.learners, study.learner_names)
    for name, parameters in study.datasets.items():
        if name in DATASETS:
            source = registry_load(DATASETS[name].source)
            known = {field.name: field for field in fields(source)}
            yield from _unknown(f"datasets.{name}", f"parameter of {name}", parameters, known)
    for name, settings in study.learners.items():
        yield from _problems_of_limits(f"learners.{name}.space", settings.space)
    for name, profile in study.profiles.items():
        yield from _problems_of_limits(f"profiles.{name}.space", profile.space)
        for learner, own in profile.learners.items():
            if learner in LEARNERS and not isinstance(own, dict):
                at = f"profiles.{name}.learners.{learner}"
                yield f"{at}: expected parameters of {learner} with their values, got {own!r}"
    yield from _problems_of_settings(study)


def _unknown(where: str, noun: str, names: Iterable[str], known: Collection[str]) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"{where}: {unknown_name(noun, str(name), known)}"


def _known(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name in names}


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
    """Let every protocol check what is meant for it."""
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
        model.model_validate(_known(settings, model.model_fields))
    except ValidationError as error:
        return [f"{where}.{_problem(e)}" for e in error.errors()]
    return []


def _problems_of_limits(where: str, space: Mapping[str, list[Any]]) -> Iterator[str]:
    for name, limits in space.items():
        numbers = all(type(limit) in (int, float) and math.isfinite(limit) for limit in limits)
        if not numbers or len(limits) != 2 or limits[0] > limits[1]:
            yield (
                f"{where}.{name}: limits are [low, high], got {limits} "
                "(YAML reads 1e-3 as text: write 1.0e-3)"
            )


def _named(noun: str, name: str, known: Mapping[str, Section]) -> Section:
    if name not in known:
        raise UnknownName(unknown_name(noun, name, known))
    return known[name]
