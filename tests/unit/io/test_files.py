import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cschoice.errors import FileNotUsable
from cschoice.io import processes
from cschoice.io.files import filling, open_own, read_regular, replacing, settle
from cschoice.io.processes import process_alive


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
        assert {path.name for path in folder.glob("[!.]*")} == {"mine"}
    assert {path.name for path in folder.iterdir()} == {"mine", "train", "test"}
    assert leftovers(tmp_path) == []


def mark_of(pid, room=None):
    return f".{room or processes.machine()}-{pid}-{processes.started(pid) or 0}-{'0' * 16}.tmp"


def test_what_a_killed_process_left_is_swept(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    living, elsewhere = mark_of(os.getppid()), mark_of(dead.pid, room="0" * 12)
    old = mark_of(dead.pid, room="1" * 12)
    for name in (mark_of(dead.pid), living, elsewhere, old, ".mine.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text("half")
    (tmp_path / mark_of(dead.pid).replace("00.tmp", "11.tmp")).write_text("half")
    os.utime(tmp_path / old, (0, 0))
    with replacing(tmp_path / "a.txt") as (temporary,):
        temporary.write_text("whole")
    assert sorted(leftovers(tmp_path)) == sorted([living, elsewhere, ".mine.tmp"])


def test_a_process_number_in_use_again_is_not_mistaken_for_the_writer(tmp_path):
    reused = mark_of(os.getpid()).replace(f"-{processes.started(os.getpid())}-", "-1-")
    (tmp_path / reused).mkdir()
    with replacing(tmp_path / "a.txt") as (temporary,):
        temporary.write_text("whole")
    assert leftovers(tmp_path) == []


def test_files_that_were_decided_on_together_reach_their_places(tmp_path):
    """A kill between two renames: the next one who looks finishes them."""
    targets = [tmp_path / "a", tmp_path / "model" / "b"]
    (tmp_path / ".commit" / "model").mkdir(parents=True)
    for target in targets:
        target.parent.mkdir(exist_ok=True)
        target.write_text("old")
        (tmp_path / ".commit" / target.relative_to(tmp_path)).write_text("new")
    (tmp_path / ".commit" / "a").replace(targets[0])  # so far it came
    settle(tmp_path)
    assert [target.read_text() for target in targets] == ["new", "new"]
    assert leftovers(tmp_path) == []
    with replacing(tmp_path / "a", tmp_path / "c") as temporaries:
        for temporary in temporaries:
            temporary.write_text("newer")
    assert (tmp_path / "a").read_text() == (tmp_path / "c").read_text() == "newer"


def test_several_may_write_the_same_files_at_once(tmp_path):
    def write(number):
        for _ in range(20):
            with replacing(tmp_path / "a", tmp_path / "b") as temporaries:
                for temporary in temporaries:
                    temporary.write_text(str(number))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(write, range(4))) == [None] * 4
    assert leftovers(tmp_path) == []


def test_a_planted_link_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.write_text("precious")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").symlink_to(outside)
    with replacing(folder / "a.txt") as (temporary,):
        assert temporary.parent.stat().st_mode & 0o077 == 0
        temporary.write_text("whole")
    assert outside.read_text() == "precious"
    assert (folder / "a.txt").read_text() == "whole"


@pytest.mark.skipif(sys.platform != "linux", reason="it asks the kernel for the names of files")
def test_contents_and_names_are_on_the_disk_when_a_file_is_there(tmp_path, monkeypatch):
    flushed = []
    opened = Path("/proc/self/fd")
    monkeypatch.setattr(
        os, "fsync", lambda file: flushed.append(str((opened / str(file)).readlink()))
    )
    folder = tmp_path / "a" / "b"
    with replacing(folder / "x") as (temporary,):
        temporary.write_text("whole")
    assert {str(tmp_path), str(tmp_path / "a"), str(temporary)} < set(flushed)
    assert flushed[-1] == str(folder)
    flushed.clear()
    with filling(tmp_path / "c") as temporary:
        (temporary / "y").write_text("whole")
    assert flushed[-3:] == [str(temporary / "y"), str(temporary), str(tmp_path)]


@pytest.mark.parametrize("mode", ["a", "wb"])
def test_nothing_is_added_through_a_link_or_into_a_pipe(tmp_path, mode):
    (tmp_path / "outside").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe"):
        with pytest.raises(OSError, match=name):
            open_own(tmp_path / name, mode)
    assert (tmp_path / "outside").read_text() == "precious"
    for _ in range(2):
        with open_own(tmp_path / "own", mode) as file:
            file.write(b"x" if mode == "wb" else "x")
    assert (tmp_path / "own").read_text() == {"a": "xx", "wb": "x"}[mode]


def test_folders_that_were_made_for_nothing_go(tmp_path):
    with pytest.raises(ValueError), filling(tmp_path / "x" / "y" / "fold-0"):  # noqa: PT011
        raise ValueError
    assert list(tmp_path.iterdir()) == []


def test_only_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError, match=r"pipe or a device|directory"):
            read_regular(path)
    (tmp_path / "large").write_bytes(bytes(100))
    with pytest.raises(OSError, match="larger than 99 bytes"):
        read_regular(tmp_path / "large", most=99)


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
