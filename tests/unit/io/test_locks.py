"""Who works on a folder: living, dead, elsewhere, in another life."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from cschoice.io import locks, processes
from cschoice.io.processes import started


def test_a_claim_excludes_others_and_ends(tmp_path):
    with locks.claim(tmp_path) as mine, locks.claim(tmp_path) as second:
        assert mine
        assert not second
        assert locks.claimed_by_living(tmp_path)
    assert not locks.claimed_by_living(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_threads_of_one_process_exclude_one_another(tmp_path):
    n_holders, most, entered = 0, 0, threading.Barrier(4)

    def contend(_):
        nonlocal n_holders, most
        entered.wait()
        for _ in range(200):
            with locks.claim(tmp_path) as mine:
                if mine:
                    n_holders += 1
                    most = max(most, n_holders)
                    n_holders -= 1

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(contend, range(4))) == [None] * 4
    assert most == 1


def leave_claim(folder, number=0, **changes):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    holder = {"host": socket.gethostname(), "pid": dead.pid, "started": "1", **changes}
    (folder / f"claim-{number}.json").write_text(json.dumps(holder))


def test_a_dead_claim_is_taken_over(tmp_path):
    leave_claim(tmp_path, number=4)
    assert not locks.claimed_by_living(tmp_path)
    with locks.claim(tmp_path) as mine:
        assert mine
        assert [path.name for path in tmp_path.iterdir()] == ["claim-5.json"]


def test_a_reused_process_number_is_not_mistaken_for_the_holder(tmp_path):
    leave_claim(tmp_path, pid=os.getpid(), started="long ago")
    assert not locks.claimed_by_living(tmp_path)


def test_a_claim_of_another_machine_lives_while_its_heart_beats(tmp_path):
    leave_claim(tmp_path, host="elsewhere")
    assert locks.claimed_by_living(tmp_path)
    old = (tmp_path / "claim-0.json").stat().st_mtime - 3_600
    os.utime(tmp_path / "claim-0.json", (old, old))
    assert not locks.claimed_by_living(tmp_path)


def test_an_owners_later_life_takes_over_and_the_earlier_one_notices(tmp_path):
    with locks.claim(tmp_path, "slurm 17 3") as first:
        with locks.claim(tmp_path, "slurm 17 4") as stranger:
            assert stranger is None
        with locks.claim(tmp_path, "slurm 17 3") as second:
            assert second.held()
            assert not first.held()
        with locks.claim(tmp_path) as third:  # in the same file as the first one
            assert third.path == first.path
            assert not first.held()
    assert list(tmp_path.iterdir()) == []


def test_an_owner_that_is_known_to_be_gone_is_released(tmp_path):
    leave_claim(tmp_path, host="elsewhere", owner="slurm 17 3")
    locks.release(tmp_path, "slurm 17 4")
    assert locks.owner_of(tmp_path) == "slurm 17 3"
    assert locks.claimed_by_living(tmp_path)
    locks.release(tmp_path, "slurm 17 3")
    assert locks.owner_of(tmp_path) == ""
    assert not locks.claimed_by_living(tmp_path)


def test_clocks_that_differ_between_machines_matter_to_nobody(tmp_path, monkeypatch):
    leave_claim(tmp_path, host="elsewhere")
    now = time.time()
    for skewed in (now - 86_400, now + 86_400):
        monkeypatch.setattr("time.time", lambda skewed=skewed: skewed)
        assert locks.claimed_by_living(tmp_path)


def test_someone_who_came_in_between_is_not_pushed_aside(tmp_path, monkeypatch):
    """Between our look at a dead claim and our own one, two others took the folder in turns."""
    leave_claim(tmp_path, number=0)
    link = os.link

    def late_link(draft, path):
        living = {"host": socket.gethostname(), "pid": os.getpid()}
        living["started"] = started(os.getpid())
        (tmp_path / "claim-2.json").write_text(json.dumps(living))
        (tmp_path / "claim-0.json").unlink()
        link(draft, path)
        assert path.name == "claim-1.json"

    monkeypatch.setattr(os, "link", late_link)
    with locks.claim(tmp_path) as mine:
        assert not mine
    assert [path.name for path in tmp_path.iterdir()] == ["claim-2.json"]


def test_a_claim_that_was_never_written_whole_is_dead(tmp_path):
    (tmp_path / "claim-3.json").write_text("")
    assert not locks.claimed_by_living(tmp_path)
    with locks.claim(tmp_path) as mine:
        assert mine


def test_a_container_with_the_same_name_and_numbers_is_another_machine(tmp_path, monkeypatch):
    with locks.claim(tmp_path) as mine:
        assert mine
        monkeypatch.setattr(processes, "machine", lambda: "another0room")
        monkeypatch.setattr(locks, "machine", lambda: "another0room")
        with locks.claim(tmp_path) as theirs:
            assert theirs is None
        old = mine.path.stat().st_mtime - 3_600
        os.utime(mine.path, (old, old))
        assert not locks.claimed_by_living(tmp_path)


def test_foreign_files_are_nobodys_claims(tmp_path):
    (tmp_path / "claim-0 (conflicted copy).json").write_text("{}")
    (tmp_path / "claim-x.json").write_text("")
    for number, content in enumerate(["{}", "[1]", '{"pid": "1"}', "[" * 5_000, "\ud800"]):
        text = content.encode("utf-8", "surrogatepass")
        (tmp_path / f"claim-{number}.json").write_bytes(text)
    assert not locks.claimed_by_living(tmp_path)
    assert locks.owner_of(tmp_path) == ""
    with locks.claim(tmp_path) as mine:
        assert mine
        assert mine.path.name == "claim-5.json"
    assert sorted(path.name for path in tmp_path.iterdir())[0] == "claim-0 (conflicted copy).json"


def test_a_claim_that_cannot_be_read_lives_as_long_as_it_is_young(tmp_path):
    claim = tmp_path / "claim-0.json"
    for make in (lambda: os.mkfifo(claim), lambda: claim.symlink_to(claim.name)):
        make()
        with locks.claim(tmp_path) as mine:
            assert mine is None
        old = claim.lstat().st_mtime - 3_600
        os.utime(claim, (old, old), follow_symlinks=False)
        with locks.claim(tmp_path) as mine:
            assert mine
        assert list(tmp_path.iterdir()) == []
