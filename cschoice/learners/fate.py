"""FATE: aggregate the objects of a task first, then evaluate each of them (section FATE)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from cschoice.learners.torch_learner import (
    N_LAYERS,
    N_UNITS,
    TorchLearner,
    linear_space,
    training_space,
)
from cschoice.nets.layers import ContextMLP, Mask, SetEncoder, linear, masked_mean
from cschoice.space import Integer


class FateNet(nn.Module):
    """U(x, Q) = U'(x, mean of φ(y) over all objects y) (eq. NEW_FATE_def)."""

    def __init__(self, encoder: SetEncoder, utility: ContextMLP, n_units: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.utility = utility
        self.n_units = n_units  # over all layers

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        context = self.encoder(x, mask)  # (tasks, embedding)
        utilities: Tensor = self.utility(x, context, mask)  # (tasks, objects)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        compiled = self.encoder.compiled and self.utility.compiled
        return n_objects * (1 if compiled else self.n_units)


@dataclass(kw_only=True, eq=False, repr=False)
class Fate(TorchLearner):
    """FATE-Net (section FATE-Net architecture)."""

    name = "fate"
    search_space: ClassVar = {
        "n_set_layers": Integer(1, 20),
        "n_set_units": Integer(4, 1024, log=True),
        "n_embedding": Integer(4, 1024, log=True),
        "n_layers": Integer(1, 20),
        "n_units": Integer(4, 1024, log=True),
        **training_space(),
    }

    limits: ClassVar = {
        **TorchLearner.limits,
        "n_set_layers": N_LAYERS,
        "n_set_units": N_UNITS,
        "n_embedding": N_UNITS,
        "n_layers": N_LAYERS,
        "n_units": N_UNITS,
    }

    n_set_layers: int = 3
    n_set_units: int = 128
    n_embedding: int = 256
    n_layers: int = 3
    n_units: int = 128
    l2: float = 1e-1
    epochs: int = 60
    batch_size: int = 64
    learning_rate: float = 5e-3

    def _build(self, n_features: int) -> nn.Module:
        set_layers = self._layers(self.n_set_units, self.n_set_layers)
        encoder = SetEncoder(n_features, self.n_embedding, set_layers)
        layers = self._layers(self.n_units, self.n_layers)
        utility = ContextMLP(n_features, self.n_embedding, layers)
        return FateNet(encoder, utility, self._n_units())

    def _n_units(self) -> int:
        """Return the number of units of an object over all layers."""
        of_set = (self.n_set_layers - 1) * self.n_set_units + self.n_embedding
        return of_set + self.n_layers * self.n_units


class FateLinearNet(nn.Module):
    """FATE with linear φ and U': a linear utility plus one number per task.

    The number shifts all utilities of a task, which matters for subset choice only.
    """

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.of_object = linear(n_features, 1, 0.0)
        self.of_context = linear(n_features, 1, 0.0, bias=False)

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        context = masked_mean(self.of_context(x), mask)  # (tasks, 1)
        utilities: Tensor = self.of_object(x).squeeze(-1) + context  # (tasks, objects)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        return n_objects


@dataclass(kw_only=True, eq=False, repr=False)
class FateLinear(TorchLearner):
    """FATE-Linear."""

    name = "fate-linear"
    search_space: ClassVar = linear_space()

    learning_rate: float = 3e-2

    def _build(self, n_features: int) -> nn.Module:
        return FateLinearNet(n_features)
