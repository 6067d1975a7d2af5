"""The learners: one file per idea, one row per name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cschoice.errors import InvalidParameter
from cschoice.learners.declarations import Declaration, keep, kept
from cschoice.registry import Plugins, Registry, load, unknown_name
from cschoice.tasks import Kind

if TYPE_CHECKING:  # it loads scikit-learn
    from cschoice.learners.learner import Learner


@dataclass(frozen=True)
class LearnerInfo:
    """The label of a learner and the place of its class, which is loaded when it is used."""

    label: str  # as the paper writes it
    source: str  # "module:class" below ``package``
    in_paper: bool = True  # among the learners that the paper compares
    package: str = f"{__name__}."  # empty for the learner of another package

    @cached_property
    def learner(self) -> type[Learner]:
        """Return the class."""
        found: type[Learner] = load(f"{self.package}{self.source}")
        return found

    @cached_property
    def declared(self) -> Declaration:
        """Return the declaration of the class, if possible without loading it."""
        known = None if "learner" in vars(self) or not self.package else kept().get(self.source)
        return Declaration.of(self.learner) if known is None else known

    @property
    def kinds(self) -> frozenset[Kind]:
        """Return the kinds of choice that the learner learns."""
        return self.declared.kinds

    @property
    def parameters(self) -> list[str]:
        """Return the names of the constructor's parameters."""
        return list(self.declared.limits)


def _of_plugin(name: str, found: Any, target: str) -> LearnerInfo:
    """Return the row of a class of another package."""
    from cschoice.learners.learner import Learner

    if not isinstance(found, type) or not issubclass(found, Learner):
        raise TypeError(f"{target} is no subclass of cschoice.learners.learner.Learner")
    return LearnerInfo(getattr(found, "label", name), target, in_paper=False, package="")


LEARNERS: Registry[LearnerInfo] = Registry(
    "learner",
    {
        "feta": LearnerInfo("FETA-Net", "feta:Feta"),
        "feta3": LearnerInfo("FETA-Net (3rd order)", "feta:Feta3", in_paper=False),
        "fate": LearnerInfo("FATE-Net", "fate:Fate"),
        "feta-linear": LearnerInfo("FETA-Linear", "feta:FetaLinear"),
        "fate-linear": LearnerInfo("FATE-Linear", "fate:FateLinear", in_paper=False),
        "sda": LearnerInfo("SDA", "sda:Sda"),
        "ranknet": LearnerInfo("RankNet", "ranknet:RankNet"),
        "deep-sets": LearnerInfo("Deep sets", "deep_sets:DeepSets", in_paper=False),
        "pointwise-net": LearnerInfo("Pointwise net", "pointwise:PointwiseNet", in_paper=False),
        "boosted-trees": LearnerInfo("Boosted trees", "boosted_trees:BoostedTrees", in_paper=False),
        "pairwise-svm": LearnerInfo("PairwiseSVM", "pairwise_svm:PairwiseSVM"),
        "mnl": LearnerInfo("MNL", "logit.multinomial:MultinomialLogit"),
        "lcl": LearnerInfo("LCL", "logit.linear_context:LinearContextLogit", in_paper=False),
        "cdm": LearnerInfo("CDM", "logit.context_dependent:ContextDependentLogit", in_paper=False),
        "nl": LearnerInfo("NL", "logit.nested_logit:NestedLogit"),
        "gnl": LearnerInfo("GNL", "logit.nested_logit:GeneralizedNestedLogit"),
        "cnl": LearnerInfo("CNL", "logit.cross_nested_logit:CrossNestedLogit", in_paper=False),
        "mixed-logit": LearnerInfo("ML", "logit.mixed_logit:MixedLogit"),
        "panel-mixed-logit": LearnerInfo(
            "Panel ML", "logit.panel_mixed_logit:PanelMixedLogit", in_paper=False
        ),
        "latent-class": LearnerInfo(
            "Latent class", "logit.latent_class:LatentClassLogit", in_paper=False
        ),
        "random-regret": LearnerInfo(
            "Random regret", "logit.random_regret:RandomRegret", in_paper=False
        ),
        "l-mnl": LearnerInfo("L-MNL", "logit.learned_tastes:LearningLogit", in_paper=False),
        "taste-net": LearnerInfo("TasteNet", "logit.learned_tastes:TasteNet", in_paper=False),
        "all-positive": LearnerInfo("AllPositive", "baselines:AllPositive"),
        "random": LearnerInfo("Random", "baselines:RandomUtility"),
    },
    more=[Plugins("learner", "cschoice.learners", _of_plugin, lambda: LEARNERS.written)],
)


def keep_declarations() -> None:
    """Have later processes plan studies without loading the learners."""
    ours = {info.source: info.declared for info in LEARNERS.written.values()}
    if ours.keys() - kept().keys():
        keep(ours)


def name_of(learner: Learner) -> str:
    """Return the name under which ``make_learner`` makes learners of this class."""
    kind = type(learner)
    if learner.name in LEARNERS and LEARNERS[learner.name].learner is kind:
        return learner.name
    return f"{kind.__module__}:{kind.__qualname__}"


def make_learner(name: str, **parameters: Any) -> Learner:
    """Return a new, unfitted learner of that name; refuse parameters outside their limits."""
    info = LEARNERS[name]
    make = info.learner  # asked for its parameters itself: it is needed in any case
    for parameter in parameters:
        if parameter not in info.parameters:
            known = info.parameters
            raise InvalidParameter(unknown_name(f"parameter of {name}", parameter, known))
    learner = make(**parameters)
    learner.check_parameters()
    return learner
