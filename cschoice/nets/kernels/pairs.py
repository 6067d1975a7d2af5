"""The pair block of FETA in compiled code, forward and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from cschoice.nets.kernels import library

Mirrored = tuple[Tensor, ...]  # same and cross (half, half), and bias (half,) unless of factors


def sums(
    left: Tensor,
    mask: Tensor | None,
    layers: Sequence[Mirrored],
    factors: Mirrored | None,
    activation: int,
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
        for part in layer
    ]
    halves = padded(left.view(*left.shape[:-1], 2, n_half), 1)  # (tasks, objects, 2, half)
    numbers = len(layers), activation, largest_power
    result: Tensor = _Sums.apply(halves, mask, numbers, *parameters)  # type: ignore[no-untyped-call]
    return list(result[..., :n_half].flatten(-2))  # (tasks, objects, units) each


class _Sums(torch.autograd.Function):
    """Sums of units and of powers, (powers, tasks, objects, 2, half)."""

    @staticmethod
    def forward(
        ctx: Any,
        left: Tensor,
        mask: Tensor | None,
        numbers: tuple[int, int, int],
        *parameters: Tensor,
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

        parts = library.in_parts(n_tasks, n_tasks * n_objects**2 // 2 * flat.numel(), sums_of)
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

        parts = library.in_parts(n_tasks, n_tasks * n_objects**2 // 2 * flat.numel(), gradient_of)
        to_flat = parts[0] if len(parts) == 1 else torch.stack(parts).sum(0)
        to_parameters = torch.split(to_flat, [shape.numel() for shape in ctx.shapes])
        views = [part.view(shape) for part, shape in zip(to_parameters, ctx.shapes, strict=True)]
        return to_left, None, None, *views
