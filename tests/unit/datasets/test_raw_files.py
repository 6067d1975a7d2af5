"""Raw files: found in any layout, read in any packing, refused when damaged."""

import gzip
import lzma
import os
import threading
import time
import zipfile

import numpy as np
import pytest

from cschoice.datasets.raw import files
from cschoice.datasets.raw.cache import cached, fingerprint, load_array, save_arrays
from cschoice.datasets.raw.files import FilePattern, RawFile, find, listing
from cschoice.datasets.raw.folders import cache_folder, data_folders
from cschoice.errors import DamagedData, DataUnavailable, FileNotUsable

TEXT = b"first\n\n third \n"


def pack(path, content=TEXT, member="deep/file.txt"):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(content))
    elif path.suffix == ".xz":
        path.write_bytes(lzma.compress(content))
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(member, content)
    else:
        path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    "name", ["file.txt", "file.txt.gz", "file.txt.xz", "any.zip", "a/b/file.txt"]
)
def test_a_file_is_found_and_read_however_it_is_packed(raw_folder, name):
    pack(raw_folder / name)
    (file,) = find("it", [{"text": FilePattern(("file.txt",))}]).values()
    assert list(file.lines()) == [(1, b"first\n"), (3, b" third \n")]


def test_names_are_tried_in_order_and_folders_must_fit(raw_folder):
    pack(raw_folder / "MQ2008-list" / "S1.txt")
    wanted = FilePattern(("S1.txt", "Fold2/test.txt"), ("mq2008",))
    with pytest.raises(DataUnavailable, match="it: S1.txt not found in"):
        find("it", [{"S1": wanted}])
    second = pack(raw_folder / "letor_mq2008" / "Fold2" / "test.txt")
    pack(raw_folder / "letor_mq2008" / "Fold1" / "test.txt")
    assert find("it", [{"S1": wanted}])["S1"].path == second
    first = pack(raw_folder / "LETOR 4.0" / "MQ2008" / "s1.TXT")
    assert find("it", [{"S1": wanted}])["S1"].path == first


def test_the_first_complete_layout_is_used(raw_folder):
    old = {"a": FilePattern(("a.dat",)), "b": FilePattern(("b.dat",))}
    new = {"a": FilePattern(("a.csv",))}
    pack(raw_folder / "a.dat")
    pack(raw_folder / "a.csv")
    assert find("it", [old, new])["a"].path.name == "a.csv"
    pack(raw_folder / "b.dat")
    assert find("it", [old, new])["a"].path.name == "a.dat"


def test_several_folders_are_searched_in_order(raw_folder, tmp_path, monkeypatch):
    other = tmp_path / "other"
    monkeypatch.setenv("CSCHOICE_DATA", f"{raw_folder}{os.pathsep}{other}")
    assert data_folders() == [raw_folder, other, cache_folder() / "data"]
    pack(other / "x")
    pack(cache_folder() / "data" / "x")
    assert find("it", [{"x": FilePattern(("x",))}])["x"].path == other / "x"


def test_without_variables_the_users_cache_is_meant(monkeypatch):
    monkeypatch.delenv("CSCHOICE_DATA", raising=False)
    monkeypatch.delenv("CSCHOICE_CACHE", raising=False)
    assert cache_folder().name == "cschoice"
    assert data_folders() == [cache_folder() / "data"]


@pytest.mark.parametrize("suffix", [".gz", ".xz", ".zip"])
def test_what_is_cut_short_is_named(tmp_path, suffix):
    content = os.urandom(50_000)
    path = pack(tmp_path / f"f{suffix}", content, "f")
    whole = path.read_bytes()
    file = RawFile(path, "f" if suffix == ".zip" else None)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedData, match=f"f{suffix}"), file.open() as stream:
        stream.read()


def test_flipped_bits_are_found(tmp_path):
    for suffix in (".gz", ".xz", ".zip"):
        path = pack(tmp_path / f"f{suffix}", b"0123456789" * 10_000, "f")
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0xFF
        path.write_bytes(content)
        with pytest.raises(DamagedData, match="damaged|cannot be read"):
            file = RawFile(path, "f" if suffix == ".zip" else None)
            with file.open() as stream:
                stream.read()


def test_a_file_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MOST_BYTES", 1_000_000)
    for suffix in (".gz", ".xz", ".zip"):
        path = pack(tmp_path / f"bomb{suffix}", bytes(3_000_000), "bomb")
        file = RawFile(path, "bomb" if suffix == ".zip" else None)
        says = "unpacks to more than 1,000,000 bytes"
        with pytest.raises(DamagedData, match=says), file.open() as stream:
            while stream.read(100_000):
                pass


