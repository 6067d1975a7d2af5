"""The folders of raw data, and the cache of arrays made from them."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path

DATA_VARIABLE = "CSCHOICE_DATA"  # folders of raw data, separated as in PATH
CACHE_VARIABLE = "CSCHOICE_CACHE"


def cache_folder() -> Path:
    """Return the folder for everything that can be made or fetched again."""
    given = os.environ.get(CACHE_VARIABLE)
    return Path(given) if given else user_cache_path("cschoice", appauthor=False)


def data_folders() -> list[Path]:
    """Return the folders in which raw data are looked for, in order."""
    given = os.environ.get(DATA_VARIABLE, "").split(os.pathsep)
    return [*(Path(folder) for folder in given if folder), cache_folder() / "data"]
