"""FETA: first evaluate an object beside each other one, then aggregate (section FETA)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from cschoice.learners.networks import TorchLearner, training_space
from cschoice.nets import MLP, Mask, Normalization, PairEncoder, linear
from cschoice.space import Integer
from cschoice.training import Recipe


class FetaNet(nn.Module):
    """U(x, Q) = U0(x) + mean of U1(x, y) over the other objects y (eq. fetapair)."""

    def __init__(
        self,
        n_features: int,
        *,
        n_units: int,
        n_layers: int,
        activation: str,
        normalization: Normalization,
    ) -> None:
        super().__init__()
        shape = {"n_units": n_units, "n_layers": n_layers}
        layers = {"activation": activation, "normalization": normalization}
        self.n_units = n_units
        self.inherent = MLP(n_features, 1, **shape, **layers)  # type: ignore[arg-type]
        self.pairs = PairEncoder(n_features, **shape, **layers)  # type: ignore[arg-type]
        # The mean of a bias is a bias, and U0 has one.
        self.last = linear(2 * n_units, 1, 1.0, bias=False)

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        inherent: Tensor = self.inherent(x, mask).squeeze(-1)  # (tasks, objects)
        in_pairs: Tensor = self.last(self.pairs(x, mask)).squeeze(-1)  # (tasks, objects)
        return inherent + in_pairs

    def floats_per_task(self, n_objects: int) -> int:
        """Return the size of the largest activation of one task: a layer over all pairs."""
        return n_objects * n_objects * self.n_units


class Feta(TorchLearner):
    """FETA-Net (section FETA-Net architecture)."""

    name = "feta"
    search_space: ClassVar = {
        "n_layers": Integer(1, 20),
        "n_units": Integer(4, 1024, log=True),
        **training_space(learning_rate=(1e-5, 1e-2)),
    }

    def __init__(
        self,
        n_layers: int = 3,
        n_units: int = 64,
        epochs: int = 40,
        batch_size: int = 128,
        learning_rate: float = 3e-3,
        l2: float = 1e-2,
        recipe: Recipe = "modern",
        loss: str | None = None,
        activation: str | None = None,
        normalization: str | None = None,
        drop: float = 0.1,
        epochs_drop: int = 50,
        validation_share: float = 0.0,
        patience: int = 0,
    ) -> None:
        self.n_layers = n_layers
        self.n_units = n_units
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.l2 = l2
        self.recipe = recipe
        self.loss = loss
        self.activation = activation
        self.normalization = normalization
        self.drop = drop
        self.epochs_drop = epochs_drop
        self.validation_share = validation_share
        self.patience = patience

    def _build(self, n_features: int) -> nn.Module:
        return FetaNet(
            n_features, n_units=self.n_units, n_layers=self.n_layers, **self._layers()
        )
