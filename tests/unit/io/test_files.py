import os
import socket
import subprocess
import sys

import pytest

from cschoice.errors import FileNotUsable
from cschoice.io.files import filling, process_alive, replacing


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_a_file_appears_when_the_block_succeeds(tmp_path):
    target = tmp_path / "new" / "a.txt"
    with replacing(target) as (temporary,):
        temporary.write_text("whole")
        assert not target.exists()
    assert target.read_text() == "whole"
    assert leftovers(target.parent) == []


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt])
def test_a_block_that_ends_early_changes_nothing(stop, tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(stop), replacing(target) as (temporary,):
        temporary.write_text("half")
        raise stop
    assert target.read_text() == "old"
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("stop", [ValueError, KeyboardInterrupt])
def test_a_folder_is_filled_with_all_or_nothing(stop, tmp_path):
    folder = tmp_path / "fold-0"
    with pytest.raises(stop), filling(folder) as temporary:
        (temporary / "train").write_text("1")
        raise stop
    assert list(tmp_path.iterdir()) == []
    folder.mkdir()
    (folder / "mine").write_text("kept")
    with filling(folder) as temporary:
        (temporary / "train").write_text("1")
        (temporary / "test").write_text("2")
        assert {path.name for path in folder.iterdir()} == {"mine"}
    assert {path.name for path in folder.iterdir()} == {"mine", "train", "test"}
    assert leftovers(tmp_path) == []


def test_what_a_killed_process_left_is_swept(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    (tmp_path / f".a.txt.{host}.{dead.pid}.tmp").write_text("half")
    living = tmp_path / f".a.txt.{host}.{os.getppid()}.tmp"
    living.write_text("someone else is writing")
    with replacing(tmp_path / "a.txt") as (temporary,):
        temporary.write_text("whole")
    assert leftovers(tmp_path) == [living.name]


def test_an_unwritable_place_is_explained(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(FileNotUsable, match="cannot write .*file"),
        replacing(tmp_path / "file" / "a.txt") as (temporary,),
    ):
        temporary.write_text("")


def test_a_process_that_has_ended_is_not_alive_even_if_nobody_asked_how():
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    assert process_alive(process.pid)
    process.stdin.close()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # a zombie now
    assert not process_alive(process.pid) or sys.platform != "linux"
    process.wait()
    assert not process_alive(process.pid)
