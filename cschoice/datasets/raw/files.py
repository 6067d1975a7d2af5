"""Raw files as people have them: unpacked or still in their zip archive, plain or compressed.

Archives are read in place and never unpacked, so nothing in them can be written anywhere. The
unpacked size of a file and the length of a line are limited.
"""

from __future__ import annotations

import gzip
import io
import itertools
import lzma
import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from cschoice.datasets.raw.folders import DATA_VARIABLE, data_folders
from cschoice.errors import DamagedData, DataUnavailable

MOST_BYTES = 16 * 2**30  # unpacked; the largest file of the paper, Expedia's, has 2.4 GB
LONGEST_LINE = 2**20
_DEEPEST = 5  # folders below a data folder
_COMPRESSIONS = (".gz", ".xz", ".zip")
_DAMAGE = (zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, NotImplementedError)


@dataclass(frozen=True)
class RawFile:
    """A file on disk, or a member of a zip archive there."""

    path: Path
    member: str | None = None

    def __str__(self) -> str:
        return str(self.path) if self.member is None else f"{self.path}:{self.member}"

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open it for reading, uncompressed; ``DamagedData`` names a file that cannot be."""
        try:
            if self.member is not None:
                with zipfile.ZipFile(self.path) as archive, archive.open(self.member) as file:
                    yield _limited(file, self)
            elif self.path.suffix == ".gz":
                with gzip.open(self.path) as file:
                    yield _limited(file, self)
            elif self.path.suffix == ".xz":
                with lzma.open(self.path) as file:
                    yield _limited(file, self)
            else:
                with self.path.open("rb") as file:
                    yield file
        except _DAMAGE as error:
            raise DamagedData(f"{self} is damaged ({error}): get it again") from error
        except RuntimeError as error:  # zipfile raises this for an encrypted member
            raise DamagedData(f"{self} cannot be read ({error})") from error
        except OSError as error:
            raise DamagedData(f"{self} cannot be read ({error.strerror or error})") from error

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers from 1."""
        with self.open() as file:
            for number in itertools.count(1):
                line = file.readline(LONGEST_LINE)
                if not line:
                    return
                if len(line) == LONGEST_LINE:
                    raise self.malformed(number, f"a line of more than {LONGEST_LINE:,} characters")
                if not line.isspace():
                    yield number, line

    def number(self, line: int, name: str, text: str) -> float:
        """Return the number that a text on a line is, or raise the error that names the line."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise self.malformed(line, f"{name} must be a number, got '{text}'")
        return value

    def malformed(self, line: int, problem: str) -> DamagedData:
        """Return the error that names file, line and problem."""
        return DamagedData(f"{self}, line {line:,}: {problem}")


@dataclass(frozen=True)
class FilePattern:
    """The names a file may have: ends of its path, under a folder with a certain name."""

    names: tuple[str, ...]  # in order of preference, for example "S1.txt", "Fold2/test.txt"
    folders: tuple[str, ...] = ("",)  # how one above it may end, in letters and digits alone
    never: tuple[str, ...] = ()  # how folders with other data under the same names end

    def rank(self, path: str) -> int | None:
        """Return which of the names a path (slashes, no compression suffix) has, if any."""
        bare = [_bare(name) for name in path.split("/")[:-1]]
        if not any(name.endswith(self.folders) for name in bare or [""]):
            return None
        if any(name.endswith(self.never) for name in bare):
            return None
        for rank, name in enumerate(self.names):
            if f"/{path}".lower().endswith(f"/{name}".lower()):
                return rank
        return None


def find(title: str, layouts: Sequence[Mapping[str, FilePattern]]) -> dict[str, RawFile]:
    """Return the files of the first layout that is complete, looked for in all data folders."""
    searched = data_folders()
    listings = [listing(folder) for folder in searched]
    missing: list[str] = []
    for layout in layouts:
        found: dict[str, RawFile] = {}
        beside = ""  # files of one dataset lie together: others may be called the same
        for key, wanted in layout.items():
            if match := _best(wanted, listings, beside):
                beside, found[key] = match
        if len(found) == len(layout):
            return found
        if not missing:
            missing = [layout[key].names[0] for key in layout if key not in found]
    raise DataUnavailable(
        f"{title}: {', '.join(missing)} not found in {' or '.join(map(str, searched))}; "
        f"set {DATA_VARIABLE} to the folder that holds it, or see 'cschoice data list'"
    )


def listing(folder: Path) -> list[tuple[str, RawFile]]:
    """Return all files below a folder, archives opened, with their paths as they are matched.

    The folder's own name counts: it may be that of the one dataset it holds.

    >>> listing(Path("no such folder"))
    []
    """
    found = []
    own_name = Path(folder.resolve().name)
    for base, folders, names in os.walk(folder):
        depth = len(Path(base).relative_to(folder).parts)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and depth < _DEEPEST)
        for name in sorted(names):
            path = Path(base) / name
            inside = (own_name / path.relative_to(folder)).as_posix()
            if path.suffix == ".zip":
                found += [
                    (f"{inside.removesuffix('.zip')}/{member}", RawFile(path, member))
                    for member in _members(path)
                ]
            elif path.suffix in _COMPRESSIONS:
                found.append((inside.removesuffix(path.suffix), RawFile(path)))
            else:
                found.append((inside, RawFile(path)))
    return sorted(found, key=lambda row: (row[0].count("/"), row[0]))


def _members(path: Path) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return [info.filename for info in archive.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, OSError):
        return []  # its members count as missing


def _best(
    wanted: FilePattern, listings: Iterable[list[tuple[str, RawFile]]], beside: str
) -> tuple[str, RawFile] | None:
    """Return the file of the first folder that has any; of several the nearest to another one."""
    for files in listings:
        matches = [
            (rank, -_n_shared(path, beside), path, file)
            for path, file in files
            if (rank := wanted.rank(path)) is not None
        ]
        if matches:
            _, _, path, file = min(matches, key=lambda match: match[:2])
            return path, file
    return None


def _n_shared(path: str, other: str) -> int:
    """Count the folders that two paths have in common, from the top.

    >>> _n_shared("data/ml-20m/tags.csv", "data/ml-20m/genome-tags.csv")
    2
    """
    pairs = zip(path.split("/"), other.split("/"), strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def _bare(name: str) -> str:
    """Reduce a name to letters and digits.

    >>> _bare("LETOR_MQ2008-list")
    'letormq2008list'
    """
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _limited(file: object, raw: RawFile) -> BinaryIO:
    return cast(BinaryIO, io.BufferedReader(_Limited(cast(BinaryIO, file), raw), 2**18))


class _Limited(io.RawIOBase):
    """A stream that refuses to unpack to more than is plausible."""

    def __init__(self, file: BinaryIO, raw: RawFile) -> None:
        self._file, self._raw, self._left = file, raw, MOST_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise DamagedData(f"{self._raw} unpacks to more than {MOST_BYTES:,} bytes: refused")
        buffer[: len(data)] = data
        return len(data)
