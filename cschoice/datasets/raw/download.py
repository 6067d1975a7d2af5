"""Download raw data where their terms allow a program to do so.

pooch verifies files and puts them in their place, but it cannot resume an interrupted download:
this module does.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cschoice.datasets.raw.catalogue import RAW_DATA, Download
from cschoice.datasets.raw.folders import cache_folder
from cschoice.errors import DamagedData, DataUnavailable
from cschoice.io.files import explained, open_own

Progress = Callable[[str, int, int], None]  # name of the file, bytes so far and in all (or 0)

_BLOCK = 2**16
_PATIENCE = 30.0  # seconds without an answer
_PARTIAL, _NOTHING_LEFT = 206, 416  # HTTP status codes


def fetch(name: str, folder: Path | None, progress: Progress) -> list[Path]:
    """Download raw data to ``folder``/NAME, by default where they are looked for anyway."""
    raw = RAW_DATA[name]
    if not raw.downloads:
        raise DataUnavailable(
            f"{raw.title} cannot be fetched by a program ({raw.terms}): {raw.steps}; "
            f"from {raw.home}"
        )
    target = (folder or cache_folder() / "data") / name
    with explained(target):
        target.mkdir(parents=True, exist_ok=True)
    return [_fetch(download, target, progress) for download in raw.downloads]


def _fetch(download: Download, folder: Path, progress: Progress) -> Path:
    import pooch
    import requests

    pooch.get_logger().setLevel("ERROR")
    part = folder / f"{download.name}.part"

    def resume(url: str, output: str, _: Any) -> None:
        _download(url, part, lambda so_far, total: progress(download.name, so_far, total))
        part.replace(output)

    with explained(folder):
        try:
            path: str = pooch.retrieve(
                download.url, f"sha256:{download.sha256}", download.name, folder, downloader=resume
            )
        except requests.RequestException as error:
            raise DataUnavailable(
                f"cannot fetch {download.url}: {error}; fetch it again to go on where it stopped"
            ) from error
        except ValueError as error:  # pooch raises this for another checksum
            raise DamagedData(
                f"{download.url} does not have the sha256 {download.sha256}: it was thrown away"
            ) from error
    return Path(path)


def _download(url: str, part: Path, progress: Callable[[int, int], None]) -> None:
    """Append the missing bytes to a partial file."""
    import requests

    start = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start else {})}
    with requests.get(url, headers=headers, stream=True, timeout=_PATIENCE) as response:
        if start and response.status_code == _NOTHING_LEFT:
            return  # it was complete: the checksum is tested next
        response.raise_for_status()
        if response.status_code != _PARTIAL:
            start = 0
        left = int(response.headers.get("Content-Length", 0))
        total, so_far = start + left if left else 0, start
        with open_own(part, "ab" if start else "wb") as file:
            for block in response.iter_content(_BLOCK):
                file.write(block)
                so_far += len(block)
                progress(so_far, total)
