"""The installed command, in an empty folder."""

from importlib.metadata import entry_points

import pytest
from typer.testing import CliRunner


@pytest.fixture
def run(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSCHOICE_DATA", "")
    monkeypatch.setenv("CSCHOICE_CACHE", str(tmp_path_factory.mktemp("cache")))
    (command,) = entry_points(group="console_scripts", name="cschoice")
    app = command.load()

    def invoke(line, code=0):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == code, result.output
        return result

    return invoke
