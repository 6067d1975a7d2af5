"""NDCG: how far up in the order of utilities the chosen objects stand."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.evaluation.metrics import Metric
from cschoice.tasks import ChoiceTasks, Kind


def ndcg(tasks: ChoiceTasks, utilities: NDArray[np.floating[Any]]) -> float:
    """Return the normalized discounted cumulative gain, the mean over tasks."""
    order = tasks.descending(utilities)
    places = np.arange(tasks.n_entries) - tasks.spread(tasks.offsets[:-1])
    discount = 1 / np.log2(places + 2)
    gain = tasks.reduce(np.add, np.where(tasks.chosen[order], discount, 0.0))
    n_chosen = tasks.reduce(np.add, tasks.chosen, dtype=np.int64)
    best = tasks.reduce(np.add, np.where(places < tasks.spread(n_chosen), discount, 0.0))
    return float(np.mean(gain / best))


NDCG = Metric(
    name="ndcg",
    label="NDCG",
    kinds=frozenset({Kind.SUBSET}),
    needs="utilities",
    compute=ndcg,
    summary="how far up the chosen objects stand, discounted by place",
    shown=True,
)
