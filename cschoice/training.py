"""The one training loop of all networks, and prediction in pieces."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.errors import InvalidParameter, TrainingDiverged
from cschoice.nets import MaskedBatchNorm, floats_at_once
from cschoice.splits import stratified_shuffle_splits
from cschoice.tasks import ChoiceTasks

TaskNumbers = NDArray[np.int64]
TaskLoss = Callable[[Tensor, Tensor, Tensor | None], Tensor]
TrainingLog = list[dict[str, float]]
OnEpoch = Callable[[dict[str, float]], None]
Recipe = Literal["modern", "paper"]


class Network(Protocol):
    """A module from padded tasks to utilities, that knows how large its activations are."""

    def __call__(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Map scaled features (tasks, objects, features) to utilities (tasks, objects)."""

    def scaled(self, table: Tensor) -> Tensor:
        """Return the items (items, features) as the network wants them."""

    def floats_per_task(self, n_objects: int) -> int:
        """Return the size of the largest activation of one task."""


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


class Batch(NamedTuple):
    """A rectangle of tasks on the device; no mask if there is no padding."""

    x: Tensor  # (tasks, objects, features)
    mask: Tensor | None  # (tasks, objects)
    chosen: Tensor  # (tasks, objects)
    entries: Tensor  # (tasks, objects)


class TaskTensors:
    """Choice tasks on a device: the item table and item numbers go there once.

    So does the scaling: once per item, not once per use.
    """

    def __init__(self, tasks: ChoiceTasks, network: Any) -> None:
        self.sizes = tasks.sizes
        self.device = device = next(network.parameters()).device
        table, items = tasks.table, tasks.items
        if len(table) > len(items):  # a small slice of many items
            table, items = tasks.features, np.arange(len(items))
        with torch.no_grad():
            self._table = network.scaled(_to_device(table, device))
        self._items = _to_device(items, device)
        self._starts = _to_device(tasks.offsets[:-1], device)
        self._sizes = _to_device(self.sizes, device)
        self._chosen = _to_device(tasks.chosen, device)

    def batch(self, numbers: TaskNumbers) -> Batch:
        """Gather these tasks, padded to the largest of them."""
        sizes = self.sizes[numbers]
        chosen_tasks = torch.from_numpy(numbers).to(self.device, non_blocking=True)
        positions = torch.arange(int(sizes.max()), device=self.device)
        entries = self._starts[chosen_tasks].unsqueeze(1) + positions  # (tasks, objects)
        if sizes.min() == sizes.max():
            return Batch(self._x(entries), None, self._chosen[entries], entries)
        mask = positions < self._sizes[chosen_tasks].unsqueeze(1)  # (tasks, objects)
        entries = torch.where(mask, entries, 0)
        x = self._x(entries) * mask.unsqueeze(-1)  # (tasks, objects, features)
        return Batch(x, mask, self._chosen[entries] & mask, entries)

    def _x(self, entries: Tensor) -> Tensor:
        rows = self._table.index_select(0, self._items[entries.flatten()])
        x: Tensor = rows.unflatten(0, entries.shape)  # (tasks, objects, features)
        return x

    def pieces(self, numbers: TaskNumbers, network: Network, budget: int) -> Iterator[TaskNumbers]:
        """Cut a selection into pieces of similar size whose activations fit the budget.

        Sorted by size first: a batch of the most different tasks is padded little.
        """
        numbers = numbers[np.argsort(self.sizes[numbers], kind="stable")]
        end = len(numbers)
        while end > 0:  # the largest task of a piece is its last
            at_once = budget // network.floats_per_task(int(self.sizes[numbers[end - 1]]))
            start = max(0, end - max(1, at_once))
            yield numbers[start:end]
            end = start


def device_named(name: str) -> torch.device:
    """Return a device: cpu, cuda, cuda:1, mps, or auto for the best there is."""
    if name == "auto":
        name = "cpu"
        if torch.backends.mps.is_available():
            name = "mps"
        if torch.cuda.is_available():
            name = "cuda"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        allowed = "allowed: cpu, cuda, cuda:<number>, mps, auto"
        raise InvalidParameter(f"device {name} is not there ({error}); {allowed}") from error
    return device


def train(
    network: nn.Module,
    tasks: ChoiceTasks,
    loss: TaskLoss,
    plan: TrainingPlan,
    *,
    seed: int,
    on_epoch: OnEpoch | None = None,
) -> TrainingLog:
    """Train the network in place, on the device it is on; return one row per epoch.

    Batches are cut into pieces that fit the cache; their gradients add up to that of the batch,
    so the piece changes time and memory and nothing else. The loss stays on the device until
    the end of the epoch: nothing waits for it.
    """
    data = TaskTensors(tasks, network)
    rng = np.random.default_rng(seed)
    training, held_out = _hold_out(tasks, plan, seed)
    optimizer = _optimizer(network, plan)
    best = _BestWeights(plan.patience)
    log: TrainingLog = []
    with _fast_products(data.device):
        for epoch in range(plan.epochs):
            network.train()
            total = torch.zeros((), device=data.device)
            order = rng.permutation(training)
            for start in range(0, len(order), plan.batch_size):
                factor = plan.learning_rate_factor(epoch + start / len(order))
                for group in optimizer.param_groups:
                    group["lr"] = plan.learning_rate * factor
                numbers = order[start : start + plan.batch_size]
                total += _step(network, data, numbers, loss, optimizer, plan.clip) * len(numbers)
            row = {"epoch": float(epoch + 1), "loss": float(total) / len(order)}
            if len(held_out):
                row["validation_loss"] = mean_loss(network, data, held_out, loss)
            _check_finite(row)
            log.append(row)
            if on_epoch is not None:
                on_epoch(row)
            if len(held_out) and best.stop(network, row["validation_loss"]):
                break
    best.restore(network)
    network.eval()
    return log


def _step(
    network: Any,
    data: TaskTensors,
    numbers: TaskNumbers,
    loss: TaskLoss,
    optimizer: torch.optim.Optimizer,
    clip: float,
) -> Tensor:
    """Take one step on a batch; return its mean loss, still on the device."""
    optimizer.zero_grad(set_to_none=True)
    total = torch.zeros((), device=data.device)
    for piece in _training_pieces(network, data, numbers):
        batch = data.batch(piece)
        share = loss(network(batch.x, batch.mask), batch.chosen, batch.mask).sum() / len(numbers)
        share.backward()  # type: ignore[no-untyped-call]
        total += share.detach()
    if clip:
        nn.utils.clip_grad_norm_(network.parameters(), clip)
    optimizer.step()
    return total


def _training_pieces(
    network: Any, data: TaskTensors, numbers: TaskNumbers
) -> Iterator[TaskNumbers]:
    if any(isinstance(module, MaskedBatchNorm) for module in network.modules()):
        return iter([numbers])  # its statistics are those of the whole batch
    return data.pieces(numbers, network, floats_at_once(data.device))


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
    with _fast_products(data.device):
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
    return next(stratified_shuffle_splits(tasks, 1, plan.validation_share, seed))


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


@contextmanager
def _fast_products(device: torch.device) -> Iterator[None]:
    """Let tensor cores do float32 products on CUDA, and leave the setting as it was."""
    if device.type != "cuda":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _to_device(values: NDArray[Any], device: torch.device) -> Tensor:
    return torch.tensor(values, device=device)
