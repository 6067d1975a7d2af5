"""Arrays that are memory where they are small, and temporary files where they are large."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

IN_MEMORY = 2**29  # bytes


def room(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an array to be written; a large one is mapped from a file that goes with it.

    >>> room((2, 3), np.float32).shape
    (2, 3)
    """
    if int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize <= IN_MEMORY:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:  # nobody else sees it; the map keeps it
        return np.memmap(file, dtype, "w+", shape=shape)


def closed(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that is no longer to be written."""
    array.flags.writeable = False
    return array
