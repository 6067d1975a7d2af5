"""FATE: first aggregate the objects of a task, then evaluate each of them (section FATE)."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from cschoice.learners.networks import TorchLearner, training_space
from cschoice.nets import ContextMLP, Mask, SetEncoder
from cschoice.space import Integer
from cschoice.training import Recipe


class FateNet(nn.Module):
    """U(x, Q) = U'(x, mean of φ(y) over all objects y) (eq. NEW_FATE_def)."""

    def __init__(self, encoder: SetEncoder, utility: ContextMLP, width: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.utility = utility
        self.width = width

    def forward(self, x: Tensor, mask: Mask) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        context = self.encoder(x, mask)  # (tasks, embedding)
        utilities: Tensor = self.utility(x, context, mask)  # (tasks, objects)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return the size of the largest activation of one task."""
        return n_objects * self.width


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

    def __init__(
        self,
        n_set_layers: int = 3,
        n_set_units: int = 128,
        n_embedding: int = 256,
        n_layers: int = 3,
        n_units: int = 128,
        epochs: int = 60,
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
        self.n_set_layers = n_set_layers
        self.n_set_units = n_set_units
        self.n_embedding = n_embedding
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
        layers = self._layers()
        encoder = SetEncoder(
            n_features,
            self.n_embedding,
            n_units=self.n_set_units,
            n_layers=self.n_set_layers,
            **layers,
        )
        utility = ContextMLP(
            n_features, self.n_embedding, n_units=self.n_units, n_layers=self.n_layers, **layers
        )
        return FateNet(encoder, utility, max(self.n_set_units, self.n_embedding, self.n_units))
