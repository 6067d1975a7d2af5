"""Boosted trees: each object is scored by a sum of regression trees, without its context."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cschoice.errors import InvalidFile, MissingDependency
from cschoice.evaluation.decisions import probabilities
from cschoice.learners.learner import Arrays, Learner
from cschoice.space import Dimension, Integer, Limit, Number, OneOf, Real, Whole
from cschoice.tasks import ChoiceTasks, Kind

Values = NDArray[np.float64]
Derivatives = tuple[Values, Values]  # first and second, one per entry

_LOSSES = ("likelihood", "lambdarank")


class BoostedTrees(Learner):
    """Gradient-boosted trees on single objects, grown by LightGBM: the extra ``trees``.

    Not a learner of the paper: a strong baseline without context, which with features relative to
    the task has some. ``loss="likelihood"`` grows the trees by the likelihood of the choice, as
    networks and logits are fitted: softmax over the task, or independent Bernoulli choices.
    ``"lambdarank"`` is LambdaMART (Burges, 2010); its utilities are no probabilities.
    """

    name = "boosted-trees"
    search_space: ClassVar[Mapping[str, Dimension]] = {
        "n_trees": Integer(30, 600, log=True),
        "shrinkage": Real(0.01, 0.3),
        "n_leaves": Integer(4, 64, log=True),
        "min_per_leaf": Integer(5, 200, log=True),
        "leaf_penalty": Real(1e-2, 1e2),
    }
    limits: ClassVar[Mapping[str, Limit]] = {
        "n_trees": Whole(1, 100_000),
        "shrinkage": Number(0, 1, above=True),
        "n_leaves": Whole(2, 10_000),
        "min_per_leaf": Whole(1, 1_000_000),
        "leaf_penalty": Number(0),
        "loss": OneOf(_LOSSES),
    }

    booster_: Any

    def __init__(
        self,
        n_trees: int = 200,
        shrinkage: float = 0.05,
        n_leaves: int = 8,
        min_per_leaf: int = 20,
        leaf_penalty: float = 1.0,
        loss: str = "likelihood",
    ) -> None:
        self.n_trees = n_trees
        self.shrinkage = shrinkage
        self.n_leaves = n_leaves
        self.min_per_leaf = min_per_leaf
        self.leaf_penalty = leaf_penalty
        self.loss = loss

    @property
    def probabilistic(self) -> bool:
        """Tell whether the trees were grown by the likelihood."""
        return self.loss == "likelihood"

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:  # noqa: ARG002
        lightgbm = _lightgbm()
        data = lightgbm.Dataset(
            tasks.features,
            tasks.chosen.astype(np.float64),
            weight=None if tasks.weights is None else tasks.spread(tasks.weights),
            group=tasks.sizes if self.loss == "lambdarank" else None,
        )
        settings = {
            "objective": self._objective(tasks),
            "learning_rate": self.shrinkage,
            "num_leaves": self.n_leaves,
            "min_data_in_leaf": self.min_per_leaf,
            "lambda_l2": self.leaf_penalty,
            "seed": seed % 2**31,
            "num_threads": 1,  # jobs run beside each other
            "deterministic": True,
            "force_row_wise": True,
            "verbosity": -1,
        }
        self.booster_ = lightgbm.train(settings, data, num_boost_round=self.n_trees)

    def _objective(self, tasks: ChoiceTasks) -> str | Callable[[Values, Any], Derivatives]:
        """Return LightGBM's objective; the likelihood of singleton choice it does not have."""
        if self.loss == "lambdarank":
            return "lambdarank"
        if tasks.kind is Kind.SUBSET:
            return "binary"
        counts = 1.0 if tasks.weights is None else tasks.spread(tasks.weights)

        def softmax(utilities: Values, _: Any) -> Derivatives:
            p = probabilities(tasks, utilities)
            return counts * (p - tasks.chosen), counts * p * (1 - p)

        return softmax

    def _utilities(self, tasks: ChoiceTasks) -> Values:
        used, place = np.unique(tasks.items, return_inverse=True)
        scores = self.booster_.predict(tasks.table[used], raw_score=True, num_threads=1)
        return np.asarray(scores)[place]

    def _state(self) -> Arrays:
        text = self.booster_.model_to_string(num_iteration=-1)
        return {"trees": np.frombuffer(text.encode(), dtype=np.uint8)}

    def _set_state(self, arrays: Arrays) -> None:
        lightgbm = _lightgbm()
        try:
            text = arrays["trees"].tobytes().decode()
            self.booster_ = lightgbm.Booster(model_str=text)
        except (KeyError, UnicodeDecodeError, lightgbm.basic.LightGBMError) as error:
            raise InvalidFile(f"these arrays do not hold the trees of a {self.name}") from error


def _lightgbm() -> Any:
    try:
        import lightgbm
    except ImportError:
        raise MissingDependency(
            "boosted trees need the package lightgbm: pip install 'cschoice[trees]'"
        ) from None
    return lightgbm
