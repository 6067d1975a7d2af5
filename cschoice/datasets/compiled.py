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
    answers = np.empty((points.shape[0], points.shape[2]), dtype=answer)
    getattr(_rules, rule)(points, answers)
    return answers
