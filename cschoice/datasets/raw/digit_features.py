"""MNIST's images as features: the last hidden layer of a network that learned 10,000 others."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.cache import cached, load_array, save_arrays
from cschoice.datasets.raw.catalogue import RAW_DATA
from cschoice.datasets.raw.digit_network import WEIGHTS, DigitNetwork
from cschoice.datasets.raw.files import RawFile
from cschoice.errors import DamagedData

Bytes = NDArray[np.uint8]

N_DIGITS = 10
SIDE = 28
LEAST_ACCURACY = 0.98  # on the images that the network did not learn
_MOST_IMAGES = 1_000_000
_BYTES_TYPE = 8  # the code of unsigned bytes in the idx format


@dataclass(frozen=True)
class Digits:
    """Images as features, with the digits they show."""

    features: NDArray[np.float32]  # (images, features)
    labels: NDArray[np.int64]  # (images,)
    accuracy: float  # share of them in which the network recognizes the digit


def digits() -> Digits:
    """Return the 60,000 images that the network did not learn; made once, then from the cache."""
    files = RAW_DATA["mnist"].find()
    images, labels = files["train-images"], files["train-labels"]

    def make(folder: Path) -> None:
        save_arrays(folder, asdict(_described(images, labels)))

    about = {"format": 3, "network": sha256(WEIGHTS.read_bytes()).hexdigest()}
    folder = cached("mnist", about, (images, labels), make)
    return Digits(
        features=load_array(folder, "features"),
        labels=load_array(folder, "labels"),
        accuracy=float(load_array(folder, "accuracy")),
    )


def features_hash(features: NDArray[np.float32]) -> str:
    """Return the SHA-256 of the features, row by row, in little-endian order."""
    return sha256(np.ascontiguousarray(features, dtype="<f4").tobytes()).hexdigest()


def _described(images: RawFile, labels: RawFile) -> Digits:
    pixels, shown = read_images(images, labels)
    features, recognized = DigitNetwork.load().describe(pixels)
    accuracy = float((recognized == shown).mean())
    if accuracy < LEAST_ACCURACY:
        raise DamagedData(
            f"the network recognizes {accuracy:.1%} of the digits in {images}, "
            f"not {LEAST_ACCURACY:.0%}: are these the original files of MNIST?"
        )
    return Digits(features, shown.astype(np.int64), accuracy)


def read_images(images: RawFile, labels: RawFile) -> tuple[Bytes, Bytes]:
    """Read images (images, 28, 28) and the digits they show."""
    pixels, digit = read_idx(images, 3), read_idx(labels, 1)
    if pixels.shape[1:] != (SIDE, SIDE):
        shape = " × ".join(map(str, pixels.shape[1:]))
        raise DamagedData(f"{images}: images must have {SIDE} × {SIDE} pixels, got {shape}")
    if len(pixels) != len(digit):
        raise DamagedData(f"{images} has {len(pixels):,} images, {labels} {len(digit):,} labels")
    if digit.max() >= N_DIGITS:
        position = int(np.argmax(digit >= N_DIGITS))
        raise DamagedData(f"{labels}: label {position:,} must be 0 to 9, got {digit[position]}")
    return pixels, digit


def read_idx(file: RawFile, n_dimensions: int) -> Bytes:
    """Read an idx file: two zeros, type, number of dimensions, big-endian sizes, the bytes."""
    with file.open() as stream:
        header = stream.read(4 + 4 * n_dimensions)
        if header[:4] != bytes([0, 0, _BYTES_TYPE, n_dimensions]) or len(header) % 4:
            raise DamagedData(
                f"{file} is no idx file of bytes in {n_dimensions} dimensions: it begins with "
                f"{header[:4].hex(' ') or 'nothing'}"
            )
        shape = np.frombuffer(header, dtype=">u4", offset=4).tolist()
        if not 1 <= shape[0] <= _MOST_IMAGES or any(not 1 <= n <= 2**10 for n in shape[1:]):
            raise DamagedData(f"{file} cannot hold {' × '.join(map(str, shape))} bytes")
        n_bytes = int(np.prod(shape))
        content = stream.read(n_bytes + 1)
    if len(content) != n_bytes:
        found = "more" if len(content) > n_bytes else f"{len(content):,}"
        raise DamagedData(f"{file} must hold {n_bytes:,} bytes after its header, got {found}")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)
