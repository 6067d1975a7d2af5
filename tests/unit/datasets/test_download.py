"""Downloads: verified, resumed, refused; from a server of our own."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from cschoice.datasets.raw import download
from cschoice.datasets.raw.catalogue import RAW_DATA, Download, RawData
from cschoice.datasets.raw.files import FilePattern
from cschoice.datasets.raw.folders import cache_folder
from cschoice.errors import DamagedData, DataUnavailable, FileNotUsable

CONTENT = np.random.default_rng(0).bytes(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Server(ThreadingHTTPServer):
    """Serves one file; may break off, ignore ranges, or be at a loss."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.breaks_after, self.knows_ranges, self.code = None, True, None
        self.asked = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/file.bin"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if self.server.code:
            self.send_error(self.server.code)
            return
        if not self.server.knows_ranges:
            start = 0
        if start >= len(CONTENT):
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start : self.server.breaks_after])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def raw(server, monkeypatch, raw_folder):  # noqa: ARG001
    def offer(sha256=SHA256):
        data = RawData(
            title="A file",
            layouts=({"file": FilePattern(("file.bin",))},),
            home="nowhere",
            terms="free",
            steps="none",
            downloads=(Download(server.url, sha256),),
        )
        monkeypatch.setitem(RAW_DATA.written, "it", data)
        return data

    offer()
    return offer


def fetch(folder=None, told=None):
    told = [] if told is None else told
    return download.fetch("it", folder, lambda *numbers: told.append(numbers))


@pytest.mark.usefixtures("raw")
def test_a_file_is_put_where_it_is_looked_for():
    told = []
    (path,) = fetch(told=told)
    assert path == cache_folder() / "data" / "it" / "file.bin"
    assert path.read_bytes() == CONTENT
    assert RAW_DATA["it"].find()["file"].path == path
    assert told[-1] == ("file.bin", len(CONTENT), len(CONTENT))
    assert [entry.name for entry in path.parent.iterdir()] == ["file.bin"]


@pytest.mark.usefixtures("raw")
def test_what_is_there_is_not_fetched_again_and_damage_is_mended(server, tmp_path):
    (path,) = fetch(tmp_path)
    fetch(tmp_path)
    assert len(server.asked) == 1
    path.write_bytes(b"damaged")
    fetch(tmp_path)
    assert path.read_bytes() == CONTENT


@pytest.mark.usefixtures("raw")
@pytest.mark.parametrize("knows_ranges", [True, False])
def test_an_interrupted_download_goes_on(server, tmp_path, knows_ranges):
    server.breaks_after, server.knows_ranges = 100_000, knows_ranges
    with pytest.raises(DataUnavailable, match="fetch it again to go on where it stopped"):
        fetch(tmp_path)
    part = tmp_path / "it" / "file.bin.part"
    assert CONTENT.startswith(part.read_bytes())
    n_kept = part.stat().st_size
    assert 0 < n_kept <= 100_000
    server.breaks_after = None
    (path,) = fetch(tmp_path)
    assert server.asked == [None, f"bytes={n_kept}-"]
    assert path.read_bytes() == CONTENT
    assert not part.exists()


@pytest.mark.usefixtures("raw")
def test_a_part_that_is_whole_is_only_verified(server, tmp_path):
    (tmp_path / "it").mkdir()
    (tmp_path / "it" / "file.bin.part").write_bytes(CONTENT)
    (path,) = fetch(tmp_path)
    assert path.read_bytes() == CONTENT
    assert server.asked == [f"bytes={len(CONTENT)}-"]


def test_another_content_is_thrown_away(raw, tmp_path):
    raw(sha256="0" * 64)
    with pytest.raises(DamagedData, match="does not have the sha256 000"):
        fetch(tmp_path)
    assert list((tmp_path / "it").iterdir()) == []


@pytest.mark.usefixtures("raw")
def test_a_server_at_a_loss_is_named(server, tmp_path):
    server.code = 404
    with pytest.raises(DataUnavailable, match=f"cannot fetch {server.url}: 404"):
        fetch(tmp_path)
    server.server_close()
    with pytest.raises(DataUnavailable, match="cannot fetch"):
        fetch(tmp_path)


@pytest.mark.usefixtures("raw")
def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(FileNotUsable, match="cannot write"):
        fetch(tmp_path / "file")


@pytest.mark.parametrize("name", [name for name, raw in RAW_DATA.items() if not raw.downloads])
def test_what_may_not_be_fetched_says_what_to_do(name):
    raw = RAW_DATA[name]
    with pytest.raises(DataUnavailable) as caught:
        download.fetch(name, None, print)
    for text in (raw.title, raw.terms, raw.steps, raw.home):
        assert text in str(caught.value)


@pytest.mark.parametrize("name", list(RAW_DATA))
def test_downloads_are_verified_by_sha256_and_found_afterwards(name):
    raw = RAW_DATA[name]
    for one in raw.downloads:
        assert len(bytes.fromhex(one.sha256)) == 32
        assert one.url.startswith("https://")
    for sha256 in raw.sha256.values():
        assert len(bytes.fromhex(sha256)) == 32
    assert set(raw.sha256) <= set(raw.layouts[0])
