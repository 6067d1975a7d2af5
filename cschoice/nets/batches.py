"""Choice tasks as tensors on a device, in batches and in pieces of batches."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from cschoice.tasks import ChoiceTasks

TaskNumbers = NDArray[np.int64]


class Network(Protocol):
    """A module from padded tasks to utilities that knows the size of its activations."""

    def __call__(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """Map scaled features (tasks, objects, features) to utilities (tasks, objects)."""

    def scaled(self, table: Tensor) -> Tensor:
        """Return the scaled items (items, features)."""

    def floats_per_task(self, n_objects: int) -> int:
        """Return how many numbers one task keeps for the backward pass, roughly."""


class Batch(NamedTuple):
    """A rectangle of tasks on the device; no mask if there is no padding."""

    x: Tensor  # (tasks, objects, features)
    mask: Tensor | None  # (tasks, objects)
    chosen: Tensor  # (tasks, objects)
    entries: Tensor  # (tasks, objects)


SCALED_AT_ONCE = 2**25  # features: 128 MB


class TaskTensors:
    """Choice tasks on a device: the item table is copied there and scaled once.

    A large table stays where it is, perhaps in a file, and its items are scaled batch by batch.
    """

    def __init__(self, tasks: ChoiceTasks, network: Any) -> None:
        self.sizes = tasks.sizes
        self.device = device = next(network.parameters()).device
        table, items = tasks.table, tasks.items
        is_large = device.type == "cpu" and table.size > SCALED_AT_ONCE
        if len(table) > len(items) and not is_large:  # a small slice of many items
            table, items = tasks.features, np.arange(len(items))
        self._scale = network.scaled if is_large else None
        with torch.no_grad():
            self._table = _view(table) if is_large else network.scaled(_to_device(table, device))
        self._items = _to_device(items, device)
        self._starts = _to_device(tasks.offsets[:-1], device)
        self._weights = _of_mean_one(tasks.weights, device)
        self._sizes = _to_device(self.sizes, device)
        self._chosen = _to_device(tasks.chosen, device)
        self._same_size = len(self.sizes) > 0 and bool((self.sizes == self.sizes[0]).all())

    def batch(self, numbers: TaskNumbers) -> Batch:
        """Gather these tasks, padded to the largest of them."""
        sizes = self.sizes[numbers]
        chosen_tasks = torch.from_numpy(numbers).to(self.device, non_blocking=True)
        positions = torch.arange(int(sizes.max()), device=self.device)
        entries = self._starts[chosen_tasks].unsqueeze(1) + positions  # (tasks, objects)
        if self._same_size:  # whole tasks can be copied, which is faster than object by object
            items, chosen = (
                values.view(-1, len(positions)).index_select(0, chosen_tasks)
                for values in (self._items, self._chosen)
            )
            return Batch(self._rows(items), None, chosen, entries)
        if sizes.min() == sizes.max():
            return Batch(self._x(entries), None, self._chosen[entries], entries)
        mask = positions < self._sizes[chosen_tasks].unsqueeze(1)  # (tasks, objects)
        entries = torch.where(mask, entries, 0)
        x = self._x(entries) * mask.unsqueeze(-1)  # (tasks, objects, features)
        return Batch(x, mask, self._chosen[entries] & mask, entries)

    def weighted(self, losses: Tensor, numbers: TaskNumbers) -> Tensor:
        """Return the losses of these tasks, multiplied with how much each task counts."""
        if self._weights is None:
            return losses
        return losses * self._weights[torch.from_numpy(numbers).to(self.device)]

    def count(self, numbers: TaskNumbers) -> float:
        """Return how much these tasks count together."""
        if self._weights is None:
            return len(numbers)
        return float(self._weights[torch.from_numpy(numbers).to(self.device)].sum())

    def _x(self, entries: Tensor) -> Tensor:
        return self._rows(self._items[entries])

    def _rows(self, items: Tensor) -> Tensor:
        rows = self._table.index_select(0, items.flatten())
        if self._scale is not None:
            with torch.no_grad():
                rows = self._scale(rows)
        x: Tensor = rows.unflatten(0, items.shape)  # (tasks, objects, features)
        return x

    def pieces(self, numbers: TaskNumbers, network: Network, budget: int) -> Iterator[TaskNumbers]:
        """Cut a selection into pieces of similar size whose activations fit the budget.

        Sorted by size first: tasks of very different sizes are padded little.
        """
        numbers = numbers[np.argsort(self.sizes[numbers], kind="stable")]
        end = len(numbers)
        while end > 0:  # the largest task of a piece is its last
            floats = network.floats_per_task(int(self.sizes[numbers[end - 1]]))
            n_pieces = math.ceil(end / max(1, budget // floats))
            start = end - math.ceil(end / n_pieces)  # rather 16 and 16 than 30 and 2
            yield numbers[start:end]
            end = start


def _view(values: NDArray[Any]) -> Tensor:
    """Return a tensor of the same memory, which nobody writes to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch has no tensors that are read only
        return torch.from_numpy(values)


def _to_device(values: NDArray[Any], device: torch.device) -> Tensor:
    return torch.tensor(values, device=device)


def _of_mean_one(weights: NDArray[np.float64] | None, device: torch.device) -> Tensor | None:
    """Return the weights of tasks with a mean of one: losses keep their size."""
    if weights is None:
        return None
    return _to_device((weights / weights.mean()).astype(np.float32), device)
