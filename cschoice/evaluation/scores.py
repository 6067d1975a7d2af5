"""All metrics of a prediction at once."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.evaluation.decisions import Rule, choose, probabilities
from cschoice.evaluation.metrics import METRICS, metric
from cschoice.tasks import ChoiceTasks


def evaluate(
    tasks: ChoiceTasks,
    utilities: NDArray[np.float32],
    rule: Rule | None,
    probabilistic: bool,
    metrics: Collection[str] = METRICS,
) -> dict[str, float | None]:
    """Return these metrics, as far as they apply; None where one is not defined on these tasks."""
    known: dict[str, NDArray[Any]] = {
        "utilities": utilities,
        "choices": choose(tasks, utilities, rule),
    }
    if probabilistic:
        known["probabilities"] = probabilities(tasks, utilities)
    values = {
        name: row(tasks, known[row.needs])
        for name, row in ((name, metric(name)) for name in metrics)
        if tasks.kind in row.kinds and row.needs in known
    }
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