def test_an_endless_line_is_refused(tmp_path):
    path = pack(tmp_path / "file.gz", b"ok\n" + bytes(2 * files.LONGEST_LINE))
    with pytest.raises(DamagedData, match=r"file.gz, line 2: a line of more than 1,048,576"):
        list(RawFile(path).lines())


def test_archives_write_nothing_whatever_their_members_are_called(raw_folder, tmp_path):
    for member in ("../../evil.txt", "/evil.txt", "..\\evil.txt"):
        pack(raw_folder / "a.zip", b"evil", member)
        before = sorted(tmp_path.rglob("*"))
        for _, file in listing(raw_folder):
            list(file.lines())
        assert sorted(tmp_path.rglob("*")) == before


def test_a_zip_that_is_none_holds_nothing(raw_folder):
    pack(raw_folder / "x.txt")
    (raw_folder / "a.zip").write_bytes(b"no zip")
    assert [path for path, _ in listing(raw_folder)] == ["raw/x.txt"]


def test_a_data_folder_may_be_that_of_one_dataset(raw_folder, monkeypatch):
    path = pack(raw_folder / "MQ2008" / "S1.txt")
    monkeypatch.setenv("CSCHOICE_DATA", str(path.parent))
    assert find("it", [{"S1": FilePattern(("S1.txt",), ("mq2008",))}])["S1"].path == path


def test_folders_with_other_data_under_the_same_names_are_passed_over(raw_folder):
    wanted = FilePattern(("images",), never=("fashionmnist",))
    pack(raw_folder / "Fashion-MNIST" / "raw" / "images")
    with pytest.raises(DataUnavailable, match="images not found"):
        find("it", [{"images": wanted}])
    path = pack(raw_folder / "MNIST" / "raw" / "images")
    assert find("it", [{"images": wanted}])["images"].path == path


def test_what_was_made_is_made_once_and_again_when_something_changes(raw_folder):
    path = pack(raw_folder / "x")
    made = []

    def make(folder):
        made.append(folder)
        save_arrays(folder, {"a": np.arange(3)})

    first = cached("it", {"v": 1}, [RawFile(path)], make)
    assert load_array(first, "a").tolist() == [0, 1, 2]
    assert cached("it", {"v": 1}, [RawFile(path)], make) == first
    assert len(made) == 1
    assert cached("it", {"v": 2}, [RawFile(path)], make) != first
    path.write_bytes(b"changed")
    assert cached("it", {"v": 1}, [RawFile(path)], make) != first
    assert len(made) == 3


@pytest.mark.usefixtures("raw_folder")
def test_what_fails_leaves_nothing_in_the_cache():
    def fail(folder):
        (folder / "half").touch()
        raise DamagedData("line 7")

    with pytest.raises(DamagedData, match="line 7"):
        cached("it", {}, [], fail)
    assert [path for path in cache_folder().rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("raw_folder")
def test_two_who_need_the_same_wait_for_one_another():
    made = []

    def make(folder):
        made.append(folder)
        time.sleep(0.3)
        save_arrays(folder, {"a": np.arange(3)})

    threads = [threading.Thread(target=cached, args=("it", {}, [], make)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_cache_that_cannot_be_written_says_what_to_set(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("CSCHOICE_CACHE", str(tmp_path / "file"))
    with pytest.raises(FileNotUsable, match="set CSCHOICE_CACHE to a folder"):
        cached("it", {}, [], print)


def test_large_files_are_told_apart_by_size_time_and_ends(tmp_path, monkeypatch):
    monkeypatch.setattr("cschoice.datasets.raw.cache._HASHED_WHOLE", 10)
    monkeypatch.setattr("cschoice.datasets.raw.cache._END", 4)
    path = tmp_path / "large"
    prints = set()
    for content in (b"0123456789abc", b"0123456789abX", b"X123456789abc"):
        path.write_bytes(content)
        os.utime(path, ns=(1, 1))
        prints.add(fingerprint(RawFile(path)))
    os.utime(path, ns=(2, 2))
    prints.add(fingerprint(RawFile(path)))
    assert len(prints) == 4


def test_members_of_archives_are_told_apart_by_their_checksums(tmp_path):
    prints = set()
    for content in (b"one", b"two", b"one"):
        path = pack(tmp_path / "a.zip", content, "x")
        prints.add(fingerprint(RawFile(path, "x")))
    assert len(prints) == 2
    path.write_bytes(b"no archive any more")
    with pytest.raises(DamagedData, match="a.zip:x cannot be read"):
        fingerprint(RawFile(path, "x"))
