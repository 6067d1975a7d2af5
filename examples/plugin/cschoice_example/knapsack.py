"""The knapsack problem: choose the objects of largest total value that one can carry."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from cschoice.errors import InvalidParameter
from cschoice.seeding import seed_for
from cschoice.space import Limit, Whole, problems_of_parameters
from cschoice.tasks import ChoiceTasks, Kind


@dataclass(frozen=True, kw_only=True)
class Knapsack:
    """Objects with a value and a weight; half of the total weight can be carried."""

    n_train: int = 2_000
    n_test: int = 2_000
    n_objects: int = 8

    label: ClassVar[str] = "Knapsack"
    kind: ClassVar[Kind] = Kind.SUBSET
    standardize: ClassVar[bool] = False  # values and weights are between 0 and 1
    n_features: ClassVar[int] = 2
    test_to_train: ClassVar[float] = 0.0  # every fold is a fresh draw
    limits: ClassVar[dict[str, Limit]] = {
        "n_train": Whole(1),
        "n_test": Whole(1),
        "n_objects": Whole(2, 12),  # all subsets are looked at
    }

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name in self.limits}
        if problems := problems_of_parameters(self.limits, given):
            raise InvalidParameter("; ".join(problems))

    def fold(self, index: int, seed: int) -> tuple[ChoiceTasks, ChoiceTasks]:
        """Draw the train and test tasks of a fold."""
        return (
            self._draw(self.n_train, seed_for(seed, "knapsack train", fold=index)),
            self._draw(self.n_test, seed_for(seed, "knapsack test", fold=index)),
        )

    def _draw(self, n_tasks: int, seed: int) -> ChoiceTasks:
        x = np.random.default_rng(seed).random((n_tasks, self.n_objects, 2))
        subsets = np.array(list(product([False, True], repeat=self.n_objects))[1:])
        value, weight = x @ [1, 0] @ subsets.T, x @ [0, 1] @ subsets.T
        # One object can always be taken, so that something is chosen.
        capacity = np.maximum(x[..., 1].sum(axis=1) / 2, x[..., 1].min(axis=1))[:, None]
        best = np.argmax(np.where(weight <= capacity, value, -1), axis=1)
        return ChoiceTasks.from_dense(x.astype(np.float32), subsets[best], self.kind)
