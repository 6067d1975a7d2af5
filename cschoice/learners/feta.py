"""FETA: evaluate an object beside each other one first, then aggregate (section FETA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from cschoice.errors import InvalidParameter
from cschoice.learners.torch_learner import (
    N_LAYERS,
    N_UNITS,
    TorchLearner,
    linear_space,
    training_space,
)
from cschoice.nets.layers import MLP, Layers, Mask, linear
from cschoice.nets.pairs.encoder import PairEncoder, mean_over_others
from cschoice.space import Integer, OneOf, Optional, Whole


class FetaNet(nn.Module):
    """U(x, Q) = U0(x) + mean of U1(x, y) over the other objects y (eq. fetapair).

    From the third ``order`` on, plus the mean of U2(x, {y, z}) over pairs of others (eq. agg), …
    """

    def __init__(
        self,
        n_features: int,
        inherent: Layers,
        pairs: Layers,
        order: int = 2,
        n_partners: int | None = None,
    ) -> None:
        super().__init__()
        self.inherent = MLP(n_features, 1, inherent)
        self.pairs = PairEncoder(n_features, pairs, order, n_partners=n_partners)
        self.last = linear(self.pairs.n_outputs, 1, 1.0, bias=False)  # U0 has a bias

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        both = self.inherent(x, mask) + self.last(self.pairs(x, mask))  # (tasks, objects, 1)
        utilities: Tensor = both.squeeze(-1)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return the size of one layer, over all pairs where these are in memory."""
        if self.pairs.fused:
            return n_objects * self.pairs.n_outputs
        return max(1, self.pairs.n_beside(n_objects) // 2) * n_objects * self.pairs.n_units


class FetaSigmoidNet(nn.Module):
    """FETA whose U0 and U1 end in a sigmoid, so that each lies between 0 and 1."""

    def __init__(
        self, n_features: int, inherent: Layers, pairs: Layers, n_partners: int | None = None
    ) -> None:
        super().__init__()
        self.inherent = MLP(n_features, 1, inherent)
        self.pairs = PairEncoder(n_features, pairs, sigmoid=True, n_partners=n_partners)

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        both = self.inherent(x, mask).sigmoid() + self.pairs(x, mask)  # (tasks, objects, 1)
        utilities: Tensor = both.squeeze(-1)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return the size of one layer over all pairs, in both orders."""
        return n_objects * self.pairs.n_beside(n_objects) * self.pairs.n_units


@dataclass(kw_only=True, eq=False, repr=False)
class Feta(TorchLearner):
    """FETA-Net (section FETA-Net architecture).

    ``n_units`` are those of a hidden layer of U1, half of them for each order of a pair. U0 has
    as many layers and as many units, unless ``n_inherent_units`` says otherwise: 2 layers of 56
    and 19 units make the network of 2,849 parameters in the infinite data experiment. ``order``
    is the paper's K + 1: 2 for pairs, as in all of its experiments. U0 and U1 are any numbers, as
    the text has them; in the code released with the paper they end in a sigmoid:
    ``output="sigmoid"``. That code's FETA-Linear is such a network with one hidden SELU unit; ours
    is linear.

    Time grows with the square of the number of objects. ``n_partners`` makes it linear where tasks
    have thousands: each object is then seen beside at most so many others, which are sampled.
    """

    name = "feta"
    search_space: ClassVar = {
        "n_layers": Integer(1, 20),
        "n_units": Integer(4, 1024, log=True),
        **training_space(learning_rate=(1e-5, 1e-2)),
    }
    limits: ClassVar = {
        **TorchLearner.limits,
        "n_layers": N_LAYERS,
        "n_units": N_UNITS,
        "n_inherent_units": Optional(N_UNITS),
        "order": Whole(2, 10),
        "output": OneOf(("linear", "sigmoid")),
        "n_partners": Optional(Whole(1, 100_000)),
    }

    # As good as GELU here, and a quarter less time where most of it is spent.
    modern_activation: ClassVar[str] = "relu"

    batch_size: int = 64
    n_layers: int = 3
    n_units: int = 64
    n_inherent_units: int | None = None
    order: int = 2
    output: str = "linear"
    n_partners: int | None = None

    def check_parameters(self) -> None:
        """Refuse sigmoids of higher orders, too."""
        super().check_parameters()
        if self.output == "sigmoid" and self.order > 2:
            raise InvalidParameter(f"output 'sigmoid' needs order 2, got {self.order}")

    def _build(self, n_features: int) -> nn.Module:
        inherent = self._layers(self.n_inherent_units or self.n_units, self.n_layers)
        pairs = self._layers(self.n_units, self.n_layers)
        if self.output == "sigmoid":
            return FetaSigmoidNet(n_features, inherent, pairs, self.n_partners)
        return FetaNet(n_features, inherent, pairs, self.order, self.n_partners)


@dataclass(kw_only=True, eq=False, repr=False)
class Feta3(Feta):
    """FETA-Net with sub-contexts of up to two objects: how y and z together change x."""

    name = "feta3"

    order: int = 3
    epochs: int = 60


class FetaLinearNet(nn.Module):
    """FETA with linear U0 and U1: the mean over pairs is linear in the mean of the others."""

    def __init__(self, n_features: int) -> None:
        super().__init__()
        self.inherent = linear(n_features, 1, 0.0)
        self.of_first = linear(n_features, 1, 0.0, bias=False)
        self.of_second = linear(n_features, 1, 0.0, bias=False)

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        n_objects = x.shape[1] if mask is None else mask.sum(1).view(-1, 1, 1)
        second = self.of_second(x)  # (tasks, objects, 1)
        present = second if mask is None else second * mask.unsqueeze(-1)
        total = present.sum(1, keepdim=True)  # (tasks, 1, 1)
        others = mean_over_others(total - second, mask)  # (tasks, objects, 1)
        in_pairs = (self.of_first(x) + others) * (n_objects > 1)
        utilities: Tensor = (self.inherent(x) + in_pairs).squeeze(-1)  # (tasks, objects)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        return n_objects


@dataclass(kw_only=True, eq=False, repr=False)
class FetaLinear(TorchLearner):
    """FETA-Linear: O(n) in the number of objects."""

    name = "feta-linear"
    search_space: ClassVar = linear_space()

    learning_rate: float = 3e-2

    def _build(self, n_features: int) -> nn.Module:
        return FetaLinearNet(n_features)
