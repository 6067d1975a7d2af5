"""SDA, set-dependent aggregation (Rosenfeld, Oshiba and Singer): weighted, referenced scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from cschoice.learners.torch_learner import N_LAYERS, N_UNITS, TorchLearner, training_space
from cschoice.nets.layers import MLP, Layers, Mask, SetEncoder, linear
from cschoice.space import Integer

LOSS_AVERSION = 1.5  # how much steeper the value falls below the reference than it rises above


class SetFunction(nn.Module):
    """From the values of one score in a task to one number, by the mean of an embedding.

    Shared across scores: the network sees one score at a time.
    """

    def __init__(self, n_layers: int, n_units: int) -> None:
        super().__init__()
        self.n_units = n_layers * n_units
        self.embed = SetEncoder(1, n_units, Layers(n_units, n_layers, "tanh"))
        self.last = MLP(n_units, 1, Layers(n_units, 1, "tanh"))

    def forward(self, scores: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, scores) to (tasks, 1, scores)."""
        mean = self.embed(scores.unsqueeze(-1), mask)  # (tasks, scores, units)
        values: Tensor = self.last(mean).squeeze(-1)  # (tasks, scores)
        return values.unsqueeze(1)


def kinked(values: Tensor) -> Tensor:
    """Return a tanh that is steeper below zero: losses weigh more than gains."""
    values = torch.tanh(values)
    return torch.where(values < 0, LOSS_AVERSION * values, values)


class SdaNet(nn.Module):
    """U(x, Q) = Σ_i w_i(Q) · κ(F_i(x) − r_i(Q)) with linear scores F_i."""

    def __init__(
        self, n_features: int, n_scores: int, weight: SetFunction, reference: SetFunction
    ) -> None:
        super().__init__()
        self.scores = linear(n_features, n_scores, 1.0, bias=False)
        self.weight = weight
        self.reference = reference

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        scores = self.scores(x)  # (tasks, objects, features) -> (tasks, objects, scores)
        weight, reference = self.weight(scores, mask), self.reference(scores, mask)
        utilities: Tensor = (weight * kinked(scores - reference)).sum(-1)  # (tasks, objects)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        n_units = self.weight.n_units + self.reference.n_units
        return n_objects * self.scores.out_features * n_units


@dataclass(kw_only=True, eq=False, repr=False)
class Sda(TorchLearner):
    """SDA as the paper compares with it; activations are always tanh."""

    name = "sda"
    search_space: ClassVar = {
        "n_reference_units": Integer(4, 64, log=True),
        "n_reference_layers": Integer(1, 4),
        "n_weight_units": Integer(4, 64, log=True),
        "n_weight_layers": Integer(1, 4),
        **training_space(batch_size=(8, 1024)),
    }
    limits: ClassVar = {
        **TorchLearner.limits,
        "n_scores": N_UNITS,
        "n_reference_layers": N_LAYERS,
        "n_reference_units": N_UNITS,
        "n_weight_layers": N_LAYERS,
        "n_weight_units": N_UNITS,
    }

    n_scores: int = 24
    n_reference_layers: int = 2
    n_reference_units: int = 16
    n_weight_layers: int = 2
    n_weight_units: int = 16
    epochs: int = 60
    batch_size: int = 64
    learning_rate: float = 1e-1  # tanh units of small weights need large steps

    def _build(self, n_features: int) -> nn.Module:
        weight = SetFunction(self.n_weight_layers, self.n_weight_units)
        reference = SetFunction(self.n_reference_layers, self.n_reference_units)
        return SdaNet(n_features, self.n_scores, weight, reference)
