"""The learners: one file per idea, one row per name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from cschoice.errors import InvalidParameter
from cschoice.registry import Registry, load, unknown_name
from cschoice.tasks import Kind

_BOTH, _SINGLETON, _SUBSET = frozenset(Kind), frozenset({Kind.SINGLETON}), frozenset({Kind.SUBSET})


@dataclass(frozen=True)
class LearnerInfo:
    """What is known of a learner without loading it, and where it is."""

    label: str  # as the paper writes it
    source: str  # "module:class" below cschoice.learners
    kinds: frozenset[Kind] = _BOTH

    @cached_property
    def learner(self) -> Any:
        """Load the class."""
        return load(f"cschoice.learners.{self.source}")

    @property
    def parameters(self) -> list[str]:
        """Return the names of the constructor's parameters."""
        names: list[str] = self.learner._get_param_names()
        return names


LEARNERS: Registry[LearnerInfo] = Registry(
    "learner",
    {
        "feta": LearnerInfo("FETA-Net", "feta:Feta"),
        "feta3": LearnerInfo("FETA-Net (3rd order)", "feta:Feta3"),
        "fate": LearnerInfo("FATE-Net", "fate:Fate"),
        "feta-linear": LearnerInfo("FETA-Linear", "feta:FetaLinear"),
        "fate-linear": LearnerInfo("FATE-Linear", "fate:FateLinear"),
        "sda": LearnerInfo("SDA", "sda:Sda"),
        "ranknet": LearnerInfo("RankNet", "ranknet:RankNet"),
        "pairwise-svm": LearnerInfo("PairwiseSVM", "pairwise_svm:PairwiseSVM"),
        "mnl": LearnerInfo("MNL", "logit.multinomial:MultinomialLogit"),
        "nl": LearnerInfo("NL", "logit.nested_logit:NestedLogit", _SINGLETON),
        "gnl": LearnerInfo("GNL", "logit.nested_logit:GeneralizedNestedLogit", _SINGLETON),
        "mixed-logit": LearnerInfo("ML", "logit.mixed_logit:MixedLogit", _SINGLETON),
        "all-positive": LearnerInfo("AllPositive", "baselines:AllPositive", _SUBSET),
        "random": LearnerInfo("Random", "baselines:RandomUtility", _SINGLETON),
    },
)


def make_learner(name: str, **parameters: Any) -> Any:
    """Return a new, unfitted learner of that name."""
    info = LEARNERS[name]
    for parameter in parameters:
        if parameter not in info.parameters:
            known = info.parameters
            raise InvalidParameter(unknown_name(f"parameter of {name}", parameter, known))
    return info.learner(**parameters)
