"""The pair block of FETA: hidden layers over all pairs of a task, summed per object.

This is where FETA spends its time: n² / 2 pairs of n objects. Four things keep it cheap. Weights
are mirrored, so each unordered pair is evaluated once for both of its objects. The first layer is
split, ``W [x; y] = A x + B y``, so it is computed per object and only added per pair. The last
layer is linear, so hidden units are summed over pairs before it. And pairs are evaluated in
chunks small enough for the cache, in buffers that all chunks share; the backward pass computes
activations again where a later chunk has overwritten them. Memory is therefore bounded by the
chunk, whatever the number of tasks and objects.

Interactions of more than two objects cost no more than pairs: the powers of some *factors*,
linear in the hidden units of a pair, are summed as well, and the sums over all subsets follow
from these sums (see ``encoder.subset_means``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from cschoice.nets.activations import Activation
from cschoice.nets.pairs.layout import Chunk, add_to_partners, chunks, once, partners, twice


class Workspace:
    """Named buffers that grow on demand; pickling and copying leave them behind."""

    def __init__(self) -> None:
        self._buffers: dict[str, Tensor] = {}
        self.holds: object = None  # the forward pass and chunk whose activations are in the buffers

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


@dataclass(frozen=True)
class PairSettings:
    """The settings of a pair block, beside its weights."""

    activation: Activation
    floats_at_once: int
    workspace: Workspace
    largest_power: int = 1  # of the factors


class PairSums(torch.autograd.Function):
    """Sum the last hidden units over pairs, for their first and for their second objects.

    ``left`` and ``right`` are the two halves of the first layer, (tasks, objects, units); the
    parameters are the further layers, weight and bias in turn. ``factors``, (factors, units), are
    the weights of the factors whose powers 2 … ``largest_power`` are summed as well.
    """

    @staticmethod
    def forward(
        ctx: Any,
        left: Tensor,
        right: Tensor,
        mask: Tensor | None,
        settings: PairSettings,
        factors: Tensor | None,
        *parameters: Tensor,
    ) -> tuple[Tensor, ...]:
        """Return sums for first and for second objects: of the units, then of each power."""
        ctx.save_for_backward(left, right, mask, factors, *parameters)
        n_tasks, n_objects, n_units = left.shape
        ctx.chunks = list(chunks(n_tasks, n_objects, n_units, settings.floats_at_once))
        ctx.fixed = settings, object()
        block = _Block(left, twice(right), _twice(mask), factors, parameters, *ctx.fixed)
        sums = block.no_sums()
        for chunk in ctx.chunks:
            for (first, second), values in zip(sums, block.values(chunk), strict=True):
                first[chunk.tasks] += values.sum(1)  # (tasks, steps, objects, …) -> (objects, …)
                add_to_partners(second[chunk.tasks], values, chunk.steps)
                if block.has_pairs_twice(chunk):
                    first[chunk.tasks] -= values[:, -1] / 2
                    add_to_partners(second[chunk.tasks], values[:, -1:] / -2, chunk.steps[-1:])
        return tuple(total for first, second in sums for total in (first, once(second)))

    @staticmethod
    def backward(ctx: Any, *to_sums: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of left, right, factors and parameters."""
        left, right, mask, factors, *parameters = ctx.saved_tensors
        block = _Block(left, twice(right), _twice(mask), factors, parameters, *ctx.fixed)
        both = [(to_sums[k], twice(to_sums[k + 1])) for k in range(0, len(to_sums), 2)]
        to_left, to_right = torch.zeros_like(left), torch.zeros_like(block.right)
        to_factors = None if factors is None else torch.zeros_like(factors)
        to_parameters = [torch.zeros_like(parameter) for parameter in parameters]
        for chunk in reversed(ctx.chunks):  # the last is still in the buffers
            to_z = block.backward(chunk, both, to_factors, to_parameters)
            to_left[chunk.tasks] += to_z.sum(1)  # (tasks, objects, units)
            add_to_partners(to_right[chunk.tasks], to_z, chunk.steps)
        return to_left, once(to_right), None, None, to_factors, *to_parameters


