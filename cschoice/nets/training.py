"""The one training loop of all networks, epoch by epoch, and prediction in pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.errors import InvalidFile, TrainingDiverged
from cschoice.nets.batches import TaskNumbers, TaskTensors
from cschoice.nets.devices import fast_products, floats_at_once, halve_floats_at_once
from cschoice.nets.layers import MaskedBatchNorm
from cschoice.tasks import ChoiceTasks
from cschoice.tasks.splits import stratified_shuffle_splits

TaskLoss = Callable[[Tensor, Tensor, Tensor | None], Tensor]
TrainingLog = list[dict[str, float]]
OnEpoch = Callable[[dict[str, float]], None]
Recipe = Literal["modern", "paper"]

_WARM_UP = 0.2  # the share of all epochs in which the rate rises
_UNITS_KEPT = (
    64  # per object, about: compiled code has no gradient by features, and torch keeps all
)


@dataclass(frozen=True)
class TrainingPlan:
    """The settings of a training: its length, its steps, its penalty and when it stops."""

    epochs: int
    batch_size: int
    learning_rate: float
    l2: float
    recipe: Recipe = "modern"
    drop: float = 0.1
    epochs_drop: int = 50
    validation_share: float = 0.0
    patience: int = 0
    clip: float = 1.0

    def learning_rate_factor(self, epoch: float) -> float:
        """Return the share of the learning rate that is used at this (fractional) epoch.

        ``paper``: step decay, d_r^⌊e/e_drop⌋. ``modern``: one cycle, a linear rise and the
        falling half of a cosine.
        """
        if self.recipe == "paper":
            return float(self.drop ** (epoch // self.epochs_drop))
        progress = epoch / self.epochs
        if progress < _WARM_UP:
            return 0.04 + 0.96 * progress / _WARM_UP
        return 0.5 + 0.5 * math.cos(math.pi * (progress - _WARM_UP) / (1 - _WARM_UP))


class Trainer:
    """A network in training, in place, on its device.

    Random numbers follow from the seed and the number of the epoch, so that weights, optimizer
    and that number are enough to continue as if nothing had happened.
    """

    def __init__(self, network: nn.Module, loss: TaskLoss, plan: TrainingPlan, *, seed: int):
        self.network, self.loss, self.plan, self.seed = network, loss, plan, seed
        self.n_epochs = 0
        self._optimizer = _optimizer(network, plan)

    def epoch(self, data: TaskTensors, learned: TaskNumbers | None = None) -> dict[str, float]:
        """Learn from each task once, in a new order; return a row of the log."""
        rng = np.random.default_rng([self.seed, self.n_epochs])
        order = rng.permutation(np.arange(len(data.sizes)) if learned is None else learned)
        with fast_products(data.device):
            row = {"epoch": self.n_epochs + 1.0, "loss": self._steps(data, order)}
        _check_finite(row)
        self.n_epochs += 1
        return row

    def _steps(self, data: TaskTensors, order: TaskNumbers) -> float:
        """Take one step per batch; return the mean loss per task.

        Batches are cut into pieces that fit the cache; their gradients add up to that of the
        batch, so the piece changes time and memory and nothing else. The loss stays on the
        device until the end of the epoch: nothing waits for it.
        """
        plan = self.plan
        self.network.train()
        total = torch.zeros((), device=data.device)
        for start in range(0, len(order), plan.batch_size):
            numbers = order[start : start + plan.batch_size]
            for group in self._optimizer.param_groups:
                factor = plan.learning_rate_factor(self.n_epochs + start / len(order))
                group["lr"] = plan.learning_rate * factor
            total += _gradients(self.network, data, numbers, self.loss)
            if plan.clip:
                nn.utils.clip_grad_norm_(self.network.parameters(), plan.clip)
            self._optimizer.step()
        return float(total) / data.count(order)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return weights and optimizer as named arrays, for ``restore``."""
        named = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        for number, values in self._optimizer.state_dict()["state"].items():
            named |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
        return {name: value.cpu().numpy() for name, value in named.items()}

    def restore(self, state: Mapping[str, NDArray[Any]], n_epochs: int) -> None:
        """Continue from the state after that many epochs."""
        weights: dict[str, Tensor] = {}
        moments: dict[int, dict[str, Tensor]] = {}
        try:
            for path, array in state.items():
                part, _, name = path.partition(".")
                if part == "optimizer":
                    number, _, name = name.partition(".")
                    moments.setdefault(int(number), {})[name] = torch.from_numpy(array)
                else:
                    weights[name] = torch.from_numpy(array)
            self.network.load_state_dict(weights)
            groups = self._optimizer.state_dict()["param_groups"]
            self._optimizer.load_state_dict({"state": moments, "param_groups": groups})
        except (RuntimeError, ValueError, TypeError) as error:
            raise InvalidFile(f"this is not the state of such a network: {error}") from error
        self.n_epochs = n_epochs


