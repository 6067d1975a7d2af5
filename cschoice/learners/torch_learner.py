"""The base of all network learners: hyperparameters, scaled inputs, training, prediction."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any, ClassVar, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.errors import InvalidFile, TrainingDiverged
from cschoice.learners.learner import Arrays, Learner
from cschoice.nets import training
from cschoice.nets.activations import ACTIVATIONS
from cschoice.nets.batches import SCALED_AT_ONCE
from cschoice.nets.devices import device_named
from cschoice.nets.layers import Layers, Normalization
from cschoice.nets.losses import LOSSES, loss_for
from cschoice.space import Dimension, Integer, Limit, Number, OneOf, Optional, Real, Whole
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.scaling import is_constant


def training_space(
    *,
    learning_rate: tuple[float, float] = (1e-5, 1e-1),
    batch_size: tuple[int, int] = (32, 4096),
    epochs_drop: tuple[int, int] = (50, 250),
) -> dict[str, Dimension]:
    """Return the ranges that networks share (table of ranges of the paper)."""
    return {
        "l2": Real(1e-10, 1e-1),
        "learning_rate": Real(*learning_rate),
        "batch_size": Integer(*batch_size, log=True),
        "epochs_drop": Integer(*epochs_drop),
        "drop": Real(0.01, 0.5),
    }


# Far more than a search looks at, and as much as a computer can hold.
N_UNITS, N_LAYERS = Whole(1, 4096), Whole(1, 50)


def linear_space() -> dict[str, Dimension]:
    """Return the ranges of the linear models."""
    return training_space(batch_size=(32, 2048), epochs_drop=(10, 150))


class Scaled(nn.Module):
    """A network with the scale of its inputs: mean 0 and variance 1 on the training tasks."""

    mean: Tensor
    inverse: Tensor

    def __init__(self, network: nn.Module, n_features: int) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("mean", torch.zeros(n_features))
        self.register_buffer("inverse", torch.ones(n_features))

    def adapt(self, tasks: ChoiceTasks) -> None:
        """Learn the scale from these tasks; a constant feature keeps its own."""
        counts = np.bincount(tasks.items, minlength=len(tasks.table))
        used = np.flatnonzero(counts)
        at_once = SCALED_AT_ONCE if tasks.table.size <= SCALED_AT_ONCE else SCALED_AT_ONCE // 8
        step = max(1, at_once // tasks.n_features)
        parts = [
            (part, counts[part].astype(np.float32) / np.float32(tasks.n_entries))
            for part in (used[start : start + step] for start in range(0, len(used), step))
        ]

        def table(part: NDArray[np.int64]) -> NDArray[np.float32]:
            return tasks.table[part]

        # An item counts as often as it occurs.
        mean = _total(weight @ table(part) for part, weight in parts)
        far = [np.abs((table(part) - mean).astype(np.float32)).max(0) for part, _ in parts]
        largest = np.maximum(np.max(far, 0), np.finfo(np.float32).tiny)
        # Squares of large numbers would overflow.
        squares = (
            weight @ np.square((table(part) - mean).astype(np.float32) / largest)
            for part, weight in parts
        )
        deviation = largest * np.sqrt(_total(squares))
        deviation[is_constant(deviation, mean)] = 1
        self.mean.copy_(torch.from_numpy(mean))
        self.inverse.copy_(torch.from_numpy(1 / deviation))

    def scaled(self, table: Tensor) -> Tensor:
        """Return the scaled items (items, features), the inputs of ``forward``."""
        return (table - self.mean) * self.inverse

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map scaled features (tasks, objects, features) to utilities (tasks, objects)."""
        utilities: Tensor = self.network(x, mask)
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        network: Any = self.network
        return max(int(network.floats_per_task(n_objects)), n_objects * len(self.mean))


