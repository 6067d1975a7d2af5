"""The network that turns images of digits into features (sub:dgp:mnist); loaded on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.datasets.raw.digit_features import N_DIGITS, SIDE, Bytes, NetworkSettings

_IMAGES_AT_ONCE = 500


class DigitNetwork(nn.Module):
    """Two 5 × 5 convolutions with max pooling, two dense layers, all batch-normalized."""

    def __init__(self, settings: NetworkSettings) -> None:
        super().__init__()
        first, second = settings.channels
        side = ((SIDE - 4) // 2 - 4) // 2  # each convolution takes 4, each pooling halves
        self.features = nn.Sequential(
            *_convolution(1, first),
            *_convolution(first, second),
            nn.Flatten(),
            *_dense(second * side**2, settings.n_hidden),
            *_dense(settings.n_hidden, settings.n_features),
        )
        self.classes = nn.Linear(settings.n_features, N_DIGITS)

    def forward(self, images: Tensor) -> Tensor:
        """Map images (images, 1, 28, 28) to scores of the digits (images, 10)."""
        scores: Tensor = self.classes(self.features(images))
        return scores


def _convolution(n_in: int, n_out: int) -> list[nn.Module]:
    convolution = nn.Conv2d(n_in, n_out, kernel_size=5, bias=False)
    return [convolution, nn.BatchNorm2d(n_out), nn.ReLU(), nn.MaxPool2d(2)]


def _dense(n_in: int, n_out: int) -> list[nn.Module]:
    return [nn.Linear(n_in, n_out, bias=False), nn.BatchNorm1d(n_out), nn.ReLU()]


def learn(images: Bytes, labels: Bytes, settings: NetworkSettings) -> DigitNetwork:
    """Train the network; the same images and settings give the same weights."""
    with _one_thread(), torch.random.fork_rng(devices=[]):  # nobody else's random numbers change
        torch.manual_seed(settings.seed)
        network = DigitNetwork(settings)
        return _trained(network, images, labels, settings).eval()


def _trained(
    network: DigitNetwork, images: Bytes, labels: Bytes, settings: NetworkSettings
) -> DigitNetwork:
    """Take AdamW through one cycle of the learning rate, on images moved by a few pixels."""
    rng = np.random.default_rng(settings.seed)
    n_shifts = 2 * settings.shift + 1
    margin = (settings.shift, settings.shift)
    padded = np.pad(images, ((0, 0), margin, margin))
    moved = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))
    optimizer = torch.optim.AdamW(
        network.parameters(), settings.learning_rate, weight_decay=settings.l2
    )
    n_batches = -(-len(images) // settings.batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, settings.learning_rate, settings.epochs * n_batches, pct_start=0.2
    )
    network.train()
    for _ in range(settings.epochs):
        # Parts of nearly equal size: batch normalization cannot learn from a single image.
        for batch in np.array_split(rng.permutation(len(images)), n_batches):
            rows, columns = rng.integers(n_shifts, size=(2, len(batch)))
            scores = network(_tensor(moved[batch, rows, columns]))
            target = torch.from_numpy(labels[batch].astype(np.int64))
            loss = nn.functional.cross_entropy(scores, target)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    return network


@torch.inference_mode()
def describe(network: DigitNetwork, images: Bytes) -> tuple[NDArray[np.float32], Bytes]:
    """Return the last hidden layer for each image, and the digit recognized in it."""
    features, recognized = [], []
    with _one_thread():
        for start in range(0, len(images), _IMAGES_AT_ONCE):
            layer = network.features(_tensor(images[start : start + _IMAGES_AT_ONCE]))
            features.append(layer.numpy())
            recognized.append(network.classes(layer).argmax(dim=1).numpy().astype(np.uint8))
    return np.concatenate(features), np.concatenate(recognized)


def _tensor(images: Bytes) -> Tensor:
    """Return (images, 1, 28, 28), white being 1."""
    return torch.from_numpy(images[:, None].astype(np.float32) / np.float32(255))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute in one thread: the number of threads changes the last digits."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
