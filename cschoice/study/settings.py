"""The parts of a study: the tables of ``experiments.yaml`` as types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr

from cschoice.errors import UnknownName
from cschoice.io.documents import from_plain
from cschoice.learners import LEARNERS
from cschoice.registry import load, unknown_name
from cschoice.runs.executors.resources import Resources
from cschoice.runs.protocols import PROTOCOLS
from cschoice.runs.protocols.protocol import MOST, Protocol, Share
from cschoice.runs.records import Budget, Ensemble, Frugal

MOST_FOLDS, MOST_TRIALS = 1_000, 100_000

Section = TypeVar("Section")

Name = Annotated[str, Field(pattern=r"^\w[\w.-]{0,99}$")]  # it becomes the name of a folder


def _known_protocol(name: str) -> str:
    if name not in PROTOCOLS:
        raise ValueError(unknown_name("protocol", name, PROTOCOLS))
    return name


def _known_learner(name: str) -> str:
    if name not in LEARNERS:
        raise ValueError(unknown_name("learner", name, LEARNERS))
    return name


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class LearnerSettings(_Strict):
    """Fixed parameters of a learner, and limits within its search space.

    Under a name of its own, a variant to compare with others, ``learner`` names the learner.
    """

    learner: str | None = None
    parameters: dict[str, Any] = {}
    space: dict[str, list[Any]] = {}


class Experiment(_Strict):
    """Learners on datasets under a protocol."""

    protocol: Annotated[str, AfterValidator(_known_protocol)]
    datasets: Annotated[list[str], Field(min_length=1)]
    learners: Annotated[list[str], Field(min_length=1)]
    parameters: dict[str, Any] = {}  # for every learner that has such a parameter
    settings: dict[str, Any] = {}  # of the protocol


class EnsembleSettings(_Strict):
    """The models that predict together where tasks are few; see ``records.Ensemble``."""

    n_members: Annotated[int, Field(ge=1, le=1_000)] = Ensemble.n_members
    held_out: Annotated[float, Field(gt=0, lt=1)] = Ensemble.held_out


class FrugalSettings(_Strict):
    """Cheap screens before full fits; see ``records.Frugal``.

    The trials of the learners in ``whole`` see all tasks for all epochs.
    """

    task_share: Share = 1.0
    epoch_share: Share = 1.0
    hopeless: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 1.0
    clear_gain: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Frugal.clear_gain
    few_tasks: Annotated[int, Field(ge=0, le=MOST)] = Frugal.few_tasks
    ensemble: EnsembleSettings = EnsembleSettings()
    whole: list[Annotated[str, AfterValidator(_known_learner)]] = []

    def of(self, learner: str) -> Frugal:
        """Return the budget of a registered learner's trials."""
        shares = {"task_share": 1.0, "epoch_share": 1.0} if learner in self.whole else {}
        found: Frugal = from_plain(Frugal, self.model_dump(exclude={"whole"}) | shares)
        return found


class Profile(_Strict):
    """The cost of a study: the same protocol from seconds to weeks."""

    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    folds: Annotated[int, Field(ge=1, le=MOST_FOLDS)] = 5
    trials: Annotated[int, Field(ge=0, le=MOST_TRIALS)] = 100
    # Trials before the Gaussian process proposes; at most half.
    spread: Annotated[int, Field(ge=0, le=MOST_TRIALS)] = Budget.n_spread
    # The search ends when no trial is expected to gain so many standard errors; 0: never early.
    least_gain: Annotated[float, Field(ge=0, allow_inf_nan=False)] = Budget.least_gain
    inner_splits: Annotated[int, Field(ge=1, le=MOST_FOLDS)] = 3
    held_out: Annotated[float, Field(gt=0, lt=1)] = 0.1
    threshold_refit: bool = True
    threads: Annotated[int, Field(ge=1, le=1_024)] = 1
    frugal: FrugalSettings | None = None
    datasets: dict[str, Any] = {}  # for every dataset that has such a parameter
    # Parameters and limits for every learner that has such; under a learner's name, for it alone.
    learners: dict[str, Any] = {}
    space: dict[str, Any] = {}
    settings: dict[str, Any] = {}  # for every protocol that has such a setting

    def parameters_of(self, learner: str) -> dict[str, Any]:
        """Return the parameters that are fixed for this learner."""
        return _settings_for(learner, self.learners)

    def space_of(self, learner: str) -> dict[str, list[Any]]:
        """Return the limits of this learner's search."""
        return _settings_for(learner, self.space)


class Study(_Strict):
    """A whole study."""

    datasets: dict[str, dict[str, Any]] = {}
    learners: dict[Name, LearnerSettings] = {}
    experiments: dict[Name, Experiment]
    profiles: dict[Name, Profile]
    executor: Resources = Resources()
    _file: str = PrivateAttr("the study")

    @property
    def file(self) -> str:
        """Return the name of the file that it was read from."""
        return self._file

    def read_from(self, file: object) -> Self:
        """Take note of the file, which every problem names."""
        self._file = str(file)
        return self

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

    def knows(self, learner: str) -> bool:
        """Return whether there is a learner of that name, also one named by its place."""
        return learner in LEARNERS or self.registered(learner) != learner

    @property
    def mentioned(self) -> list[str]:
        """Return the names of learners in this study, of its own and of its experiments."""
        of_experiments = [name for one in self.experiments.values() for name in one.learners]
        return list(dict.fromkeys([*self.learners, *of_experiments]))

    def registered(self, learner: str) -> str:
        """Return the registered learner behind a name."""
        own = self.learners.get(learner)
        return own.learner if own is not None and own.learner else learner

    def protocol(self, experiment: str, profile: str) -> Protocol:
        """Return the protocol of an experiment; its own settings are above the profile's."""
        of_experiment = self.experiment(experiment)
        model: type[Protocol] = load(PROTOCOLS[of_experiment.protocol])
        shared = with_names(self.profile(profile).settings, model.model_fields)
        return model.model_validate({**shared, **of_experiment.settings})


def with_names(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the values with these names."""
    return {name: value for name, value in values.items() if name in names}


def _settings_for(learner: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for all learners, and above them those for this one alone."""
    for_all = {name: value for name, value in settings.items() if name not in LEARNERS}
    return {**for_all, **settings.get(learner, {})}


def _named(noun: str, name: str, known: Mapping[str, Section]) -> Section:
    if name not in known:
        raise UnknownName(unknown_name(noun, name, known))
    return known[name]
