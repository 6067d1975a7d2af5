"""Checkpoints of a training, each in one file that appears whole: arrays and the curve so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from cschoice.errors import InvalidFile
from cschoice.io.documents import from_json, to_json
from cschoice.io.files import replacing

_KEY = "progress"


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
            metadata = {_KEY: to_json(asdict(self.progress))}
            save_file(dict(self.arrays), temporary, metadata=metadata)


def read(path: Path) -> Checkpoint | None:
    """Return the checkpoint in a file; None if there is none that can be used."""
    if not path.exists():
        return None
    try:
        with safe_open(path, "numpy") as file:
            names: list[str] = file.keys()
            arrays = {name: file.get_tensor(name) for name in names}
            text = (file.metadata() or {}).get(_KEY, "")
        return Checkpoint(arrays, from_json(CurveSoFar, text, path))
    except (OSError, SafetensorError, InvalidFile):
        return None
