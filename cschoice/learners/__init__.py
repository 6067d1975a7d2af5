"""The learners: one file per idea, one row per name."""

from __future__ import annotations

from typing import Any

from cschoice.registry import Registry, load

LEARNERS: Registry[str] = Registry(
    "learner",
    {
        "feta": "cschoice.learners.feta:Feta",
        "fate": "cschoice.learners.fate:Fate",
        "feta-linear": "cschoice.learners.feta:FetaLinear",
        "fate-linear": "cschoice.learners.fate:FateLinear",
        "sda": "cschoice.learners.sda:Sda",
        "ranknet": "cschoice.learners.ranknet:RankNet",
        "mnl": "cschoice.learners.mnl:MultinomialLogit",
        "nl": "cschoice.learners.nested:NestedLogit",
        "gnl": "cschoice.learners.nested:GeneralizedNestedLogit",
        "mixed-logit": "cschoice.learners.mixed:MixedLogit",
        "pairwise-svm": "cschoice.learners.svm:PairwiseSVM",
        "all-positive": "cschoice.learners.baselines:AllPositive",
        "random": "cschoice.learners.baselines:RandomUtility",
    },
)


def make_learner(name: str, **parameters: Any) -> Any:
    """Return a new, unfitted learner of that name."""
    return load(LEARNERS[name])(**parameters)
