"""The order of objects that makes likelihoods fast: tasks of equal size in one matrix.

A likelihood reduces over the objects of each task. Tasks of one size form a matrix (objects,
tasks) in which that reduction runs along the slow axis, so every operation is one long vector
operation. Matrices are cut into blocks that fit into the processor's cache. No other module of
the family has to handle tasks of different size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.io.large_arrays import room
from cschoice.tasks import ChoiceTasks, Kind
from cschoice.tasks.scaling import is_constant

Values = NDArray[Any]  # float64, or complex128 in a derivative by complex steps

_BLOCK_ENTRIES = 16_384
_VALUES_AT_ONCE = 2_000_000  # of linear functions, in a run of blocks
_CONVERTED_AT_ONCE = 1_000_000  # features converted from single to double precision


@dataclass(frozen=True)
class Block:
    """Tasks of one size whose entries are contiguous in the layout."""

    entries: slice
    size: int
    n_tasks: int
    first_task: int  # position of the first task in the order of the layout

    @property
    def tasks(self) -> slice:
        """Return the positions of the tasks in the order of the layout."""
        return slice(self.first_task, self.first_task + self.n_tasks)

    def view(self, values: Values, start: int = 0) -> Values:
        """Return the block's part of values that begin at entry ``start``, (..., size, n_tasks)."""
        part = values[..., self.entries.start - start : self.entries.stop - start]
        return part.reshape(*values.shape[:-1], self.size, self.n_tasks)


