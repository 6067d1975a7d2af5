"""Learn context-dependent choice functions."""

from __future__ import annotations

from typing import Any

from cschoice._version import __version__
from cschoice.registry import load

# The public names, each loaded when it is first used: importing cschoice costs nothing.
_PUBLIC = {
    "ChoiceTasks": "cschoice.tasks:ChoiceTasks",
    "CschoiceError": "cschoice.errors:CschoiceError",
    "Kind": "cschoice.tasks:Kind",
    "Predictor": "cschoice.models.predictor:Predictor",
    "choose": "cschoice.evaluation.decisions:choose",
    "estimate": "cschoice.estimates.estimation:estimate",
    "make_dataset": "cschoice.datasets:make_dataset",
    "make_learner": "cschoice.learners:make_learner",
    "metric": "cschoice.evaluation.metrics:metric",
    "stratified_shuffle_splits": "cschoice.tasks.splits:stratified_shuffle_splits",
    "tune_threshold": "cschoice.evaluation.decisions:tune_threshold",
}

__all__ = ["__version__", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return load(_PUBLIC[name])
    raise AttributeError(f"module 'cschoice' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
