"""All metrics of a prediction at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.evaluation.decisions import choose, probabilities
from cschoice.evaluation.metrics import METRICS
from cschoice.tasks import ChoiceTasks


def evaluate(
    tasks: ChoiceTasks,
    utilities: NDArray[np.float32],
    threshold: float | None,
    probabilistic: bool,
) -> dict[str, float | None]:
    """Return every metric that applies; None where it is not defined on these tasks."""
    known: dict[str, NDArray[Any]] = {
        "utilities": utilities,
        "choices": choose(tasks, utilities, threshold),
    }
    if probabilistic:
        known["probabilities"] = probabilities(tasks, utilities)
    values = {
        name: row(tasks, known[row.needs])
        for name, row in METRICS.items()
        if tasks.kind in row.kinds and row.needs in known
    }
    return {name: value if math.isfinite(value) else None for name, value in values.items()}
