"""The one training loop of all networks, and prediction in pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.errors import TrainingDiverged
from cschoice.nets import MaskedBatchNorm, floats_at_once, halve_floats_at_once
from cschoice.splits import stratified_shuffle_splits
from cschoice.tasks import ChoiceTasks
from cschoice.tensors import TaskNumbers, TaskTensors, fast_products

TaskLoss = Callable[[Tensor, Tensor, Tensor | None], Tensor]
TrainingLog = list[dict[str, float]]
OnEpoch = Callable[[dict[str, float]], None]
Recipe = Literal["modern", "paper"]


@dataclass(frozen=True)
class TrainingPlan:
    """How long and how fast to learn."""

    epochs: int
    batch_size: int
    learning_rate: float
    l2: float
    recipe: Recipe = "modern"
    drop: float = 0.1
    epochs_drop: int = 50
    validation_share: float = 0.0
    patience: int = 0
    warm_up: float = 0.2
    clip: float = 1.0

    def learning_rate_factor(self, epoch: float) -> float:
        """Return the share of the learning rate that is used at this (fractional) epoch.

        ``paper``: step decay, d_r^⌊e/e_drop⌋. ``modern``: one cycle, a linear rise and the
        falling half of a cosine.
        """
        if self.recipe == "paper":
            return float(self.drop ** (epoch // self.epochs_drop))
        progress = epoch / self.epochs
        if progress < self.warm_up:
            return 0.04 + 0.96 * progress / self.warm_up
        return 0.5 + 0.5 * math.cos(math.pi * (progress - self.warm_up) / (1 - self.warm_up))


def train(
    network: nn.Module,
    tasks: ChoiceTasks,
    loss: TaskLoss,
    plan: TrainingPlan,
    *,
    seed: int,
    on_epoch: OnEpoch | None = None,
    fresh: Callable[[int], ChoiceTasks] | None = None,
) -> TrainingLog:
    """Train the network in place, on the device it is on; return one row per epoch.

    ``fresh`` gives other tasks for every epoch but the first: a stream without end.
    """
    rng = np.random.default_rng(seed)
    data = TaskTensors(tasks, network)
    learned, held_out = _hold_out(tasks, plan, seed)
    watched = data
    optimizer = _optimizer(network, plan)
    best = _BestWeights(plan.patience)
    log: TrainingLog = []
    with fast_products(data.device):
        for epoch in range(plan.epochs):
            if fresh is not None and epoch > 0:
                data = TaskTensors(fresh(epoch), network)
                learned = np.arange(len(data.sizes))
            order = rng.permutation(learned)
            row = {"epoch": float(epoch + 1)}
            row["loss"] = _epoch(network, data, order, loss, optimizer, plan, epoch)
            if len(held_out):
                row["validation_loss"] = mean_loss(network, watched, held_out, loss)
            _check_finite(row)
            log.append(row)
            if on_epoch is not None:
                on_epoch(row)
            if len(held_out) and best.stop(network, row["validation_loss"]):
                break
    best.restore(network)
    network.eval()
    return log


def _epoch(
    network: Any,
    data: TaskTensors,
    order: TaskNumbers,
    loss: TaskLoss,
    optimizer: torch.optim.Optimizer,
    plan: TrainingPlan,
    epoch: int,
) -> float:
    """Take one step per batch; return the mean loss per task.

    Batches are cut into pieces that fit the cache; their gradients add up to that of the batch,
    so the piece changes time and memory and nothing else. The loss stays on the device until
    the end of the epoch: nothing waits for it.
    """
    network.train()
    total = torch.zeros((), device=data.device)
    for start in range(0, len(order), plan.batch_size):
        numbers = order[start : start + plan.batch_size]
        for group in optimizer.param_groups:
            factor = plan.learning_rate_factor(epoch + start / len(order))
            group["lr"] = plan.learning_rate * factor
        total += _gradients(network, data, numbers, loss)
        if plan.clip:
            nn.utils.clip_grad_norm_(network.parameters(), plan.clip)
        optimizer.step()
    return float(total) / len(order)


def _gradients(network: Any, data: TaskTensors, numbers: TaskNumbers, loss: TaskLoss) -> Tensor:
    """Set the gradients of a batch, piece by piece; return its summed loss, on the device.

    Where the device's memory is too small, again with pieces of half the size.
    """
    while True:
        network.zero_grad(set_to_none=True)
        total = torch.zeros((), device=data.device)
        pieces = list(_training_pieces(network, data, numbers))
        try:
            for piece in pieces:
                batch = data.batch(piece)
                losses = loss(network(batch.x, batch.mask), batch.chosen, batch.mask)  # (tasks,)
                (losses.sum() / len(numbers)).backward()  # type: ignore[no-untyped-call]
                total += losses.detach().sum()
        except torch.OutOfMemoryError as error:
            if len(pieces) == len(numbers) or _needs_whole_batch(network):
                raise MemoryError(f"{data.device} is too small for one task: {error}") from error
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
    """Say whether the network's statistics are those of the whole batch."""
    return any(isinstance(module, MaskedBatchNorm) for module in network.modules())


@torch.inference_mode()
def mean_loss(network: Any, data: TaskTensors, numbers: TaskNumbers, loss: TaskLoss) -> float:
    """Return the mean loss per task, without learning from it."""
    network.eval()
    total = torch.zeros((), device=data.device)
    for piece in data.pieces(numbers, network, floats_at_once(data.device)):
        batch = data.batch(piece)
        total += loss(network(batch.x, batch.mask), batch.chosen, batch.mask).sum()
    return float(total) / len(numbers)


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
    return torch.optim.AdamW(groups, plan.learning_rate, weight_decay=plan.l2)


class _BestWeights:
    """Keep the weights with the smallest validation loss; say when to give up."""

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
