"""Deep sets: a plain network on an object and on summaries of its set (Zaheer et al. 2017)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from torch import nn

from cschoice.learners.fate import Fate, FateNet
from cschoice.nets.layers import ContextMLP, SetEncoder, masked_max, masked_mean, masked_mean_max
from cschoice.space import OneOf

Pooling = Literal["mean", "max", "mean-max"]

_POOLINGS = {"mean": masked_mean, "max": masked_max, "mean-max": masked_mean_max}


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSets(Fate):
    """U(x, Q) = g(x, pooled φ(y) of all objects y): FATE with other ways to pool.

    Not a learner of the paper. ``pooling`` is the mean of the embedded objects, which is FATE-Net,
    the largest value of each unit, or both side by side.
    """

    name = "deep-sets"
    limits: ClassVar = {**Fate.limits, "pooling": OneOf(get_args(Pooling))}

    pooling: Pooling = "mean-max"

    def _build(self, n_features: int) -> nn.Module:
        set_layers = self._layers(self.n_set_units, self.n_set_layers)
        encoder = SetEncoder(n_features, self.n_embedding, set_layers, _POOLINGS[self.pooling])
        n_context = self.n_embedding * (2 if self.pooling == "mean-max" else 1)
        layers = self._layers(self.n_units, self.n_layers)
        utility = ContextMLP(n_features, n_context, layers)
        return FateNet(encoder, utility, self._n_units())
