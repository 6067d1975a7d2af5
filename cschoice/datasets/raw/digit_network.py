"""The network that turns images of digits into features (sub:dgp:mnist), in whole numbers.

Floating-point sums depend on their order, and so on the processor and the number of threads. Here
everyone gets the same features: pixels, weights and activations are whole numbers, and all that
happens to them is multiplying, adding, comparing and shifting. Matrix products are taken in double
precision, where fast code exists, and are exact: every sum is a whole number far below 2⁵³, in
whatever order it is formed.

The weights were learned once, by tools/digit_network.py, and are a file of this project.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

# Of the features of the original files, the same on every processor.
FEATURES_SHA256 = "0333c96f1ecff03c3cf0a2bba3faf2bec0b45ffa4cb7e9cdf4708e8c8962b753"
WEIGHTS = Path(__file__).with_suffix(".npz")
BITS = 8  # activations are whole numbers of 1 / 2**BITS

Wholes = NDArray[np.float64]  # whole numbers, in double precision

_N_CONVOLUTIONS = 2
_KERNEL = 5
_IMAGES_AT_ONCE = 20  # their patches fit into the cache


@dataclass(frozen=True)
class Layer:
    """Weights and biases, and by how many bits each output is shifted to the right."""

    weight: Wholes  # (inputs, outputs)
    bias: Wholes  # (outputs,)
    divisor: Wholes  # (outputs,), 2**shift

    def __call__(self, inputs: Wholes) -> Wholes:
        """Map (rows, inputs) to (rows, outputs), rounded down."""
        outputs: Wholes = np.floor((inputs @ self.weight + self.bias) / self.divisor)
        return outputs


@dataclass(frozen=True)
class DigitNetwork:
    """Convolutions, each with max pooling, then dense layers; the last one scores the digits."""

    layers: tuple[Layer, ...]

    @classmethod
    def load(cls, path: str | Path = WEIGHTS) -> Self:
        """Read the weights."""
        with np.load(path) as arrays:
            numbers = range(len(arrays.files) // 3)
            parts = [
                [arrays[f"{part}{n}"].astype(np.float64) for part in ("weight", "bias", "shift")]
                for n in numbers
            ]
        return cls(tuple(Layer(weight, bias, 2.0**shift) for weight, bias, shift in parts))

    def describe(self, images: NDArray[np.uint8]) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
        """Return the last hidden layer for each image, and the digit recognized in it."""
        features, recognized = [], []
        for start in range(0, len(images), _IMAGES_AT_ONCE):
            hidden = images[start : start + _IMAGES_AT_ONCE, :, :, None].astype(np.float64)
            for layer in self.layers[:_N_CONVOLUTIONS]:
                hidden = _pooled(_convolved(layer, hidden))
            hidden = hidden.reshape(len(hidden), -1)
            for layer in self.layers[_N_CONVOLUTIONS:-1]:
                hidden = np.maximum(layer(hidden), 0)
            features.append((hidden / 2**BITS).astype(np.float32))
            recognized.append(self.layers[-1](hidden).argmax(axis=1).astype(np.uint8))
        return np.concatenate(features), np.concatenate(recognized)


def _convolved(layer: Layer, images: Wholes) -> Wholes:
    """Map (images, height, width, channels) to (images, height − 4, width − 4, outputs)."""
    windows = np.lib.stride_tricks.sliding_window_view(images, (_KERNEL, _KERNEL), axis=(1, 2))
    shape = windows.shape[:3]
    rows = windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, len(layer.weight))
    return layer(rows).reshape(*shape, -1)


def _pooled(images: Wholes) -> Wholes:
    """Return the largest value of each square of four, 0 if all are negative."""
    n_images, height, width, channels = images.shape
    squares = images.reshape(n_images, height // 2, 2, width // 2, 2, channels)
    pooled: Wholes = np.maximum(squares.max(axis=(2, 4)), 0)
    return pooled
