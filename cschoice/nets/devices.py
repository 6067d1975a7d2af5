"""Devices by name, the size of the pieces that go through them, products on tensor cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from cschoice.errors import InvalidParameter

FLOATS_AT_ONCE = {"cpu": 2**20, "other": 2**26}  # one activation: near the cache, or 256 MB


def floats_at_once(device: torch.device) -> int:
    """Return how many numbers one activation should have at most on this device."""
    return FLOATS_AT_ONCE["cpu" if device.type == "cpu" else "other"]


def halve_floats_at_once(device: torch.device) -> None:
    """Halve the pieces that go through this device, for the rest of this process."""
    FLOATS_AT_ONCE["cpu" if device.type == "cpu" else "other"] //= 2


def device_named(name: str) -> torch.device:
    """Return the device of that name: cpu, cuda, cuda:1, mps, or auto for the best there is."""
    if name == "auto":
        name = "cpu"
        if torch.backends.mps.is_available():
            name = "mps"
        if torch.cuda.is_available():
            name = "cuda"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        allowed = "allowed: cpu, cuda, cuda:<number>, mps, auto"
        raise InvalidParameter(f"device {name} is not there ({error}); {allowed}") from error
    return device


@contextmanager
def fast_products(device: torch.device) -> Iterator[None]:
    """Let tensor cores do float32 products on CUDA, and leave the setting as it was."""
    if device.type != "cuda":
        yield
        return
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