def _twice(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else twice(mask)


class _Units(NamedTuple):
    """The activations of one chunk, (tasks, steps, objects, …) each."""

    layers: list[tuple[Tensor, Tensor]]  # before and after the activation
    factors: Tensor | None


@dataclass(frozen=True)
class _Block:
    """The hidden layers of pairs, evaluated chunk by chunk."""

    left: Tensor  # (tasks, objects, units)
    right: Tensor  # (tasks, 2 · objects, units)
    mask: Tensor | None  # (tasks, 2 · objects)
    factors: Tensor | None  # (factors, units)
    parameters: Sequence[Tensor]
    settings: PairSettings
    token: object  # identifies this forward pass among those that share the buffers

    def no_sums(self) -> list[tuple[Tensor, Tensor]]:
        """Return totals of zero, for first and (twice in a row) for second objects."""
        widths = [self.left.shape[-1]]
        if self.factors is not None:
            widths += [len(self.factors)] * (self.settings.largest_power - 1)
        return [
            (
                self.left.new_zeros(*self.left.shape[:2], width),
                self.left.new_zeros(*self.right.shape[:2], width),
            )
            for width in widths
        ]

    def values(self, chunk: Chunk) -> Iterator[Tensor]:
        """Yield the values to sum: the last hidden units, then each power of the factors."""
        units = self._units(chunk)
        yield units.layers[-1][1]
        if units.factors is not None:
            power = self._buffer("power", units.factors.shape).copy_(units.factors)
            for _ in range(2, self.settings.largest_power + 1):
                yield power.mul_(units.factors)

    def backward(
        self,
        chunk: Chunk,
        to_sums: Sequence[tuple[Tensor, Tensor]],
        to_factors: Tensor | None,
        to_parameters: list[Tensor],
    ) -> Tensor:
        """Return the gradient of the first layer's sums; add to the gradients of the parameters."""
        layers, factors = self._units(chunk)
        self.settings.workspace.holds = None  # from here on gradients overwrite activations
        to_h = self._to_pairs("gradient", to_sums[0], chunk)
        if factors is not None and self.factors is not None and to_factors is not None:
            to_q = self._to_powers(factors, to_sums[1:], chunk).flatten(0, 2)
            to_factors.addmm_(to_q.t(), layers[-1][1].flatten(0, 2))
            to_h.flatten(0, 2).addmm_(to_q, self.factors)
        for number in range(len(layers) - 1, 0, -1):
            self.settings.activation.backward(to_h, *layers[number])
            to_z, below = to_h.flatten(0, 2), layers[number - 1][1].flatten(0, 2)
            to_parameters[2 * number - 2].addmm_(to_z.t(), below)
            to_parameters[2 * number - 1] += to_z.sum(0)
            to_h = layers[number][1]  # no longer needed, and its memory is still in the cache
            torch.mm(to_z, self.parameters[2 * number - 2], out=to_h.flatten(0, 2))
        self.settings.activation.backward(to_h, *layers[0])
        return to_h

    def has_pairs_twice(self, chunk: Chunk) -> bool:
        """Tell whether the last step of the chunk has each of its pairs in both orders."""
        return 2 * chunk.steps[-1] == self.left.shape[1]

    def _units(self, chunk: Chunk) -> _Units:
        """Return the units of every layer; compute them unless the buffers still hold them."""
        activation, workspace = self.settings.activation, self.settings.workspace
        here = self.left[chunk.tasks, None]  # (tasks, 1, objects, units)
        there = partners(self.right[chunk.tasks], chunk.steps)  # (tasks, steps, objects, units)
        layers = []
        for number in range(1 + len(self.parameters) // 2):
            h = self._buffer(f"h-{number}", there.shape)
            z = self._buffer(f"z-{number}", there.shape) if activation.needs_input else h
            layers.append((z, h))
        factors = None
        if self.factors is not None:
            factors = self._buffer("factors", (*there.shape[:3], len(self.factors)))
        if workspace.holds == (self.token, chunk):
            return _Units(layers, factors)
        torch.add(here, there, out=layers[0][0])
        activation.into(*layers[0])
        for number in range(1, len(layers)):
            weight, bias = self.parameters[2 * number - 2 : 2 * number]
            below, z = (pairs.flatten(0, 2) for pairs in (layers[number - 1][1], layers[number][0]))
            torch.addmm(bias, below, weight.t(), out=z)
            activation.into(*layers[number])
        last = layers[-1][1]
        self._drop_absent(last, chunk)
        if factors is not None and self.factors is not None:
            torch.mm(last.flatten(0, 2), self.factors.t(), out=factors.flatten(0, 2))
        workspace.holds = (self.token, chunk)
        return _Units(layers, factors)

    def _to_powers(
        self, factors: Tensor, to_sums: Sequence[tuple[Tensor, Tensor]], chunk: Chunk
    ) -> Tensor:
        """Return the gradient of the factors, Σ k q^(k−1) g_k (g_k of Σ q^k), by Horner's rule."""
        gradient = self._buffer("to-factors", factors.shape).zero_()
        for power, to_sum in reversed(list(enumerate(to_sums, start=2))):
            gradient.add_(self._to_pairs("to-power", to_sum, chunk), alpha=power)
            gradient.mul_(factors)
        return gradient

    def _to_pairs(self, name: str, to_sums: tuple[Tensor, Tensor], chunk: Chunk) -> Tensor:
        """Return the gradient of the values of pairs, from the gradients of their two sums."""
        to_first, to_second = to_sums
        here = to_first[chunk.tasks, None]  # (tasks, 1, objects, …)
        there = partners(to_second[chunk.tasks], chunk.steps)  # (tasks, steps, objects, …)
        gradient = self._buffer(name, there.shape)
        torch.add(here, there, out=gradient)
        self._drop_absent(gradient, chunk)
        if self.has_pairs_twice(chunk):
            gradient[:, -1] /= 2
        return gradient

    def _drop_absent(self, pairs: Tensor, chunk: Chunk) -> None:
        """Set the pairs with padding to zero."""
        if self.mask is not None:
            mask = self.mask[chunk.tasks]
            present = mask[:, None, : self.left.shape[1]] & partners(mask, chunk.steps)
            pairs.mul_(present.unsqueeze(-1))

    def _buffer(self, name: str, shape: Sequence[int]) -> Tensor:
        return self.settings.workspace.buffer(name, self.left, shape)
