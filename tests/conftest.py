import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Several test processes whose threads fight for the cores are many times slower.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

sys.path.insert(0, str(Path(__file__).parent))

# Deadlines measure the machine, not the code; the same examples on every run.
settings.register_profile("cschoice", deadline=None, derandomize=True)
settings.load_profile("cschoice")


@pytest.fixture(scope="session")
def data_folder():
    """The folder with real data, or a skip that says how to have one."""
    folder = os.environ.get("CSCHOICE_DATA")
    if not folder:
        pytest.skip("real data needed: set CSCHOICE_DATA to the folder that holds it")
    return Path(folder)


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Chromium without a window, for all pages."""
    from browsing import chromium

    with chromium(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
def raw_folder(tmp_path, monkeypatch):
    """An empty folder of raw data, and an empty cache."""
    folder = tmp_path / "raw"
    folder.mkdir()
    monkeypatch.setenv("CSCHOICE_DATA", str(folder))
    monkeypatch.setenv("CSCHOICE_CACHE", str(tmp_path / "cache"))
    return folder
