"""Files of people's tables, plain or compressed; an unreadable one is named in one line."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cschoice.errors import FileNotUsable, InvalidFile, InvalidTable

_COMPRESSED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, through its compression."""
    with _COMPRESSED.get(path.suffix.lower(), open)(path, "rb") as file:
        yield file


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn a library's error about an unreadable file into one line that names the file."""
    import pyarrow as pa

    try:
        yield
    except (InvalidTable, InvalidFile):
        raise
    except UnicodeDecodeError as error:
        raise InvalidFile(f"{path} is not UTF-8 text: save it as CSV in UTF-8") from error
    except (pa.ArrowException, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile) as error:
        reason = " ".join(str(error).split())[:200]
        raise InvalidFile(f"{path} cannot be read as a table: {reason}") from error
    except OSError as error:
        raise FileNotUsable(f"cannot read {path}: {error.strerror or error}") from error
