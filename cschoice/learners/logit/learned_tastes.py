"""Logit models in which a network moves some coefficients, and the others keep their meaning.

The utility of an object with features x is β·x + Σ w(k)·h(z) a(k): the network's hidden units h see
the features z, most often those of the chooser, and move the coefficients of the features a. Given
the units this is a multinomial logit. So the hidden layers are trained as networks are; then β and
w, the layer behind the units, are estimated together by Newton's method, exactly, with a penalty on
w. The standard errors of β account for w, and take the hidden layers as given.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.errors import InvalidParameter
from cschoice.learners.learner import Arrays
from cschoice.learners.logit.inference import Mask
from cschoice.learners.logit.layout import TaskLayout
from cschoice.learners.logit.multinomial import MultinomialLogit, fit_linear
from cschoice.learners.logit.optimization import Vector
from cschoice.learners.torch_learner import N_LAYERS, N_UNITS, Scaled, restored, training_space
from cschoice.nets import training
from cschoice.nets.devices import device_named
from cschoice.nets.layers import Hidden, Layers, as_rows, linear
from cschoice.nets.layers import Mask as Present
from cschoice.nets.losses import loss_for
from cschoice.space import Dimension, Integer, Limit, Number, Optional, Real, Several, Whole
from cschoice.tasks import ChoiceTasks, Kind

_DECAY = 1e-2  # of the weights in training
_ROWS_AT_ONCE = 100_000
_NEWTON_FEATURES = 1_000  # hidden units are correlated: other methods take many steps
_NETWORK = "network."  # begins the names of its arrays


class MovedTastes(nn.Module):
    """The utility whose coefficients are moved by the units of a network."""

    def __init__(
        self, seen: Sequence[int], moved: Sequence[int], n_features: int, layers: Layers
    ) -> None:
        super().__init__()
        self.seen, self.moved, self.layers = list(seen), list(moved), layers
        self.first = linear(len(self.seen), layers.n_units, layers.gain)
        self.hidden = Hidden(layers)
        self.last = linear(layers.n_units, max(1, len(self.moved)), 0.01, bias=False)
        self.own = linear(n_features, 1, 0.0, bias=False)

    def units(self, x: Tensor, mask: Present = None) -> Tensor:
        """Return the hidden units of (…, features)."""
        rows, present = as_rows(x[..., self.seen], mask)
        units: Tensor = self.hidden(self.first(rows), present).view(*x.shape[:-1], -1)
        return units

    def forward(self, x: Tensor, mask: Present) -> Tensor:
        """Map (tasks, objects, features) to utilities (tasks, objects)."""
        moves = self.last(self.units(x, mask))
        moved = (moves * x[..., self.moved]).sum(-1) if self.moved else moves.squeeze(-1)
        utilities: Tensor = self.own(x).squeeze(-1) + moved
        return utilities

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""
        return n_objects * self.layers.n_units * self.layers.n_layers


class LearnedTastes(MultinomialLogit):
    """The base of both models: which coefficients the network moves is theirs to say."""

    kinds: ClassVar[frozenset[Kind]] = frozenset({Kind.SINGLETON})
    costly: ClassVar[bool] = True
    limits: ClassVar[Mapping[str, Limit]] = {
        "network_features": Optional(Several(Whole(0))),
        "moved_features": Optional(Several(Whole(0))),
        "n_units": N_UNITS,
        "n_layers": N_LAYERS,
        "epochs": Whole(1),
        "batch_size": Whole(1),
        "learning_rate": Number(0, above=True),
        "network_l2": Number(0),
        "l2": Number(0),
    }
    search_space: ClassVar[Mapping[str, Dimension]] = {
        "n_units": Integer(4, 256, log=True),
        "n_layers": Integer(1, 4),
        "network_l2": Real(1e-5, 10.0),
        "learning_rate": training_space()["learning_rate"],
    }

    network_: Scaled
    unit_means_: NDArray[np.float64]

    def __init__(
        self,
        network_features: Sequence[int] | None = None,
        moved_features: Sequence[int] | None = None,
        n_units: int = 32,
        n_layers: int = 1,
        epochs: int = 40,
        batch_size: int = 128,
        learning_rate: float = 3e-3,
        network_l2: float = 1e-3,
        l2: float = 1e-5,
    ) -> None:
        self.network_features = network_features
        self.moved_features = moved_features
        self.n_units = n_units
        self.n_layers = n_layers
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.network_l2 = network_l2
        self.l2 = l2

    @abstractmethod
    def _moved(self) -> list[int]:
        """Return the features whose coefficients the network moves; none: it adds a utility."""

    def _fit(self, tasks: ChoiceTasks, seed: int, device: str) -> None:
        self._check_features_named()
        self.network_ = self._new_network(seed)
        self.network_.adapt(tasks)
        self.network_.to(device_named(device))
        plan = training.TrainingPlan(self.epochs, self.batch_size, self.learning_rate, _DECAY)
        loss = loss_for("cross-entropy", tasks.kind)
        trainer = training.Trainer(self.network_, loss, plan, seed=seed)
        training.train(trainer, tasks, on_epoch=self.on_epoch)
        self.network_.cpu()
        self.unit_means_ = np.zeros(self.n_units)
        used = self._units(tasks.table)[tasks.items]
        self.unit_means_ = used.mean(axis=0, dtype=np.float64)
        layout = self._data(tasks)
        found = fit_linear(layout, self.penalty(layout) / layout.n_tasks, _NEWTON_FEATURES)
        self._take(found, -float(self._loss(layout, found)[0]))

    def _new_network(self, seed: int) -> Scaled:
        n_features = self.n_features_in_
        seen = self.network_features or range(n_features)
        layers = Layers(self.n_units, self.n_layers, "gelu")
        with torch.random.fork_rng(devices=[]):  # nobody else's random numbers change
            torch.manual_seed(seed)
            return Scaled(MovedTastes(seen, self._moved(), n_features, layers), n_features)

    @torch.inference_mode()
    def _units(self, table: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the hidden units of items; their mean over the tasks learned from is zero."""
        network: Any = self.network_.network
        self.network_.eval()
        parts = [
            network.units(self.network_.scaled(torch.tensor(table[start : start + _ROWS_AT_ONCE])))
            for start in range(0, len(table), _ROWS_AT_ONCE)
        ]
        units: NDArray[np.float32] = torch.cat(parts).numpy()
        return (units - self.unit_means_).astype(np.float32)

    def _designed(self, tasks: ChoiceTasks) -> ChoiceTasks:
        """Return the tasks as a multinomial logit sees them: features, and units times moved."""
        units, moved = self._units(tasks.table), self._moved()
        factors = tasks.table[:, moved] if moved else np.ones((len(units), 1), dtype=np.float32)
        products = (factors[:, :, None] * units[:, None]).reshape(len(units), -1)
        table = np.concatenate([tasks.table[:, self._linear()], products], axis=1)
        return tasks.with_arrays(table=table, encoding=None)

    def _data(self, tasks: ChoiceTasks, *, learning: bool = True) -> TaskLayout:
        return super()._data(self._designed(tasks), learning=learning)

    def _utilities(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        return super()._utilities(self._designed(tasks))

    def _inclusive_values(self, tasks: ChoiceTasks) -> Vector | None:
        return super()._inclusive_values(self._designed(tasks))

    def _gradient(self, tasks: ChoiceTasks, weights: NDArray[Any]) -> NDArray[Any]:
        network: Any = self.network_.network
        x = torch.tensor(tasks.features, requires_grad=True)
        own, moved = self._linear(), self._moved()
        coefficients = torch.tensor(self.coefficients_, dtype=torch.float32)
        units = network.units(self.network_.scaled(x)) - torch.tensor(self.unit_means_).float()
        moves = units @ coefficients[len(own) :].view(-1, self.n_units).T
        utilities = x[:, own] @ coefficients[: len(own)]
        utilities = utilities + ((moves * x[:, moved]).sum(1) if moved else moves[:, 0])
        (utilities * torch.tensor(weights).float()).sum().backward()
        assert x.grad is not None
        slopes: NDArray[Any] = x.grad.numpy()
        return slopes

    def _linear(self) -> list[int]:
        """Return the features with a coefficient of their own: those the network does not see."""
        seen = self.network_features or ()
        return [number for number in range(self.n_features_in_) if number not in seen]

    def penalty(self, data: Any) -> Vector:
        """Return the weight of half of each squared parameter in the penalized loss."""
        weights = np.full(data.n_features, self.network_l2)
        weights[: len(self._linear())] = self.l2
        penalty: Vector = weights * data.n_tasks * self._penalty_weights(data)
        return penalty

    def nuisance(self) -> Mask:
        """Return which parameters belong to the network and have no meaning alone."""
        mask = np.ones(len(self._parameters()), dtype=bool)
        mask[: len(self._linear())] = False
        return mask

    def _shapes(self) -> Mapping[str, tuple[int, ...]]:
        n_moves = self.n_units * max(1, len(self._moved()))
        return {"coefficients_": (len(self._linear()) + n_moves,), "intercept_": (0,)}

    def _per_parameter(self, by_feature: Vector, other: float) -> Vector:  # noqa: ARG002
        return by_feature

    def _names(self, features: Sequence[str]) -> list[str]:
        of = [f" on {features[number]}" for number in self._moved()] or [""]
        units = [f"unit {unit}{one}" for one in of for unit in range(1, self.n_units + 1)]
        return [*(features[number] for number in self._linear()), *units]

    def _check_features_named(self) -> None:
        for name in ("network_features", "moved_features"):
            given = list(getattr(self, name) or ())
            if given and max(given) >= self.n_features_in_:
                allowed = f"numbers from 0 to {self.n_features_in_ - 1}"
                raise InvalidParameter(f"{name} must be {allowed}, got {given}")
        if not self._linear():
            raise InvalidParameter("network_features leave no feature with a coefficient")

    def _state(self) -> Arrays:
        network = self.network_.state_dict()
        arrays = {f"{_NETWORK}{name}": value.numpy() for name, value in network.items()}
        return {**super()._state(), "unit_means_": self.unit_means_, **arrays}

    def _set_state(self, arrays: Arrays) -> None:
        own = {name: value for name, value in arrays.items() if not name.startswith(_NETWORK)}
        super()._set_state(own)
        state = {
            name.removeprefix(_NETWORK): value
            for name, value in arrays.items()
            if name.startswith(_NETWORK)
        }
        self.network_ = restored(partial(self._new_network, seed=0), state, self.name)


class LearningLogit(LearnedTastes):
    """L-MNL: a linear utility plus the output of a network on other features.

    ``network_features`` are what the network sees (default: all), and have no coefficients.
    ``moved_features`` are the constants of alternatives, to each of which it adds a number of its
    own; by default it adds one number to the utility of each object.
    """

    name = "l-mnl"

    def _moved(self) -> list[int]:
        return list(self.moved_features or ())


class TasteNet(LearnedTastes):
    """TasteNet: coefficients of the utility depend on the chooser through a network.

    ``network_features`` are what the network sees (default: all), and have no coefficients.
    ``moved_features`` (default: all others) have coefficients that it moves around their means.
    """

    name = "taste-net"

    def _moved(self) -> list[int]:
        return self._linear() if self.moved_features is None else list(self.moved_features)

    def tastes(self, tasks: ChoiceTasks) -> NDArray[np.float64]:
        """Return the coefficients of the moved features for each entry, (entries, features)."""
        self._check_features(tasks)
        units = self._units(tasks.table)[tasks.items]
        linear, moved = self._linear(), self._moved()
        moves = self.coefficients_[len(linear) :].reshape(len(moved), -1)
        means = [
            self.coefficients_[linear.index(number)] if number in linear else 0.0
            for number in moved
        ]
        return np.asarray(means + units @ moves.T)
