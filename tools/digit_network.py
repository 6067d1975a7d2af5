"""Train the network behind the features of MNIST and write its weights as integers.

The weights are part of the project (cschoice/datasets/raw/digit_network.npz), so that everyone has
the same features; this is how they came about. It learns MNIST's 10,000 test images, turned into
features are the 60,000 others: "10,000 of 70,000" is the paper's split, turned round. Running it
again on another processor gives other weights, and so another dataset.

    CSCHOICE_DATA=… python tools/digit_network.py [--out network.npz] [--seed 0]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cschoice.datasets.raw import digit_network
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.digit_features import N_DIGITS, SIDE, read_images

CHANNELS, N_HIDDEN, N_FEATURES = (32, 64), 128, 128
EPOCHS, BATCH_SIZE, LEARNING_RATE, L2 = 20, 100, 5e-3, 1e-2
SHIFT = 2  # pixels by which an image is moved at most while learning
_LARGEST = 127  # of a weight, in one byte

Bytes = NDArray[np.uint8]


class DigitNetwork(nn.Sequential):
    """Two 5 × 5 convolutions with max pooling, two dense layers, all batch-normalized."""

    def __init__(self) -> None:
        first, second = CHANNELS
        side = ((SIDE - 4) // 2 - 4) // 2  # each convolution takes 4, each pooling halves
        super().__init__(
            *_convolution(1, first),
            *_convolution(first, second),
            nn.Flatten(),
            *_dense(second * side**2, N_HIDDEN),
            *_dense(N_HIDDEN, N_FEATURES),
            nn.Linear(N_FEATURES, N_DIGITS),
        )


def _convolution(n_in: int, n_out: int) -> list[nn.Module]:
    convolution = nn.Conv2d(n_in, n_out, kernel_size=5, bias=False)
    return [convolution, nn.BatchNorm2d(n_out), nn.ReLU(), nn.MaxPool2d(2)]


def _dense(n_in: int, n_out: int) -> list[nn.Module]:
    return [nn.Linear(n_in, n_out, bias=False), nn.BatchNorm1d(n_out), nn.ReLU()]


def learn(images: Bytes, labels: Bytes, seed: int) -> DigitNetwork:
    """Take AdamW through one cycle of the learning rate, on images moved by a few pixels."""
    torch.manual_seed(seed)
    network = DigitNetwork()
    rng = np.random.default_rng(seed)
    padded = np.pad(images, ((0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)))
    moved = np.lib.stride_tricks.sliding_window_view(padded, (SIDE, SIDE), axis=(1, 2))
    optimizer = torch.optim.AdamW(network.parameters(), LEARNING_RATE, weight_decay=L2)
    n_batches = -(-len(images) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, EPOCHS * n_batches, pct_start=0.2
    )
    network.train()
    for _ in range(EPOCHS):
        for batch in np.array_split(rng.permutation(len(images)), n_batches):
            rows, columns = rng.integers(2 * SHIFT + 1, size=(2, len(batch)))
            scores = network(_tensor(moved[batch, rows, columns]))
            target = torch.from_numpy(labels[batch].astype(np.int64))
            loss = nn.functional.cross_entropy(scores, target)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    return network.eval()


def _tensor(images: Bytes) -> Tensor:
    """Return (images, 1, 28, 28), pixels as numbers from 0 to 255 in steps of 1/255."""
    return torch.from_numpy(images[:, None].astype(np.float32) / np.float32(255))


def folded(network: DigitNetwork) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Yield weight (outputs, …) and bias of each layer, its normalization multiplied in."""
    modules = list(network)
    for place, module in enumerate(modules):
        if not isinstance(module, nn.Conv2d | nn.Linear):
            continue
        weight = module.weight.detach().numpy().astype(np.float64)
        if module.bias is not None:
            yield weight, module.bias.detach().numpy().astype(np.float64)
            continue
        norm: Any = modules[place + 1]
        mean, variance, gain, bias = (
            values.detach().numpy().astype(np.float64)
            for values in (norm.running_mean, norm.running_var, norm.weight, norm.bias)
        )
        factor = gain / np.sqrt(variance + norm.eps)
        yield weight * factor.reshape(-1, *[1] * (weight.ndim - 1)), bias - mean * factor


def integers(network: DigitNetwork) -> dict[str, Any]:
    """Return the layers in whole numbers, see ``digit_network.Layer``."""
    step = 2.0**digit_network.BITS
    arrays: dict[str, Any] = {}
    for number, (weight, bias) in enumerate(folded(network)):
        unit = 255.0 if number == 0 else step  # inputs are whole numbers of 1 / unit
        if weight.ndim == 4:
            weight = weight.transpose(0, 2, 3, 1)  # channels last, as the images
        elif number == len(CHANNELS):  # the first dense layer: its inputs as well
            side = int((weight.shape[1] // CHANNELS[-1]) ** 0.5)
            weight = weight.reshape(-1, CHANNELS[-1], side, side).transpose(0, 2, 3, 1)
        rows = weight.reshape(len(weight), -1) * step / unit  # output in steps per input step
        shift = np.floor(np.log2(_LARGEST / np.abs(rows).max(axis=1))).astype(np.int64)
        arrays[f"weight{number}"] = np.rint(rows.T * 2.0**shift).astype(np.int8)
        # One half more, so that the shift to the right, which rounds down, rounds to the nearest.
        arrays[f"bias{number}"] = np.rint((bias * step + 0.5) * 2.0**shift).astype(np.int32)
        arrays[f"shift{number}"] = shift.astype(np.int8)
    return arrays


def main() -> None:
    """Train, write, and print the accuracy before and after rounding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=str(digit_network.WEIGHTS))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    files = RAW_DATA["mnist"].find()
    known, digits = read_images(files["test-images"], files["test-labels"])
    images, labels = read_images(files["train-images"], files["train-labels"])
    network = learn(known, digits, options.seed)
    np.savez_compressed(options.out, **integers(network))
    with torch.inference_mode():
        parts = [network(_tensor(part)).argmax(1).numpy() for part in np.array_split(images, 120)]
    accuracy = float((np.concatenate(parts) == labels).mean())
    print(f"as trained: {accuracy:.4f} of {len(images):,} digits", flush=True)
    start = time.perf_counter()
    _, recognized = digit_network.DigitNetwork.load(options.out).describe(images)
    seconds = time.perf_counter() - start
    print(f"in integers: {(recognized == labels).mean():.4f}, {seconds:.0f} s")


if __name__ == "__main__":
    main()
