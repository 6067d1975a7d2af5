"""Learn context-dependent choice functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cschoice._version import __version__ as __version__

if TYPE_CHECKING:  # what a type checker sees, and nothing else
    from cschoice.datasets import DATASETS as DATASETS, make_dataset as make_dataset
    from cschoice.effects.functions import (
        best_assortment as best_assortment,
        calibration as calibration,
        comparisons as comparisons,
        diversion_ratios as diversion_ratios,
        elasticities as elasticities,
        marginal_effects as marginal_effects,
        predictions as predictions,
    )
    from cschoice.errors import CschoiceError as CschoiceError
    from cschoice.estimates.estimation import estimate as estimate
    from cschoice.estimates.independence import context_tests as context_tests
    from cschoice.evaluation.decisions import choose as choose, tune_threshold as tune_threshold
    from cschoice.evaluation.metrics import METRICS as METRICS, metric as metric
    from cschoice.explanations.explanation import explain as explain
    from cschoice.learners import LEARNERS as LEARNERS, make_learner as make_learner
    from cschoice.learners.baselines import (
        AllPositive as AllPositive,
        RandomUtility as RandomUtility,
    )
    from cschoice.learners.boosted_trees import BoostedTrees as BoostedTrees
    from cschoice.learners.deep_sets import DeepSets as DeepSets
    from cschoice.learners.fate import Fate as Fate, FateLinear as FateLinear
    from cschoice.learners.feta import Feta as Feta, Feta3 as Feta3, FetaLinear as FetaLinear
    from cschoice.learners.learner import Learner as Learner
    from cschoice.learners.logit.context_dependent import (
        ContextDependentLogit as ContextDependentLogit,
    )
    from cschoice.learners.logit.cross_nested_logit import CrossNestedLogit as CrossNestedLogit
    from cschoice.learners.logit.latent_class import LatentClassLogit as LatentClassLogit
    from cschoice.learners.logit.learned_tastes import (
        LearningLogit as LearningLogit,
        TasteNet as TasteNet,
    )
    from cschoice.learners.logit.linear_context import LinearContextLogit as LinearContextLogit
    from cschoice.learners.logit.mixed_logit import MixedLogit as MixedLogit
    from cschoice.learners.logit.multinomial import MultinomialLogit as MultinomialLogit
    from cschoice.learners.logit.nested_logit import (
        GeneralizedNestedLogit as GeneralizedNestedLogit,
        NestedLogit as NestedLogit,
    )
    from cschoice.learners.logit.panel_mixed_logit import PanelMixedLogit as PanelMixedLogit
    from cschoice.learners.logit.random_regret import RandomRegret as RandomRegret
    from cschoice.learners.pairwise_svm import PairwiseSVM as PairwiseSVM
    from cschoice.learners.pointwise import PointwiseNet as PointwiseNet
    from cschoice.learners.ranknet import RankNet as RankNet
    from cschoice.learners.sda import Sda as Sda
    from cschoice.models.cross_validation import cross_validate as cross_validate
    from cschoice.models.predictor import Predictor as Predictor
    from cschoice.runs.tables import load_results as load_results
    from cschoice.study.run import run_study as run_study
    from cschoice.tasks import ChoiceTasks as ChoiceTasks, Kind as Kind
    from cschoice.tasks.splits import stratified_shuffle_splits as stratified_shuffle_splits

# The same names by module, each loaded when it is first used: importing cschoice costs nothing.
_PLACES = {
    "datasets": ("DATASETS", "make_dataset"),
    "effects.functions": (
        "best_assortment",
        "calibration",
        "comparisons",
        "diversion_ratios",
        "elasticities",
        "marginal_effects",
        "predictions",
    ),
    "errors": ("CschoiceError",),
    "estimates.estimation": ("estimate",),
    "estimates.independence": ("context_tests",),
    "evaluation.decisions": ("choose", "tune_threshold"),
    "evaluation.metrics": ("METRICS", "metric"),
    "explanations.explanation": ("explain",),
    "learners": ("LEARNERS", "make_learner"),
    "learners.baselines": ("AllPositive", "RandomUtility"),
    "learners.boosted_trees": ("BoostedTrees",),
    "learners.deep_sets": ("DeepSets",),
    "learners.fate": ("Fate", "FateLinear"),
    "learners.feta": ("Feta", "Feta3", "FetaLinear"),
    "learners.learner": ("Learner",),
    "learners.logit.context_dependent": ("ContextDependentLogit",),
    "learners.logit.cross_nested_logit": ("CrossNestedLogit",),
    "learners.logit.latent_class": ("LatentClassLogit",),
    "learners.logit.learned_tastes": ("LearningLogit", "TasteNet"),
    "learners.logit.linear_context": ("LinearContextLogit",),
    "learners.logit.mixed_logit": ("MixedLogit",),
    "learners.logit.multinomial": ("MultinomialLogit",),
    "learners.logit.nested_logit": ("GeneralizedNestedLogit", "NestedLogit"),
    "learners.logit.panel_mixed_logit": ("PanelMixedLogit",),
    "learners.logit.random_regret": ("RandomRegret",),
    "learners.pairwise_svm": ("PairwiseSVM",),
    "learners.pointwise": ("PointwiseNet",),
    "learners.ranknet": ("RankNet",),
    "learners.sda": ("Sda",),
    "models.cross_validation": ("cross_validate",),
    "models.predictor": ("Predictor",),
    "runs.tables": ("load_results",),
    "study.run": ("run_study",),
    "tasks": ("ChoiceTasks", "Kind"),
    "tasks.splits": ("stratified_shuffle_splits",),
}
_PUBLIC = {name: place for place, names in _PLACES.items() for name in names}

if not TYPE_CHECKING:
    __all__ = ["__version__", *_PUBLIC]

    def __getattr__(name: str) -> object:
        from cschoice.registry import load

        if name not in _PUBLIC:
            raise AttributeError(f"module 'cschoice' has no attribute '{name}'")
        return load(f"cschoice.{_PUBLIC[name]}:{name}")

    def __dir__() -> list[str]:
        return sorted(__all__)
