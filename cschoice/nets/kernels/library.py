"""The compiled library: loaded when it is first used, absent where no compiler was at hand."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import torch
from torch import Tensor

from cschoice.errors import InvalidParameter

# Chooses other instructions than the best that the processor has; 'none': torch does the work.
VARIABLE = "CSCHOICE_KERNELS"
_INSTRUCTIONS = {"best": 0, "portable": 1, "avx2": 2, "avx512": 3}
_NO_MEMORY, _NO_INSTRUCTIONS = 1, 2
_WORTH_A_THREAD = 2**25  # multiplications: less than a millisecond
Part = TypeVar("Part")
LANES = 16  # a vector at its largest: numbers of units are multiples


def available() -> bool:
    """Tell whether the library was built and may be used."""
    return _instructions() is not None and _library() is not None


def fits(activation: int | None, values: Tensor) -> bool:
    """Tell whether there is compiled code for an activation and this kind of numbers."""
    on_cpu = values.device.type == "cpu" and values.dtype == torch.float32
    return on_cpu and activation is not None and available()


def call(function: str, *arguments: int | Tensor | None) -> None:
    """Call a function with numbers and with tensors, whose memory it reads or writes."""
    library = _library()
    if library is None:
        raise RuntimeError("the kernels were not built")
    values = [
        ctypes.c_int64(argument)
        if isinstance(argument, int)
        else ctypes.c_void_p(None if argument is None else argument.data_ptr())
        for argument in arguments
    ]
    failure = getattr(library, function)(ctypes.c_int64(_instructions() or 0), *values)
    if failure == _NO_MEMORY:
        raise MemoryError(f"no memory for {function}")
    if failure == _NO_INSTRUCTIONS:
        raise InvalidParameter(f"{VARIABLE}: this processor has no {os.environ[VARIABLE]}")


def in_parts(n: int, cost: int, work: Callable[[slice], Part]) -> list[Part]:
    """Do work on slices of n things, one slice per thread of torch where it pays.

    ``cost`` is the number of multiplications of the whole.
    """
    n_parts = min(torch.get_num_threads(), max(1, cost // _WORTH_A_THREAD), max(1, n))
    ends = [n * number // n_parts for number in range(n_parts + 1)]
    parts = [slice(start, stop) for start, stop in pairwise(ends)]
    if n_parts == 1:
        return [work(part) for part in parts]
    with ThreadPoolExecutor(n_parts) as threads:
        return list(threads.map(work, parts))


@cache
def _library() -> ctypes.CDLL | None:
    for suffix in EXTENSION_SUFFIXES:
        path = Path(__file__).with_name(f"_kernels{suffix}")
        if path.is_file():
            return ctypes.CDLL(str(path))
    return None


def _instructions() -> int | None:
    """Return the number of the instructions to use; None where the library may not be used."""
    name = os.environ.get(VARIABLE, "best")
    if name == "none":
        return None
    if name not in _INSTRUCTIONS:
        allowed = ", ".join([*_INSTRUCTIONS, "none"])
        raise InvalidParameter(f"{VARIABLE} is '{name}', allowed: {allowed}")
    return _INSTRUCTIONS[name]