def train(trainer: Trainer, tasks: ChoiceTasks, *, on_epoch: OnEpoch | None = None) -> TrainingLog:
    """Train for the planned epochs, or until held-out tasks say to stop; return the log."""
    network, plan = trainer.network, trainer.plan
    data = TaskTensors(tasks, network)
    learned, held_out = _hold_out(tasks, plan, trainer.seed)
    best = _BestWeights(plan.patience)
    log: TrainingLog = []
    while trainer.n_epochs < plan.epochs:
        row = trainer.epoch(data, learned)
        if len(held_out):
            row["validation_loss"] = mean_loss(network, data, held_out, trainer.loss)
            _check_finite(row)
        log.append(row)
        if on_epoch is not None:
            on_epoch(row)
        if len(held_out) and best.stop(network, row["validation_loss"]):
            break
    best.restore(network)
    network.eval()
    return log


def _gradients(network: Any, data: TaskTensors, numbers: TaskNumbers, loss: TaskLoss) -> Tensor:
    """Set the gradients of a batch, piece by piece; return its summed loss, on the device.

    Repeat with pieces of half the size where the device's memory is too small.
    """
    while True:
        network.zero_grad(set_to_none=True)
        total = torch.zeros((), device=data.device)
        pieces = list(_training_pieces(network, data, numbers))
        try:
            for piece in pieces:
                batch = data.batch(piece)
                losses = loss(network(batch.x, batch.mask), batch.chosen, batch.mask)  # (tasks,)
                losses = data.weighted(losses, piece)
                (losses.sum() / len(numbers)).backward()  # type: ignore[no-untyped-call]
                total += losses.detach().sum()
        except torch.OutOfMemoryError as error:
            if len(pieces) == len(numbers) or _needs_whole_batch(network):
                whole = _needs_whole_batch(network)
                what = "a batch, whole for its normalization" if whole else "one task"
                raise MemoryError(f"{data.device} is too small for {what}: {error}") from error
            halve_floats_at_once(data.device)
            continue
        return total


def _training_pieces(
    network: Any, data: TaskTensors, numbers: TaskNumbers
) -> Iterator[TaskNumbers]:
    if _needs_whole_batch(network):
        return iter([numbers])
    return data.pieces(numbers, network, floats_at_once(data.device))


def _needs_whole_batch(network: nn.Module) -> bool:
    """Tell whether the network normalizes by the whole batch."""
    return any(isinstance(module, MaskedBatchNorm) for module in network.modules())


@torch.inference_mode()
def mean_loss(network: Any, data: TaskTensors, numbers: TaskNumbers, loss: TaskLoss) -> float:
    """Return the mean loss per task, without a training step."""
    network.eval()
    total = torch.zeros((), device=data.device)
    with fast_products(data.device):
        for piece in data.pieces(numbers, network, floats_at_once(data.device)):
            batch = data.batch(piece)
            losses = loss(network(batch.x, batch.mask), batch.chosen, batch.mask)
            total += data.weighted(losses, piece).sum()
    return float(total) / data.count(numbers)


