"""A context-free network under a listwise likelihood: the control for "no context"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from cschoice.learners.torch_learner import N_LAYERS, N_UNITS, TorchLearner, training_space
from cschoice.nets.layers import MLP, Mask
from cschoice.space import Integer


class ObjectNet(nn.Module):
    """U(x): each object by itself."""

    def __init__(self, network: MLP, n_units: int) -> None:
        super().__init__()
        self.network = network
        self.n_units = n_units  # over all layers

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        utilities: Tensor = self.network(x, mask).squeeze(-1)  # (tasks, objects)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        return n_objects * (1 if self.network.compiled else self.n_units)


@dataclass(kw_only=True, eq=False, repr=False)
class PointwiseNet(TorchLearner):
    """RankNet's network, trained by the likelihood of the choice, as FETA and FATE are.

    Not a learner of the paper. Its utilities mean probabilities, so that a network without context
    can be compared by log-loss.
    """

    name = "pointwise-net"
    search_space: ClassVar = {
        "n_layers": Integer(1, 20),
        "n_units": Integer(4, 1024, log=True),
        **training_space(learning_rate=(1e-5, 1e-2), batch_size=(64, 8192)),
    }
    limits: ClassVar = {**TorchLearner.limits, "n_layers": N_LAYERS, "n_units": N_UNITS}

    n_layers: int = 3
    n_units: int = 64

    def _build(self, n_features: int) -> nn.Module:
        layers = self._layers(self.n_units, self.n_layers)
        return ObjectNet(MLP(n_features, 1, layers), self.n_layers * self.n_units)