class TaskLayout:
    """The objects of tasks, arranged in blocks of tasks of equal size.

    With ``chosen_first`` (to learn singleton choice) the first object of each task is the chosen
    one. ``intercept`` adds a constant feature of value one.
    """

    def __init__(
        self,
        tasks: ChoiceTasks,
        *,
        chosen_first: bool = False,
        intercept: bool = False,
        block_entries: int = _BLOCK_ENTRIES,
    ) -> None:
        self.blocks: list[Block] = []
        self._entry_weights: NDArray[np.float64] | None = None
        self.n_tasks, self.n_entries = len(tasks), tasks.n_entries
        swap = chosen_first and tasks.kind is Kind.SINGLETON
        top = np.flatnonzero(tasks.chosen) if swap else tasks.offsets[:-1]
        self.order, self.task_numbers = self._arrange(tasks, top, max(1, block_entries))
        self.kind, self.chosen = tasks.kind, tasks.chosen[self.order]
        self.weights = None if tasks.weights is None else tasks.weights[self.task_numbers]
        self._columns, self._items = _columns(tasks.table, tasks.items[self.order], intercept)
        self.n_features = len(self._columns)

    def _arrange(
        self, tasks: ChoiceTasks, top: NDArray[np.int64], block_entries: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Cut tasks into blocks; return the entry at each place, the task at each position."""
        order = np.empty(tasks.n_entries, dtype=np.int64)
        task_numbers = np.empty(len(tasks), dtype=np.int64)
        sizes, starts = tasks.sizes, tasks.offsets[:-1]
        place = first_task = 0
        for size in np.unique(sizes).tolist():
            numbers = np.flatnonzero(sizes == size)
            step = max(1, block_entries // size)
            for begin in range(0, len(numbers), step):
                part = numbers[begin : begin + step]
                block = Block(slice(place, place + size * len(part)), size, len(part), first_task)
                entries = starts[part] + np.arange(size)[:, None]
                # Exchange the first object with the one that belongs on top.
                entries[top[part] - starts[part], np.arange(len(part))] = starts[part]
                entries[0] = top[part]
                order[block.entries] = entries.ravel()
                task_numbers[first_task : first_task + len(part)] = part
                self.blocks.append(block)
                place, first_task = block.entries.stop, first_task + len(part)
        return order, task_numbers

    def linear(self, weights: Values) -> Values:
        """Return linear functions of each object's features; ``weights`` is (..., n_features)."""
        values = weights @ self._columns
        return values if self._items is None else values[..., self._items]

    def transposed(self, residuals: Values) -> Values:
        """Return sums of features weighted by residuals: the transpose of ``linear``."""
        if self._items is not None:
            residuals = sums_by_item(residuals, self._items, self._columns.shape[1])
        return residuals @ self._columns.T

    def weights_of(self, block: Block) -> NDArray[np.float64] | float:
        """Return how much each task of a block counts: one, unless the tasks have weights."""
        return 1.0 if self.weights is None else self.weights[block.tasks]

    def entry_weights(self, entries: slice | None = None) -> NDArray[np.float64] | float:
        """Return the weight of the task of each place."""
        if self.weights is None:
            return 1.0
        if self._entry_weights is None:
            parts = [np.tile(self.weights[block.tasks], block.size) for block in self.blocks]
            self._entry_weights = np.concatenate(parts)
        return self._entry_weights if entries is None else self._entry_weights[entries]

    def by_task(self, residuals: Values) -> Values:
        """Return the sums of ``transposed`` task by task, (n_tasks, n_features), as tasks come."""
        sums = np.empty((self.n_tasks, self.n_features), dtype=residuals.dtype)
        for block in self.blocks:
            part = np.einsum("fjn,jn->nf", self.features(block), block.view(residuals))
            sums[self.task_numbers[block.tasks]] = part
        return sums

    def features(self, block: Block) -> NDArray[np.float64]:
        """Return the features of a block's objects, (n_features, size, n_tasks)."""
        if self._items is None:
            return block.view(self._columns)
        columns: NDArray[np.float64] = self._columns[:, self._items[block.entries]]
        return columns.reshape(-1, block.size, block.n_tasks)

    def gradient(self, weights: Values, to_residuals: Callable[[Block, Values], None]) -> Values:
        """Return ``transposed(residuals)`` with residuals computed from ``linear(weights)``.

        ``to_residuals`` gets a block and its values, (..., size, n_tasks), and replaces them by
        residuals in place, so that only some blocks are in memory at a time.
        """
        width = self._columns.shape[1]
        gradient = np.zeros_like(weights)
        sums = np.zeros((*weights.shape[:-1], width * (self._items is not None)), weights.dtype)
        for run, values, views in self.linear_runs(weights):
            for block, view in views:
                to_residuals(block, view)
            if self._items is None:
                gradient += values @ self._columns[:, run].T
            else:
                sums += sums_by_item(values, self._items[run], width)
        return gradient if self._items is None else sums @ self._columns.T

    def linear_runs(
        self, weights: Values
    ) -> Iterator[tuple[slice, Values, list[tuple[Block, Values]]]]:
        """Yield ``linear`` by runs of entries: the run, its values, and its blocks with views."""
        by_item = None if self._items is None else weights @ self._columns
        n_functions = max(1, int(np.prod(weights.shape[:-1])))
        for blocks in self._runs(_VALUES_AT_ONCE // n_functions):
            run = slice(blocks[0].entries.start, blocks[-1].entries.stop)
            if by_item is None or self._items is None:
                values = weights @ self._columns[:, run]
            else:
                values = by_item[..., self._items[run]]
            yield run, values, [(block, block.view(values, run.start)) for block in blocks]

    def _runs(self, n_entries: int) -> Iterator[list[Block]]:
        """Yield lists of consecutive blocks with at least ``n_entries`` entries."""
        run: list[Block] = []
        for block in self.blocks:
            run.append(block)
            if block.entries.stop - run[0].entries.start >= n_entries:
                yield run
                run = []
        if run:
            yield run

    def restore(self, values: Values) -> Values:
        """Return values of the layout's places in the order of the tasks' entries."""
        restored = np.empty_like(values)
        restored[..., self.order] = values
        return restored

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return mean and standard deviation of each feature; 1 for a constant feature."""
        counts = np.ones(self._columns.shape[1])
        if self._items is not None:
            counts = np.bincount(self._items, minlength=len(counts)).astype(np.float64)
        mean = self._columns @ counts / self.n_entries
        variance = np.array(
            [(row - m) ** 2 @ counts for row, m in zip(self._columns, mean, strict=True)]
        )
        deviation = np.sqrt(variance / self.n_entries)
        return mean, np.where(is_constant(deviation, mean), 1.0, deviation)


def linear_utilities(tasks: ChoiceTasks, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a linear function of each entry's features, computed once per item."""
    shared = len(tasks.table) < tasks.n_entries
    n_rows = len(tasks.table) if shared else tasks.n_entries
    step = max(1, _CONVERTED_AT_ONCE // max(1, tasks.n_features))
    parts = []
    for start in range(0, n_rows, step):
        part = slice(start, start + step)
        parts.append(tasks.table[part if shared else tasks.items[part]] @ weights)
    values: NDArray[np.float64] = np.concatenate(parts)
    return values[tasks.items] if shared else values


def _columns(
    table: NDArray[np.float32], items: NDArray[np.int64], intercept: bool
) -> tuple[NDArray[np.float64], NDArray[np.int64] | None]:
    """Return the features as rows, and the column of each place (None: columns are places).

    A table stays shared where that saves work: linear functions are then computed once per item,
    however often it is on offer.
    """
    used = np.zeros(len(table), dtype=bool)
    used[items] = True
    n_used = int(np.count_nonzero(used))
    shared = 2 * n_used < len(items)
    if shared:
        rows, places = np.flatnonzero(used), (np.cumsum(used) - 1)[items]
    else:
        rows, places = items, None
    columns = np.asarray(room((table.shape[1] + intercept, len(rows)), np.float64))
    step = max(1, _CONVERTED_AT_ONCE // table.shape[1])
    for start in range(0, len(rows), step):
        columns[: table.shape[1], start : start + step] = table[rows[start : start + step]].T
    if intercept:
        columns[-1] = 1.0
    return columns, places


def sums_by_item(values: Values, items: NDArray[np.int64], n_items: int) -> Values:
    """Return the sums of the values of each item, along the last axis."""
    flat = values.reshape(-1, values.shape[-1])
    sums = np.zeros((len(flat), n_items), dtype=values.dtype)
    for total, row in zip(sums, flat, strict=True):
        total += np.bincount(items, row.real, n_items)
        if np.iscomplexobj(row):
            total += 1j * np.bincount(items, row.imag, n_items)
    return sums.reshape(*values.shape[:-1], n_items)
