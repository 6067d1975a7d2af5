"""Arrays made once from raw data and kept under a hash of their sources."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cschoice.datasets.raw.files import RawFile
from cschoice.datasets.raw.folders import CACHE_VARIABLE, cache_folder
from cschoice.errors import CschoiceError, DamagedData, FileNotUsable
from cschoice.io.locks import claim

Arrays = Mapping[str, NDArray[Any]]

_HASHED_WHOLE = 256 * 2**20
_END = 2**20
_POLL = 0.2  # seconds between looks at the folder that another process fills


def cached(
    name: str, about: Mapping[str, Any], files: Iterable[RawFile], make: Callable[[Path], None]
) -> Path:
    """Return a folder that ``make`` filled, now or earlier, from these files.

    ``about`` holds everything else it depends on. One process makes it while others wait.
    """
    identity = {**about, "files": [fingerprint(file) for file in files]}
    text = json.dumps(identity, sort_keys=True)
    key = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    folder = cache_folder() / "derived" / f"{name}-{key}"
    workplace = cache_folder() / "making" / folder.name  # stays: others may be waiting at it
    try:
        while not folder.exists():
            workplace.mkdir(parents=True, exist_ok=True)
            with claim(workplace) as mine:
                if not mine:
                    time.sleep(_POLL)
                elif not folder.exists():
                    _fill(workplace / "files", folder, make, text)
    except OSError as error:
        if isinstance(error, CschoiceError):
            raise
        raise FileNotUsable(
            f"cannot write {folder}: {error.strerror or error}; "
            f"set {CACHE_VARIABLE} to a folder that can be written"
        ) from error
    return folder


def _fill(draft: Path, folder: Path, make: Callable[[Path], None], about: str) -> None:
    shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
    draft.mkdir()
    try:
        make(draft)
        (draft / "about.json").write_text(about, encoding="utf-8")
        folder.parent.mkdir(exist_ok=True)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def save_arrays(folder: Path, arrays: Arrays) -> None:
    """Write each array to a file of its own."""
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def load_array(folder: Path, name: str) -> NDArray[Any]:
    """Map an array into memory: several processes share it, and only used parts are read."""
    array: NDArray[Any] = np.load(folder / f"{name}.npy", mmap_mode="r")
    return array


def fingerprint(file: RawFile) -> str:
    """Identify a file's content; of large files the size, time and both ends must do.

    Members of an archive are known by the checksums in its directory.
    """
    digest = hashlib.sha256(str(file.member).encode())
    try:
        if file.member is not None:
            with zipfile.ZipFile(file.path) as archive:
                info = archive.getinfo(file.member)
            digest.update(f"{info.CRC} {info.file_size}".encode())
            return digest.hexdigest()
        status = file.path.stat()
        with file.path.open("rb") as content:
            if status.st_size <= _HASHED_WHOLE:
                while block := content.read(_END):
                    digest.update(block)
            else:
                digest.update(f"{status.st_size} {status.st_mtime_ns}".encode())
                digest.update(content.read(_END))
                content.seek(-_END, 2)
                digest.update(content.read(_END))
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise DamagedData(f"{file} cannot be read ({error})") from error
    return digest.hexdigest()
