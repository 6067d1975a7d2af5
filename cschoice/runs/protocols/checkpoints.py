"""Checkpoints of a training, each in one file that appears whole: arrays and the curve so far.

One whose values do not fit its checksum is as good as none, like one of an earlier version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from cschoice.errors import InvalidFile
from cschoice.io.documents import digest, from_json, to_json
from cschoice.io.files import check_regular, replacing

_KEY, _DIGEST = "progress", "digest"


@dataclass(frozen=True)
class CurveSoFar:
    """The values measured so far, one per epoch, and the CPU time they took."""

    values: Sequence[float] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training, and the values measured up to there."""

    arrays: Mapping[str, NDArray[Any]]
    progress: CurveSoFar

    def write(self, path: Path) -> None:
        """Replace the file."""
        with replacing(path) as (temporary,):
            text = to_json(asdict(self.progress))
            metadata = {_KEY: text, _DIGEST: _checksum(self.arrays, text)}
            save_file(dict(self.arrays), temporary, metadata=metadata)


def read(path: Path) -> Checkpoint | None:
    """Return the checkpoint in a file; None if there is none that can be used."""
    try:
        check_regular(path)
        with safe_open(path, "numpy") as file:
            names: list[str] = file.keys()
            arrays = {name: file.get_tensor(name) for name in names}
            metadata = file.metadata() or {}
        text = metadata.get(_KEY, "")
        if metadata.get(_DIGEST) != _checksum(arrays, text):
            return None
        return Checkpoint(arrays, from_json(CurveSoFar, text, path))
    except (OSError, SafetensorError, ValueError, InvalidFile):
        return None


def _checksum(arrays: Mapping[str, NDArray[Any]], text: str) -> str:
    """Return a checksum of arrays with their names and shapes, and of the text beside them."""
    parts = [
        [name, str(array.dtype), array.shape, digest(array.tobytes())]
        for name, array in sorted(arrays.items())
    ]
    return digest(to_json([parts, text]).encode())
