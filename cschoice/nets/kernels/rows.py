"""Dense layers over the objects of tasks, forward and back, in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from cschoice.nets.kernels import library

Dense = tuple[Tensor, Tensor]  # weight (outputs, inputs) and bias (outputs,)


def scores(
    x: Tensor,
    mask: Tensor | None,
    context: Tensor | None,
    layers: Sequence[Dense],
    last: Dense,
    activation: int,
) -> Tensor:
    """Map (tasks, objects, inputs) through hidden layers and a last one to (tasks, objects).

    ``context`` (tasks, units) is added to the first layer of all objects of a task.
    """
    padded = _whole_vectors(layers)
    weight = F.pad(last[0], (0, padded[-1][0].shape[0] - last[0].shape[1]))  # (1, units)
    if context is not None:
        context = F.pad(context, (0, padded[0][0].shape[0] - context.shape[1]))
    flat = [part.flatten() for layer in [*padded, (weight, last[1])] for part in layer]
    widths = [layer[0].shape[0] for layer in padded]
    result: Tensor = _Rows.apply(  # type: ignore[no-untyped-call]
        x, mask, context, torch.cat(flat), widths, activation, True
    )
    return result


def means(x: Tensor, mask: Tensor | None, layers: Sequence[Dense], activation: int) -> Tensor:
    """Map (tasks, objects, inputs) through hidden layers, and average over objects."""
    padded = _whole_vectors(layers)
    flat = torch.cat([part.flatten() for layer in padded for part in layer])
    widths = [layer[0].shape[0] for layer in padded]
    result: Tensor = _Rows.apply(  # type: ignore[no-untyped-call]
        x, mask, None, flat, widths, activation, False
    )
    return result[:, : len(layers[-1][1])]


def _whole_vectors(layers: Sequence[Dense]) -> list[Dense]:
    """Fill layers up with units that are always zero, to multiples of a vector's length."""
    padded, n_above = [], 0  # the units that the layer below got
    for weight, bias in layers:
        spare = -len(bias) % library.LANES
        if spare or n_above:
            weight, bias = F.pad(weight, (0, n_above, 0, spare)), F.pad(bias, (0, spare))
        padded.append((weight, bias))
        n_above = spare
    return padded


class _Rows(torch.autograd.Function):
    """Scores of objects, or the mean of their last units; ``flat`` holds the parameters."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        mask: Tensor | None,
        context: Tensor | None,
        flat: Tensor,
        widths: list[int],
        activation: int,
        has_scores: bool,
    ) -> Tensor:
        """Return (tasks, objects), or (tasks, last width)."""
        x = x.contiguous()
        present = None if mask is None else mask.contiguous()
        context = None if context is None else context.contiguous()
        ctx.save_for_backward(x, present, context, flat)
        ctx.numbers = len(widths), activation, int(has_scores), torch.tensor(widths)
        out = x.new_zeros(x.shape[:2] if has_scores else (len(x), widths[-1]))

        def work(tasks: slice) -> None:
            here = [None if array is None else array[tasks] for array in (x, present, context)]
            shape = len(x[tasks]), *x.shape[1:], *ctx.numbers
            library.call("cschoice_rows", *shape, *here, flat, None, out[tasks], None, None)

        library.in_parts(len(x), x[..., 0].numel() * flat.numel(), work)
        return out

    @staticmethod
    def backward(ctx: Any, to_out: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of the context and of the parameters."""
        x, present, context, flat = ctx.saved_tensors
        to_out = to_out.contiguous()
        to_context = None if context is None else torch.zeros_like(context)

        def work(tasks: slice) -> Tensor:
            here = [None if array is None else array[tasks] for array in (x, present, context)]
            to_flat = torch.empty_like(flat)
            of_context = None if to_context is None else to_context[tasks]
            shape = len(x[tasks]), *x.shape[1:], *ctx.numbers
            arrays = *here, flat, to_out[tasks], None, of_context, to_flat
            library.call("cschoice_rows", *shape, *arrays)
            return to_flat

        parts = library.in_parts(len(x), x[..., 0].numel() * flat.numel(), work)
        to_flat = parts[0] if len(parts) == 1 else torch.stack(parts).sum(0)
        return None, None, to_context, to_flat, None, None, None