@torch.inference_mode()
def predict(network: Any, tasks: ChoiceTasks) -> NDArray[np.float32]:
    """Return one utility per entry, computed in pieces that fit the cache."""
    data = TaskTensors(tasks, network)
    utilities = torch.empty(tasks.n_entries, device=data.device)
    network.eval()
    with fast_products(data.device):
        for piece in data.pieces(np.arange(len(tasks)), network, floats_at_once(data.device)):
            batch = data.batch(piece)
            values = network(batch.x, batch.mask)  # (tasks, objects)
            if batch.mask is None:
                utilities[batch.entries.flatten()] = values.flatten()
            else:
                utilities[batch.entries[batch.mask]] = values[batch.mask]
    result: NDArray[np.float32] = utilities.cpu().numpy()
    return result


def gradient(
    network: Any, tasks: ChoiceTasks, weights: NDArray[np.floating[Any]]
) -> NDArray[np.float32]:
    """Return the gradient of a weighted sum of utilities, (n_entries, n_features)."""
    data = TaskTensors(tasks, network)
    of_entries = torch.from_numpy(weights.astype(np.float32)).to(data.device)
    slopes = torch.empty((tasks.n_entries, tasks.n_features), device=data.device)
    network.eval()
    budget = floats_at_once(data.device) // _UNITS_KEPT
    with fast_products(data.device), torch.enable_grad():
        for piece in data.pieces(np.arange(len(tasks)), network, budget):
            batch = data.batch(piece)
            x = batch.x.detach().requires_grad_()
            values = network(x, batch.mask)  # (tasks, objects)
            there = torch.ones_like(values, dtype=torch.bool) if batch.mask is None else batch.mask
            total = (values * of_entries[batch.entries])[there].sum()
            (by_feature,) = torch.autograd.grad(total, x)
            slopes[batch.entries[there]] = by_feature[there]
    slopes *= network.inverse  # by features as they were before they were scaled
    result: NDArray[np.float32] = slopes.cpu().numpy()
    return result


def _hold_out(tasks: ChoiceTasks, plan: TrainingPlan, seed: int) -> tuple[TaskNumbers, TaskNumbers]:
    if plan.validation_share == 0 or len(tasks) < 2:
        return np.arange(len(tasks)), np.arange(0)
    return stratified_shuffle_splits(tasks, 1, plan.validation_share, seed)[0]


def _optimizer(network: nn.Module, plan: TrainingPlan) -> torch.optim.Optimizer:
    """Return the recipe's optimizer; only weights are drawn to zero, biases are not."""
    weights = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    others = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": weights}, {"params": others, "weight_decay": 0.0}]
    if plan.recipe == "paper":  # the gradient of the penalty l2 · |w|² is 2 · l2 · w
        decay = 2 * plan.l2
        return torch.optim.SGD(
            groups, plan.learning_rate, momentum=0.9, nesterov=True, weight_decay=decay
        )
    return torch.optim.AdamW(groups, plan.learning_rate, weight_decay=plan.l2, fused=True)


class _BestWeights:
    """Keep the weights with the smallest validation loss; tell when to stop."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._least = math.inf
        self._waited = 0
        self._weights: dict[str, Tensor] | None = None

    def stop(self, network: nn.Module, loss: float) -> bool:
        self._waited += 1
        if loss < self._least:
            self._least, self._waited = loss, 0
            self._weights = {name: value.clone() for name, value in network.state_dict().items()}
        return 0 < self._patience <= self._waited

    def restore(self, network: nn.Module) -> None:
        if self._weights is not None:
            network.load_state_dict(self._weights)


def _check_finite(row: dict[str, float]) -> None:
    for name, value in row.items():
        if not math.isfinite(value):
            where = f"{name} became {value} in epoch {row['epoch']:.0f}"
            raise TrainingDiverged(f"{where}: a smaller learning rate may help")
