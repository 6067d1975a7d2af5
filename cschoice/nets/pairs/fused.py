"""The pair block in compiled code: the same sums as ``sums``, in a fraction of the time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from cschoice.nets.activations import Activation
from cschoice.nets.kernels import library
from cschoice.nets.layers import Mask, Mirrored


def fits(activation: Activation, parameter: Tensor) -> bool:
    """Tell whether there is compiled code for this activation and kind of numbers."""
    on_cpu = parameter.device.type == "cpu" and parameter.dtype == torch.float32
    return on_cpu and activation.kernel is not None and library.available()


def fused_sums(
    left: Tensor,
    mask: Mask,
    activation: Activation,
    layers: Sequence[Any],
    factors: Mirrored | None,
    largest_power: int,
) -> list[Tensor]:
    """Return sums over the other objects: of the last units, then of each power of the factors.

    ``left`` is (tasks, objects, units): the first layer's share of the first object.
    """
    n_half = left.shape[-1] // 2
    spare = -n_half % library.LANES

    def padded(values: Tensor, n_dimensions: int) -> Tensor:
        return F.pad(values, (0, spare) * n_dimensions) if spare else values

    parameters = [
        padded(part, part.ndim)
        for layer in [*layers, *([] if factors is None else [factors])]
        for part in (layer.same.weight, layer.cross.weight, layer.same.bias)
        if part is not None
    ]
    halves = padded(left.view(*left.shape[:-1], 2, n_half), 1)  # (tasks, objects, 2, half)
    numbers = len(layers), activation.kernel, largest_power
    sums: Tensor = _FusedSums.apply(halves, mask, numbers, *parameters)  # type: ignore[no-untyped-call]
    return list(sums[..., :n_half].flatten(-2))  # (tasks, objects, units) each


class _FusedSums(torch.autograd.Function):
    """Sums of units and of powers, (powers, tasks, objects, 2, half)."""

    @staticmethod
    def forward(
        ctx: Any, left: Tensor, mask: Mask, numbers: tuple[int, int, int], *parameters: Tensor
    ) -> Tensor:
        """Return the sums; ``numbers`` are those of layers, activation and largest power."""
        left = left.contiguous()
        present = None if mask is None else mask.contiguous()
        flat = torch.cat([left.new_empty(0), *(part.flatten() for part in parameters)])
        ctx.save_for_backward(left, present, flat)
        ctx.numbers, ctx.shapes = numbers, [part.shape for part in parameters]
        n_tasks, n_objects, _, n_half = left.shape

        def sums_of(tasks: slice) -> Tensor:
            here, there = left[tasks], None if present is None else present[tasks]
            sums = left.new_zeros(numbers[-1], *here.shape)
            shape = len(here), n_objects, n_half, *numbers
            library.call("cschoice_pairs", *shape, here, there, flat, None, sums, None, None)
            return sums

        parts = library.in_parts(n_tasks, left.numel() * n_objects, sums_of)
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)

    @staticmethod
    def backward(ctx: Any, to_sums: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of left and of the parameters."""
        left, present, flat = ctx.saved_tensors
        to_left = torch.zeros_like(left)
        n_tasks, n_objects, _, n_half = left.shape

        def gradient_of(tasks: slice) -> Tensor:
            here, there = left[tasks], None if present is None else present[tasks]
            shape = len(here), n_objects, n_half, *ctx.numbers
            to_flat, to_here = torch.empty_like(flat), to_sums[:, tasks].contiguous()
            arrays = here, there, flat, to_here, None, to_left[tasks], to_flat
            library.call("cschoice_pairs", *shape, *arrays)
            return to_flat

        parts = library.in_parts(n_tasks, left.numel() * n_objects, gradient_of)
        to_flat = parts[0] if len(parts) == 1 else torch.stack(parts).sum(0)
        to_parameters = torch.split(to_flat, [shape.numel() for shape in ctx.shapes])
        views = [part.view(shape) for part, shape in zip(to_parameters, ctx.shapes, strict=True)]
        return to_left, None, None, *views
