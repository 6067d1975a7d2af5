"""The building blocks of the networks: masked means, dense layers, set encoders.

A mask is (tasks, objects), True where there is an object; ``None`` means that there is no
padding. No number at a real object depends on the values at padding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from cschoice.nets.activations import ACTIVATIONS
from cschoice.nets.kernels import library, rows

Mask = Tensor | None
Normalization = Literal["none", "batch"]


def masked_mean(values: Tensor, mask: Mask) -> Tensor:
    """Average over the objects of each task, (tasks, objects, ...) -> (tasks, ...).

    >>> masked_mean(torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[True, True, False]]))
    tensor([[2.]])
    """
    if mask is None:
        return values.mean(1)
    weights = mask / mask.sum(1, keepdim=True)  # (tasks, objects)
    return (values * weights.view(*mask.shape, *[1] * (values.ndim - 2))).sum(1)  # (tasks, ...)


def masked_max(values: Tensor, mask: Mask) -> Tensor:
    """Return the largest values over the objects, (tasks, objects, units) -> (tasks, units).

    >>> masked_max(torch.tensor([[[1.0], [3.0], [9.0]]]), torch.tensor([[True, True, False]]))
    tensor([[3.]])
    """
    if mask is not None:
        values = values.masked_fill(~mask.unsqueeze(-1), -torch.inf)
    return values.amax(1)


def masked_mean_max(values: Tensor, mask: Mask) -> Tensor:
    """Return means and largest values side by side, (tasks, objects, units) -> (tasks, 2 units)."""
    return torch.cat([masked_mean(values, mask), masked_max(values, mask)], -1)


def as_rows(values: Tensor, mask: Mask) -> tuple[Tensor, Mask]:
    """Return (tasks, objects, ..., units) as (rows, units), and which rows are present."""
    if mask is not None and mask.ndim < values.ndim - 1:
        mask = mask.view(*mask.shape, *[1] * (values.ndim - 1 - mask.ndim))
        mask = mask.expand(values.shape[:-1])
    return values.reshape(-1, values.shape[-1]), None if mask is None else mask.flatten()


class MaskedBatchNorm(nn.BatchNorm1d):
    """Batch normalization whose statistics are those of real objects (or pairs) only.

    It needs the whole batch at once: batches cut into pieces would be normalized by the piece.
    Training therefore does not cut the batches of networks that have it, and their memory grows
    with the batch.
    """

    def forward(self, values: Tensor, present: Mask = None) -> Tensor:
        """Normalize (..., units) where ``present`` (...); zero elsewhere."""
        rows = values.flatten(0, -2) if present is None else values[present]  # (present, units)
        if self.training and len(rows) > 1:
            rows = super().forward(rows)
        else:  # one row has no variance
            statistics = self.running_mean, self.running_var
            rows = F.batch_norm(rows, *statistics, self.weight, self.bias, eps=self.eps)
        if present is None:
            return rows.view_as(values)
        return torch.zeros_like(values).masked_scatter(present.unsqueeze(-1), rows)


def linear(n_inputs: int, n_outputs: int, gain: float, *, bias: bool = True) -> nn.Linear:
    """Return a dense layer with variance-preserving weights (He et al., Glorot and Bengio).

    Gain 0 starts at zero, as a model without hidden layers can.
    """
    layer = nn.Linear(n_inputs, n_outputs, bias=bias)
    nn.init.normal_(layer.weight, std=(gain / n_inputs) ** 0.5)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


@dataclass(frozen=True)
class Layers:
    """The hidden layers of a network."""

    n_units: int
    n_layers: int
    activation: str = "relu"
    normalization: Normalization = "none"

    @property
    def gain(self) -> float:
        """Return the gain that keeps the variance of units from layer to layer."""
        return ACTIVATIONS[self.activation].gain


def _parts(layer: nn.Linear) -> rows.Dense:
    return layer.weight, layer.bias


class Mirrored(nn.Module):
    """A dense layer whose halves mirror each other: swapping inputs swaps outputs (CmpNN)."""

    def __init__(self, n_half: int, gain: float, *, bias: bool = True) -> None:
        super().__init__()
        self.same = linear(n_half, n_half, gain / 2, bias=bias)
        self.cross = linear(n_half, n_half, gain / 2, bias=False)

    @property
    def weight(self) -> Tensor:
        """Return the whole weight, (2 · half, 2 · half)."""
        same, cross = self.same.weight, self.cross.weight
        return torch.cat([torch.cat([same, cross], 1), torch.cat([cross, same], 1)])

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """Return the parameters: same, cross and, where there is one, bias."""
        parts = self.same.weight, self.cross.weight
        return parts if self.same.bias is None else (*parts, self.same.bias)

    @property
    def bias(self) -> Tensor | None:
        """Return the whole bias, (2 · half,)."""
        half: Tensor | None = self.same.bias
        return None if half is None else torch.cat([half, half])

    def forward(self, h: Tensor) -> Tensor:
        """Map (..., 2 · half) to (..., 2 · half)."""
        return F.linear(h, self.weight, self.bias)


class Hidden(nn.Module):
    """From the sums of a first layer to the units of the last hidden layer."""

    def __init__(self, layers: Layers, *, mirrored: bool = False) -> None:
        super().__init__()
        n_units, gain = layers.n_units, layers.gain
        self.activation = ACTIVATIONS[layers.activation]
        self.layers = nn.ModuleList(
            Mirrored(n_units // 2, gain) if mirrored else linear(n_units, n_units, gain)
            for _ in range(layers.n_layers - 1)
        )
        n_norms = layers.n_layers if layers.normalization == "batch" else 0
        self.norms = nn.ModuleList(MaskedBatchNorm(n_units) for _ in range(n_norms))

    def forward(self, z: Tensor, present: Mask = None) -> Tensor:
        """Map (..., units) to (..., units); ``z`` may be overwritten and must not be a view.

        Dense layers return views of rows where they are given more dimensions, and what is
        changed in a view autograd copies back and forth.
        """
        h = self._activate(z, 0, present)
        rows, present = as_rows(h, present)
        for number, layer in enumerate(self.layers, start=1):
            rows = self._activate(layer(rows), number, present)
        return rows.view_as(h)

    def compiled(self, values: Tensor) -> bool:
        """Tell whether there is compiled code for these layers and this kind of numbers."""
        return library.fits(self.activation.kernel, values) and not self.norms

    def fused(self, x: Tensor) -> bool:
        """Tell whether compiled code does the work on these inputs, (tasks, objects, inputs)."""
        return self.compiled(x) and x.ndim == 3 and not x.requires_grad

    @property
    def dense(self) -> list[rows.Dense]:
        """Return weight and bias of each layer behind the first."""
        layers: Any = self.layers
        return [(layer.weight, layer.bias) for layer in layers]

    def _activate(self, z: Tensor, number: int, present: Mask) -> Tensor:
        return self.activation.apply(self.norms[number](z, present) if self.norms else z)


class MLP(nn.Module):
    """A dense network on each object by itself."""

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        layers: Layers,
    ) -> None:
        super().__init__()
        self.first = linear(n_inputs, layers.n_units, layers.gain)
        self.hidden = Hidden(layers)
        self.last = linear(layers.n_units, n_outputs, 1.0)

    @property
    def compiled(self) -> bool:
        """Tell whether training keeps no units in memory: compiled code computes them again."""
        return self.last.out_features == 1 and self.hidden.compiled(self.first.weight)

    def forward(self, x: Tensor, mask: Mask = None) -> Tensor:
        """Map (..., inputs) to (..., outputs)."""
        if self.last.out_features == 1 and self.hidden.fused(x):
            layers = [_parts(self.first), *self.hidden.dense]
            number = self.hidden.activation.number
            return rows.scores(x, mask, None, layers, _parts(self.last), number).unsqueeze(-1)
        objects, present = as_rows(x, mask)
        h = self.hidden(self.first(objects), present)  # (rows, inputs) -> (rows, units)
        outputs: Tensor = self.last(h).view(*x.shape[:-1], -1)  # -> (..., outputs)
        return outputs


class SetEncoder(nn.Module):
    """The representative of a task: the mean of its embedded objects (eq. NEW_FATE_def).

    ``pool`` may be another way to make one vector of many. The embedding's last layer is not
    linear: the mean and the layer behind it are, and three linear maps in a row are one.
    """

    def __init__(
        self,
        n_inputs: int,
        n_outputs: int,
        layers: Layers,
        pool: Callable[[Tensor, Mask], Tensor] = masked_mean,
    ) -> None:
        super().__init__()
        self.pool = pool
        widths = [n_inputs, *[layers.n_units] * (layers.n_layers - 1), n_outputs]
        self.layers = nn.ModuleList(
            linear(below, above, layers.gain) for below, above in pairwise(widths)
        )
        self.hidden = nn.ModuleList(
            Hidden(replace(layers, n_units=width, n_layers=1)) for width in widths[1:]
        )

    @property
    def compiled(self) -> bool:
        """Tell whether training keeps no units in memory: compiled code computes them again."""
        first: Any = self.hidden[0]
        layer: Any = self.layers[0]
        return self.pool is masked_mean and bool(first.compiled(layer.weight))

    def forward(self, x: Tensor, mask: Mask = None) -> Tensor:
        """Map (tasks, objects, ..., inputs) to (tasks, ..., outputs)."""
        first: Any = self.hidden[0]
        if self.pool is masked_mean and first.fused(x):
            layers: Any = self.layers
            parts = [_parts(layer) for layer in layers]
            return rows.means(x, mask, parts, first.activation.number)
        h, present = as_rows(x, mask)
        for layer, hidden in zip(self.layers, self.hidden, strict=True):
            h = hidden(layer(h), present)  # (rows, inputs) -> (rows, units)
        h = h.view(*x.shape[:-1], -1)  # (tasks, objects, ..., outputs)
        return self.pool(h, mask)  # (tasks, ..., outputs)


class ContextMLP(nn.Module):
    """A dense network on an object and its context: ``W [x; c] = A x + B c`` is split.

    The context is the same for all objects of a task, so its half is computed once per task.
    """

    def __init__(
        self,
        n_inputs: int,
        n_context: int,
        layers: Layers,
    ) -> None:
        super().__init__()
        self.of_object = linear(n_inputs, layers.n_units, layers.gain / 2)
        self.of_context = linear(n_context, layers.n_units, layers.gain / 2, bias=False)
        self.hidden = Hidden(layers)
        self.last = linear(layers.n_units, 1, 1.0)

    @property
    def compiled(self) -> bool:
        """Tell whether training keeps no units in memory: compiled code computes them again."""
        return self.hidden.compiled(self.of_object.weight)

    def forward(self, x: Tensor, context: Tensor, mask: Mask = None) -> Tensor:
        """Map (tasks, objects, inputs) and (tasks, context) to utilities (tasks, objects)."""
        if self.hidden.fused(x):
            layers = [_parts(self.of_object), *self.hidden.dense]
            number, shared = self.hidden.activation.number, self.of_context(context)
            return rows.scores(x, mask, shared, layers, _parts(self.last), number)
        z = self.of_object(x) + self.of_context(context).unsqueeze(1)  # (tasks, objects, units)
        h = self.hidden(z, mask)
        utilities: Tensor = self.last(h).squeeze(-1)  # -> (tasks, objects)
        return utilities
