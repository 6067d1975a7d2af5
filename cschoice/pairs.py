"""The pair block of FETA: hidden layers over all ordered pairs of a task, summed per object.

This is where FETA spends its time: n² pairs of n objects. Three things keep it cheap. The first
layer is split, ``W [x; y] = A x + B y``, so it is computed per object and only added per pair.
The last layer is linear, so hidden units are summed over pairs before it. And activations live
in buffers that are used again and again, for chunks of pairs small enough for the cache; what
the backward pass does not find there any more it computes a second time. Memory is therefore
bounded by the chunk, whatever the number of tasks and objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

_aten = torch.ops.aten
_SELU = (1.6732632423543772, 1.0507009873554805, 1.0)


@dataclass(frozen=True)
class Activation:
    """A nonlinearity, its in-place forms, and the gain that keeps variances (He, Glorot)."""

    apply: Callable[[Tensor], Tensor]
    into: Callable[[Tensor, Tensor], Any]  # (z, out): write the activation of z
    backward: Callable[[Tensor, Tensor, Tensor], Any]  # (gradient, z, h): in place
    gain: float
    needs_input: bool = False  # the derivative is computed from z, not from h


def _relu_backward(gradient: Tensor, _: Tensor, h: Tensor) -> None:
    _aten.threshold_backward.grad_input(gradient, h, 0, grad_input=gradient)


def _selu_into(z: Tensor, out: Tensor) -> None:
    _aten.elu.out(z, *_SELU, out=out)


def _selu_backward(gradient: Tensor, _: Tensor, h: Tensor) -> None:
    _aten.elu_backward.grad_input(gradient, *_SELU, True, h, grad_input=gradient)


def _gelu_into(z: Tensor, out: Tensor) -> None:
    _aten.gelu.out(z, out=out)


def _gelu_backward(gradient: Tensor, z: Tensor, _: Tensor) -> None:
    _aten.gelu_backward.grad_input(gradient, z, grad_input=gradient)


def _silu_into(z: Tensor, out: Tensor) -> None:
    _aten.silu.out(z, out=out)


def _silu_backward(gradient: Tensor, z: Tensor, _: Tensor) -> None:
    _aten.silu_backward.grad_input(gradient, z, grad_input=gradient)


def _tanh_backward(gradient: Tensor, _: Tensor, h: Tensor) -> None:
    _aten.tanh_backward.grad_input(gradient, h, grad_input=gradient)


ACTIVATIONS = {
    "relu": Activation(F.relu, lambda z, out: torch.clamp_min(z, 0, out=out), _relu_backward, 2.0),
    "gelu": Activation(F.gelu, _gelu_into, _gelu_backward, 2.0, needs_input=True),
    "silu": Activation(F.silu, _silu_into, _silu_backward, 2.0, needs_input=True),
    "selu": Activation(F.selu, _selu_into, _selu_backward, 1.0),
    "tanh": Activation(torch.tanh, lambda z, out: torch.tanh(z, out=out), _tanh_backward, 1.0),
}


class Chunk(NamedTuple):
    """Which tasks, and which objects as the first of a pair, go through at once."""

    tasks: slice
    rows: slice


def chunks(n_tasks: int, n_objects: int, n_units: int, floats_at_once: int) -> Iterator[Chunk]:
    """Yield whole tasks as long as one fits, else rows of one task.

    >>> [len(list(chunks(6, 10, 2, floats))) for floats in (1200, 600, 200, 40)]
    [1, 2, 6, 30]
    """
    per_row = n_objects * n_units
    tasks_at_once = max(1, floats_at_once // (n_objects * per_row))
    rows_at_once = min(n_objects, max(1, floats_at_once // per_row))
    for task in range(0, n_tasks, tasks_at_once):
        for row in range(0, n_objects, rows_at_once):
            yield Chunk(slice(task, task + tasks_at_once), slice(row, row + rows_at_once))


class Workspace:
    """Buffers by name that grow on demand; pickled and copied without their content."""

    def __init__(self) -> None:
        self._buffers: dict[str, Tensor] = {}
        self.holds: object = None  # whose activations are in the buffers

    def __reduce__(self) -> tuple[Any, ...]:
        return (Workspace, ())

    def __deepcopy__(self, memo: dict[int, Any]) -> Workspace:
        return Workspace()

    def buffer(self, name: str, like: Tensor, shape: Sequence[int]) -> Tensor:
        """Return an uninitialized tensor of this shape."""
        size = torch.Size(shape)
        flat = self._buffers.get(name)
        n_needed = size.numel()
        if flat is None or (flat.dtype, flat.device) != (like.dtype, like.device):
            flat = None
        if flat is None or flat.numel() < n_needed:
            with torch.inference_mode(False):  # training will write to it after a prediction
                flat = torch.empty(n_needed, dtype=like.dtype, device=like.device)
            self._buffers[name] = flat
        return flat[:n_needed].view(size)


class PairSums(torch.autograd.Function):
    """Sum the last hidden units over the other objects, as first and as second of the pair.

    ``left`` and ``right`` are the two halves of the first layer, (tasks, objects, units); the
    parameters are the further layers, weight and bias in turn. Returns for each x the sums over
    y ≠ x of h(x, y) and of h(y, x): the two outputs that mirrored weights give per pair.
    """

    @staticmethod
    def forward(
        ctx: Any,
        left: Tensor,
        right: Tensor,
        mask: Tensor | None,
        activation: Activation,
        floats_at_once: int,
        workspace: Workspace,
        *parameters: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return both sums, (tasks, objects, units) each."""
        ctx.save_for_backward(left, right, mask, *parameters)
        ctx.fixed = activation, workspace, object()
        n_tasks, n_objects, n_units = left.shape
        ctx.chunks = list(chunks(n_tasks, n_objects, n_units, floats_at_once))
        block = _Block(left, right, mask, parameters, *ctx.fixed)
        first, second = torch.empty_like(left), torch.zeros_like(left)
        for chunk in ctx.chunks:
            h = block.layers(chunk)[-1][1]  # (tasks, rows, objects, units)
            first[chunk.tasks, chunk.rows] = h.sum(2)  # (tasks, rows, units)
            second[chunk.tasks] += h.sum(1)  # (tasks, objects, units)
        return first, second

    @staticmethod
    def backward(ctx: Any, to_first: Tensor, to_second: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of left, right and the parameters."""
        left, right, mask, *parameters = ctx.saved_tensors
        block = _Block(left, right, mask, parameters, *ctx.fixed)
        to_left, to_right = torch.empty_like(left), torch.zeros_like(left)
        to_parameters = [torch.zeros_like(parameter) for parameter in parameters]
        for chunk in reversed(ctx.chunks):  # the last is still in the buffers
            to_z = block.backward(
                chunk, to_first, to_second, to_parameters
            )  # (tasks, rows, objects, units)
            to_left[chunk.tasks, chunk.rows] = to_z.sum(2)  # (tasks, rows, units)
            to_right[chunk.tasks] += to_z.sum(1)  # (tasks, objects, units)
        return to_left, to_right, None, None, None, None, *to_parameters


@dataclass(frozen=True)
class _Block:
    """The hidden layers over pairs, chunk by chunk."""

    left: Tensor  # (tasks, objects, units)
    right: Tensor  # (tasks, objects, units)
    mask: Tensor | None  # (tasks, objects)
    parameters: Sequence[Tensor]
    activation: Activation
    workspace: Workspace
    token: object  # tells this forward pass from others that use the same buffers

    def layers(self, chunk: Chunk) -> list[tuple[Tensor, Tensor]]:
        """Return (z, h) of each layer, computed unless the buffers still hold them."""
        here, there = self.left[chunk.tasks, chunk.rows, None], self.right[chunk.tasks, None]
        shape = (*here.shape[:2], *there.shape[2:])  # (tasks, rows, objects, units)
        layers = []
        for number in range(1 + len(self.parameters) // 2):
            h = self.workspace.buffer(f"h-{number}", here, shape)
            needs_z = self.activation.needs_input
            layers.append((self.workspace.buffer(f"z-{number}", here, shape) if needs_z else h, h))
        if self.workspace.holds == (self.token, chunk):
            return layers
        torch.add(here, there, out=layers[0][0])
        self.activation.into(*layers[0])
        for number in range(1, len(layers)):
            weight, bias = self.parameters[2 * number - 2 : 2 * number]
            below, z = (pairs.flatten(0, 2) for pairs in (layers[number - 1][1], layers[number][0]))
            torch.addmm(bias, below, weight.t(), out=z)
            self.activation.into(*layers[number])
        self._drop_absent(layers[-1][1], chunk)
        self.workspace.holds = (self.token, chunk)
        return layers

    def backward(
        self, chunk: Chunk, to_first: Tensor, to_second: Tensor, to_parameters: list[Tensor]
    ) -> Tensor:
        """Return the gradient of the first layer's sum; add to those of the parameters."""
        layers = self.layers(chunk)
        self.workspace.holds = None  # from here on gradients overwrite activations
        to_h = self.workspace.buffer("gradient", self.left, layers[0][1].shape)
        torch.add(to_first[chunk.tasks, chunk.rows, None], to_second[chunk.tasks, None], out=to_h)
        self._drop_absent(to_h, chunk)
        for number in range(len(layers) - 1, 0, -1):
            self.activation.backward(to_h, *layers[number])
            to_z, below = to_h.flatten(0, 2), layers[number - 1][1].flatten(0, 2)
            to_parameters[2 * number - 2].addmm_(to_z.t(), below)
            to_parameters[2 * number - 1] += to_z.sum(0)
            to_h = layers[number][1]  # done with these units: their place is still in the cache
            torch.mm(to_z, self.parameters[2 * number - 2], out=to_h.flatten(0, 2))
        self.activation.backward(to_h, *layers[0])
        return to_h

    def _drop_absent(self, pairs: Tensor, chunk: Chunk) -> None:
        """Set to zero what belongs to (x, x) or to padding."""
        pairs[:, :, chunk.rows].diagonal(dim1=1, dim2=2).zero_()
        if self.mask is not None:
            present = self.mask[chunk.tasks, chunk.rows, None] & self.mask[chunk.tasks, None]
            pairs.mul_(present.unsqueeze(-1))