@dataclass(kw_only=True, eq=False, repr=False)
class TorchLearner(Learner):
    """A learner whose utility is a network.

    The fields are the paper's shared hyperparameters; a subclass adds its own and ``_build``.
    ``None`` for the loss, the activation and the normalization means the recipe's own, see
    ``loss_name`` and ``_layers``. ``drop`` and ``epochs_drop`` are for the recipe ``paper``.
    """

    epochs: int = 40
    batch_size: int = 128
    learning_rate: float = 3e-3
    l2: float = 1e-2
    recipe: training.Recipe = "modern"
    loss: str | None = None
    activation: str | None = None
    normalization: Normalization | None = None
    drop: float = 0.1
    epochs_drop: int = 50
    validation_share: float = 0.0
    patience: int = 0

    limits: ClassVar[Mapping[str, Limit]] = {
        "epochs": Whole(1),
        "batch_size": Whole(1),
        "learning_rate": Number(0, above=True),
        "l2": Number(0),
        "recipe": OneOf(get_args(training.Recipe)),
        "loss": Optional(OneOf(tuple(LOSSES))),
        "activation": Optional(OneOf(tuple(ACTIVATIONS))),
        "normalization": Optional(OneOf(get_args(Normalization))),
        "drop": Number(0, 1, above=True),
        "epochs_drop": Whole(1),
        "validation_share": Number(0, 1, below=True),
        "patience": Whole(0),
    }

    network_: Scaled = field(init=False)
    log_: training.TrainingLog = field(init=False)
    modern_activation: ClassVar[str] = "gelu"
    costly: ClassVar[bool] = True

    def tunable(self) -> Mapping[str, Dimension]:
        """Return the search space, without the step decay where there is none."""
        if self.recipe == "paper":
            return self.search_space
        step_decay = ("drop", "epochs_drop")
        return {name: row for name, row in self.search_space.items() if name not in step_decay}

    @abstractmethod
    def _build(self, n_features: int) -> nn.Module:
        """Return the network, (tasks, objects, features) and mask -> (tasks, objects).

        Its ``floats_per_task`` says how much memory a task takes, see ``Scaled``.
        """

    def trainer(
        self, tasks: ChoiceTasks, *, seed: int = 0, device: str = "cpu"
    ) -> training.Trainer:
        """Return the trainer of a new network, on the scale of these tasks.

        It trains one epoch at a time, for streams in which every epoch has other tasks; the
        learner can be used after each.
        """
        self._accept(tasks)
        loss = loss_for(self.loss_name(tasks.kind), tasks.kind)
        where = device_named(device)
        self.network_ = self._new_network(seed)
        self.network_.adapt(tasks)
        self.network_.to(where)
        return training.Trainer(self.network_, loss, self._plan(), seed=seed)

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:
        trainer = self.trainer(tasks, seed=seed, device=device)
        self.log_ = training.train(trainer, tasks, on_epoch=self.on_epoch)
        self._check_collapse(tasks[: min(len(tasks), 200)])

    def _check_collapse(self, tasks: ChoiceTasks) -> None:
        """Refuse a network that gives all objects of a task the same utility."""
        if tasks.kind is Kind.SUBSET or (tasks.sizes < 2).any() or not np.ptp(tasks.table, 0).any():
            return
        utilities = self._utilities(tasks)
        least, largest = (tasks.reduce(f, utilities) for f in (np.minimum, np.maximum))
        if (least == largest).all():
            raise TrainingDiverged(
                "all objects of a task have the same utility: a smaller learning rate may help"
            )

    def _new_network(self, seed: int) -> Scaled:
        with torch.random.fork_rng(devices=[]):  # nobody else's random numbers change
            torch.manual_seed(seed)
            return Scaled(self._build(self.n_features_in_), self.n_features_in_)

    def _plan(self) -> training.TrainingPlan:
        return training.TrainingPlan(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            l2=self.l2,
            recipe=self.recipe,
            drop=self.drop,
            epochs_drop=self.epochs_drop,
            validation_share=self.validation_share,
            patience=self.patience,
            clip=0.0 if self.recipe == "paper" else 1.0,
        )

    @property
    def probabilistic(self) -> bool:
        """Tell whether the network was trained by its likelihood."""
        likelihood = {Kind.SINGLETON: "cross-entropy", Kind.SUBSET: "binary-cross-entropy"}
        return self.loss_name(self.kind_) == likelihood[self.kind_]

    def loss_name(self, kind: Kind) -> str:
        """Return the name of the loss that tasks of this kind are learned with."""
        if self.loss is not None:
            return self.loss
        if kind is Kind.SUBSET:
            return "binary-cross-entropy"
        return "hinge" if self.recipe == "paper" else "cross-entropy"

    def _layers(self, n_units: int, n_layers: int) -> Layers:
        """Return hidden layers with the activation and normalization of the parameters.

        ``paper``: SELU, or ReLU and then batch normalization with it.
        """
        paper = self.recipe == "paper"
        activation = self.activation or ("selu" if paper else self.modern_activation)
        normalization = self.normalization
        if normalization is None:
            normalization = "batch" if paper and activation == "relu" else "none"
        return Layers(n_units, n_layers, activation, normalization)

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float32]:
        return training.predict(self.network_, tasks)

    def _gradient(self, tasks: ChoiceTasks, weights: NDArray[Any]) -> NDArray[np.float32]:
        return training.gradient(self.network_, tasks, weights)

    def _state(self) -> Arrays:
        return {name: value.cpu().numpy() for name, value in self.network_.state_dict().items()}

    def _set_state(self, arrays: Arrays) -> None:
        self.network_ = restored(partial(self._new_network, seed=0), arrays, self.name)


def _total(parts: Iterable[NDArray[Any]]) -> NDArray[Any]:
    """Return the sum; that of one part is the part itself."""
    return reduce(np.add, parts)


def restored(make: Callable[[], Scaled], arrays: Arrays, name: str) -> Scaled:
    """Return the network with these arrays; refuse those of another one."""
    with torch.device("meta"):  # shapes without memory: a file may ask for any size
        network = make()
    expected = {key: (value.shape, value.dtype) for key, value in network.state_dict().items()}
    tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
    got = {key: (value.shape, value.dtype) for key, value in tensors.items()}
    if expected != got:
        wrong = sorted(key for key, _ in expected.items() ^ got.items())
        raise InvalidFile(f"these arrays do not fit a {name} of these parameters: {wrong}")
    network.load_state_dict(tensors, assign=True)
    return network.eval()
