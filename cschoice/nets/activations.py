"""The nonlinearities of hidden layers, with the in-place forms that the pair block uses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

_aten = torch.ops.aten
_SELU = (1.6732632423543772, 1.0507009873554805, 1.0)


@dataclass(frozen=True)
class Activation:
    """A nonlinearity, its in-place forms, and the gain that keeps variances (He, Glorot)."""

    apply: Callable[[Tensor], Tensor]  # may overwrite its input
    into: Callable[[Tensor, Tensor], Any]  # (z, out): write the activation of z
    backward: Callable[[Tensor, Tensor, Tensor], Any]  # (gradient, z, h): in place
    gain: float
    needs_input: bool = False  # the derivative is computed from z, not from h
    kernel: int | None = None  # its number in compiled code, where there is any

    @property
    def number(self) -> int:
        """Return its number in compiled code, which exists."""
        assert self.kernel is not None
        return self.kernel


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
    "relu": Activation(
        torch.relu_,
        lambda z, out: torch.clamp_min(z, 0, out=out),
        _relu_backward,
        2.0,
        kernel=0,
    ),
    "gelu": Activation(F.gelu, _gelu_into, _gelu_backward, 2.0, needs_input=True, kernel=1),
    "silu": Activation(F.silu, _silu_into, _silu_backward, 2.0, needs_input=True),
    "selu": Activation(torch.selu_, _selu_into, _selu_backward, 1.0),
    "tanh": Activation(torch.tanh_, lambda z, out: torch.tanh(z, out=out), _tanh_backward, 1.0),
}
