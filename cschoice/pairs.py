"""The pair block of FETA: hidden layers over all pairs of a task, summed per object.

This is where FETA spends its time: n² / 2 pairs of n objects. Four things keep it cheap. Weights
are mirrored, so each unordered pair is evaluated once for both of its objects. The first layer is
split, ``W [x; y] = A x + B y``, so it is computed per object and only added per pair. The last
layer is linear, so hidden units are summed over pairs before it. And activations live in buffers
that are used again and again, for chunks of pairs small enough for the cache; what the backward
pass does not find there any more it computes a second time. Memory is therefore bounded by the
chunk, whatever the number of tasks and objects.

Pairs are laid out by *step*: object i stands beside object i + s, counted round the task, for
s = 1 … n/2. That is every unordered pair once, as a rectangle. (With an even n the last step has
each of its pairs twice: there both count half.)
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
    """Which tasks, and which steps from the first to the second object, go through at once."""

    tasks: slice
    steps: range


def chunks(n_tasks: int, n_objects: int, n_units: int, floats_at_once: int) -> Iterator[Chunk]:
    """Yield whole tasks as long as one fits, else a few steps of one task.

    >>> [len(list(chunks(6, 10, 2, floats))) for floats in (600, 300, 100, 20)]
    [1, 2, 6, 30]
    """
    n_steps, per_step = n_objects // 2, n_objects * n_units
    tasks_at_once = max(1, floats_at_once // max(1, n_steps * per_step))
    steps_at_once = max(1, floats_at_once // per_step)
    for task in range(0, n_tasks, tasks_at_once):
        for step in range(1, n_steps + 1, steps_at_once):
            stop = min(step + steps_at_once, n_steps + 1)
            yield Chunk(slice(task, task + tasks_at_once), range(step, stop))


def partners(values: Tensor, steps: range) -> Tensor:
    """Look at values of objects, (tasks, 2 n, …), as those of each object's partners.

    (tasks, steps, n, …): at [t, s, i] stands the value of object i + s. ``values`` holds the
    objects twice in a row, so that nothing is copied.
    """
    n_objects = values.shape[1] // 2
    shape = (len(values), len(steps), n_objects, *values.shape[2:])
    task, row, *rest = values.stride()
    offset = values.storage_offset() + steps.start * row
    return values.as_strided(shape, (task, row, row, *rest), offset)


def add_to_partners(total: Tensor, pairs: Tensor, steps: range) -> None:
    """Add what belongs to the second objects of pairs to them: the reverse of ``partners``."""
    n_objects = pairs.shape[2]
    for row, step in enumerate(steps):
        total[:, step : step + n_objects] += pairs[:, row]


def twice(values: Tensor) -> Tensor:
    """Return the objects of each task twice in a row, (tasks, n, …) -> (tasks, 2 n, …)."""
    return torch.cat([values, values], dim=1)


def once(values: Tensor) -> Tensor:
    """Add up what was gathered on objects that stand twice, (tasks, 2 n, …) -> (tasks, n, …)."""
    n_objects = values.shape[1] // 2
    return values[:, :n_objects] + values[:, n_objects:]


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
    """Sum the last hidden units over pairs, for their first and for their second objects.

    ``left`` and ``right`` are the two halves of the first layer, (tasks, objects, units); the
    parameters are the further layers, weight and bias in turn.
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
        block = _Block(left, twice(right), _twice(mask), parameters, *ctx.fixed)
        first, second = torch.zeros_like(left), torch.zeros_like(block.right)
        for chunk in ctx.chunks:
            h = block.layers(chunk)[-1][1]  # (tasks, steps, objects, units)
            first[chunk.tasks] += h.sum(1)  # (tasks, objects, units)
            add_to_partners(second[chunk.tasks], h, chunk.steps)
            if block.has_pairs_twice(chunk):
                first[chunk.tasks] -= h[:, -1] / 2
                add_to_partners(second[chunk.tasks], h[:, -1:] / -2, chunk.steps[-1:])
        return first, once(second)

    @staticmethod
    def backward(ctx: Any, to_first: Tensor, to_second: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of left, right and the parameters."""
        left, right, mask, *parameters = ctx.saved_tensors
        block = _Block(left, twice(right), _twice(mask), parameters, *ctx.fixed)
        to_second = twice(to_second)
        to_left, to_right = torch.zeros_like(left), torch.zeros_like(block.right)
        to_parameters = [torch.zeros_like(parameter) for parameter in parameters]
        for chunk in reversed(ctx.chunks):  # the last is still in the buffers
            to_z = block.backward(chunk, to_first, to_second, to_parameters)
            to_left[chunk.tasks] += to_z.sum(1)  # (tasks, objects, units)
            add_to_partners(to_right[chunk.tasks], to_z, chunk.steps)
        return to_left, once(to_right), None, None, None, None, *to_parameters


def _twice(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else twice(mask)


@dataclass(frozen=True)
class _Block:
    """The hidden layers over pairs, chunk by chunk."""

    left: Tensor  # (tasks, objects, units)
    right: Tensor  # (tasks, 2 · objects, units)
    mask: Tensor | None  # (tasks, 2 · objects)
    parameters: Sequence[Tensor]
    activation: Activation
    workspace: Workspace
    token: object  # tells this forward pass from others that use the same buffers

    def layers(self, chunk: Chunk) -> list[tuple[Tensor, Tensor]]:
        """Return (z, h) of each layer, computed unless the buffers still hold them."""
        here = self.left[chunk.tasks, None]  # (tasks, 1, objects, units)
        there = partners(self.right[chunk.tasks], chunk.steps)  # (tasks, steps, objects, units)
        layers = []
        for number in range(1 + len(self.parameters) // 2):
            h = self.workspace.buffer(f"h-{number}", here, there.shape)
            needs_z = self.activation.needs_input
            z = self.workspace.buffer(f"z-{number}", here, there.shape) if needs_z else h
            layers.append((z, h))
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
        there = partners(to_second[chunk.tasks], chunk.steps)
        torch.add(to_first[chunk.tasks, None], there, out=to_h)
        self._drop_absent(to_h, chunk)
        if self.has_pairs_twice(chunk):
            to_h[:, -1] /= 2
        for number in range(len(layers) - 1, 0, -1):
            self.activation.backward(to_h, *layers[number])
            to_z, below = to_h.flatten(0, 2), layers[number - 1][1].flatten(0, 2)
            to_parameters[2 * number - 2].addmm_(to_z.t(), below)
            to_parameters[2 * number - 1] += to_z.sum(0)
            to_h = layers[number][1]  # done with these units: their place is still in the cache
            torch.mm(to_z, self.parameters[2 * number - 2], out=to_h.flatten(0, 2))
        self.activation.backward(to_h, *layers[0])
        return to_h

    def has_pairs_twice(self, chunk: Chunk) -> bool:
        """Say whether the last step of the chunk has each of its pairs in both orders."""
        return 2 * chunk.steps[-1] == self.left.shape[1]

    def _drop_absent(self, pairs: Tensor, chunk: Chunk) -> None:
        """Set to zero what belongs to padding."""
        if self.mask is not None:
            mask = self.mask[chunk.tasks]
            present = mask[:, None, : self.left.shape[1]] & partners(mask, chunk.steps)
            pairs.mul_(present.unsqueeze(-1))
