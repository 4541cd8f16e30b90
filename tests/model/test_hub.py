"""Pinned revisions from a hub: a small one on loopback that speaks the hub's protocol."""

import hashlib
import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from model_helpers import ask, entry, texts

from assay.errors import ModelError
from assay.model.cache import Cache
from assay.model.fetch import UnavailableError, fetch, is_present
from assay.model.identity import check_against_lock, lock_entry

REVISION = "0123456789abcdef0123456789abcdef01234567"


class _Hub(BaseHTTPRequestHandler):
    folder = None
    requests: list[str] = []

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        self.requests.append(self.path)
        path = self.path.partition("?")[0]
        names = sorted(p.name for p in self.folder.iterdir())
        if path.startswith("/api/models/some/model/revision/"):
            siblings = [{"rfilename": name} for name in [*names, "pytorch_model.bin", "modeling_evil.py"]]
            self._send(200, json.dumps({"id": "some/model", "sha": REVISION, "siblings": siblings}).encode())
        elif path.startswith("/api/models/some/model/tree/"):
            files = [
                {"type": "file", "path": n, "size": (self.folder / n).stat().st_size, "oid": "0" * 40} for n in names
            ]
            self._send(200, json.dumps(files).encode())
        elif path.startswith(f"/some/model/resolve/{REVISION}/") and path.rpartition("/")[2] in names:
            self._send(200, (self.folder / path.rpartition("/")[2]).read_bytes())
        else:
            self._send(404, b"{}")

    def _send(self, status, data):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def hub(tiny_folder, monkeypatch):
    handler = type("Hub", (_Hub,), {"folder": tiny_folder, "requests": []})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    yield handler
    server.shutdown()
    server.server_close()


def _model(revision=REVISION):
    return entry({"kind": "hub", "repo": "some/model", "revision": revision}, "hubbed")


def test_a_pinned_revision_is_fetched_once_locked_and_used(hub, tmp_path):
    cache = Cache(tmp_path / "cache")
    with pytest.raises(ModelError, match="assay fetch --models hubbed"):
        lock_entry(_model(), cache)
    assert fetch(_model(), cache, say=lambda _line: None)
    asked = len(hub.requests)
    assert not fetch(_model(), cache, say=lambda _line: None)
    locked = lock_entry(_model(), cache)
    assert (locked["repo"], locked["revision"]) == ("some/model", REVISION)
    rows, _ = ask(tmp_path / "a", _model(), cache, texts(3), locked=locked)
    same, _ = ask(tmp_path / "b", entry(), cache, texts(3))
    assert [row.text for row in rows] == [row.text for row in same]
    assert len(hub.requests) == asked  # nothing but the fetch talks to the hub
    assert not any(name.endswith((".bin", ".py")) for name in hub.requests)


def test_a_damaged_file_is_had_again_in_the_way_that_is_named(hub, tmp_path):
    cache = Cache(tmp_path / "cache")
    fetch(_model(), cache, say=lambda _line: None)
    locked = lock_entry(_model(), cache)
    (folder,) = cache.hub.glob("models--*/snapshots/*")
    weights = (folder / "model.safetensors").resolve()
    weights.write_bytes(weights.read_bytes()[:-1] + b"\xff")
    with pytest.raises(ModelError, match=rf"delete {folder.parents[1]} and run `assay fetch --models hubbed`"):
        check_against_lock(_model(), locked, cache)
    shutil.rmtree(folder.parents[1])
    assert fetch(_model(), cache, say=lambda _line: None)
    assert lock_entry(_model(), cache) == locked


def test_a_full_disk_does_not_make_a_model_unavailable(hub, small_disk):
    cache = Cache(small_disk("100k"))
    with pytest.raises(ModelError, match=r"cache cannot be written.*No space") as caught:
        fetch(_model(), cache, say=lambda _line: None)
    assert not isinstance(caught.value, UnavailableError)
    small_disk("20m")
    assert fetch(_model(), cache, say=lambda _line: None)


def test_a_revision_that_the_hub_lacks_is_unavailable(hub, tmp_path):
    cache = Cache(tmp_path / "cache")
    with pytest.raises(UnavailableError, match=r"some/model at ffffffffffff cannot be had"):
        fetch(_model("f" * 40), cache, say=lambda _line: None)
    assert not is_present(_model("f" * 40), cache)
