"""docs/SPEED.md is printed again by one command; its blocks name scripts that exist."""

import importlib.util
import shlex
from pathlib import Path

import pytest


@pytest.fixture
def speed():
    path = Path(__file__).parent.parent / "tools" / "speed.py"
    spec = importlib.util.spec_from_file_location("speed", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_blocks_are_printed_again_and_what_fails_stays(speed, tmp_path):
    script = tmp_path / "one.py"
    script.write_text("import sys; print('new', *sys.argv[1:]); sys.exit(sys.argv[1] == 'fails')")
    blocks = [
        f"<!-- python {script} {word}: begin -->\nold {word}\n"
        f"<!-- python {script} {word}: end -->\n"
        for word in ("works", "fails")
    ]
    page = "before\n" + "between\n".join(blocks) + "after"
    again = speed.updated(page, "one.py", "today:")
    assert (again[:7], again[-5:]) == ("before\n", "after")
    assert "today:\n\n```text\nnew works\n```" in again
    assert "old fails" in again
    assert speed.updated(again, "nothing of it") == again


def test_every_block_names_a_script(speed):
    commands = [block["command"] for block in speed._BLOCK.finditer(speed.PAGE.read_text())]
    assert len(commands) >= 3
    for command in commands:
        python, script, *_ = shlex.split(command)
        assert python == "python"
        assert (speed.ROOT / script).is_file(), command
