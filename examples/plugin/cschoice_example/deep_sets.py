"""Deep sets (Zaheer et al., 2017): each object beside the sum of all objects' embeddings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from cschoice.learners.torch_learner import N_UNITS, TorchLearner, training_space
from cschoice.space import Integer


class DeepSetsNet(nn.Module):
    """U(x, Q) = ρ(φ(x), sum of φ(y) over all objects y)."""

    def __init__(self, n_features: int, n_units: int) -> None:
        super().__init__()
        self.n_units = n_units
        self.phi = nn.Sequential(nn.Linear(n_features, n_units), nn.ReLU())
        self.rho = nn.Sequential(nn.Linear(2 * n_units, n_units), nn.ReLU(), nn.Linear(n_units, 1))

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects); False marks padding."""
        embedded = self.phi(x)
        if mask is not None:
            embedded = embedded * mask.unsqueeze(-1)
        total = embedded.sum(dim=1, keepdim=True).expand_as(embedded)
        utilities: Tensor = self.rho(torch.cat([embedded, total], dim=-1)).squeeze(-1)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        return 4 * n_objects * self.n_units


@dataclass(kw_only=True, eq=False, repr=False)
class DeepSets(TorchLearner):
    """Deep sets as a choice model."""

    name = "example-deep-sets"
    label = "Deep sets (example)"
    search_space: ClassVar = {"n_units": Integer(4, 256, log=True), **training_space()}
    limits: ClassVar = {**TorchLearner.limits, "n_units": N_UNITS}

    n_units: int = 32

    def _build(self, n_features: int) -> nn.Module:
        return DeepSetsNet(n_features, self.n_units)
