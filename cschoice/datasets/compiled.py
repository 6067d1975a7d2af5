"""The pairwise rules in C, where they could be built; NumPy says the same, only slower."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

try:
    from cschoice.datasets import _rules
except ImportError:  # installed without a C compiler
    _rules = None  # type: ignore[assignment]


def compiled(rule: str, points: NDArray[Any], answer: DTypeLike) -> NDArray[Any] | None:
    """Return the rule's answer for points (objects, features, tasks), or None if it has none."""
    if _rules is None or points.dtype != np.float32 or not points.flags.c_contiguous:
        return None
    n_objects, n_features, n_tasks = points.shape
    answers = np.empty((n_objects, n_tasks), dtype=answer)
    getattr(_rules, rule)(points, answers, n_objects, n_features, n_tasks)
    return answers
