"""The command line, in an empty folder."""

import pytest
from cschoice_cli.main import app
from typer.testing import CliRunner


@pytest.fixture
def run(tmp_path, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CSCHOICE_DATA", "")
    monkeypatch.setenv("CSCHOICE_CACHE", str(tmp_path_factory.mktemp("cache")))

    def invoke(line, code=0):
        result = CliRunner().invoke(app, line.split())
        assert result.exit_code == code, result.output
        return result

    return invoke
