"""Endpoints against the server of llama.cpp: nobody who wrote it has read our client."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from model_helpers import GREEDY, SAMPLING, ask, entry, texts

from assay.errors import EndpointError
from assay.model.answers import KIND
from assay.model.cache import Cache
from assay.model.engine import Decoding
from assay.model.identity import lock_entry
from assay.model.store import RowStore
from assay.records.rows import Message, PromptRow

ONE = Decoding(max_new_tokens=1)
pytestmark = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp has no wheel for this machine")


@pytest.fixture(scope="module")
def gguf(tmp_path_factory, tiny_gguf):
    path = tmp_path_factory.mktemp("llama") / "tiny.gguf"
    path.write_bytes(tiny_gguf)
    return path


@pytest.fixture
def start(gguf):
    """Return a function that starts the server on a port and returns its process."""
    started = []

    def start(port):
        command = [sys.executable, str(Path(__file__).parent / "llama_server.py"), str(gguf), str(port)]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        started.append(process)
        assert process.stdout.readline().strip() == f"http://127.0.0.1:{port}".encode()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def served(port, **source):
    url = f"http://127.0.0.1:{port}/v1"
    return entry({"kind": "endpoint", "url": url, "served_name": "tiny", "attempts": 2, **source}, "served")


def test_answers_are_those_of_the_same_file_here(start, port, gguf, tmp_path):
    start(port)
    cache = Cache(tmp_path / "cache")
    there, facts = ask(tmp_path / "there", served(port), cache, texts(40), ONE)
    here, _ = ask(tmp_path / "here", entry({"kind": "gguf", "path": str(gguf)}, "here"), cache, texts(40), ONE)
    counts = [[(r.row_id, r.finish_reason, r.n_new_tokens, r.n_prompt_tokens) for r in rows] for rows in (there, here)]
    assert counts[0] == counts[1]
    # The random model writes single bytes; where one is no text, each side has its own way to say so.
    whole = [(t.text, h.text) for t, h in zip(there, here, strict=True) if "\ufffd" not in t.text + h.text]
    assert len(whole) >= 5
    assert all(t == h for t, h in whole)
    assert facts["made"] == 40
    assert "without_usage" not in facts


def test_chats_samples_and_the_lock(start, port, tmp_path):
    start(port)
    locked = lock_entry(served(port), Cache(tmp_path))
    assert locked["server"].startswith("build_info ")
    assert locked["fingerprint"]
    chat = PromptRow.of_messages("c", [Message("user", "Hi")])
    first, _ = ask(tmp_path / "a", served(port), Cache(tmp_path), [chat], SAMPLING, samples=3, locked=locked)
    again, _ = ask(tmp_path / "b", served(port), Cache(tmp_path), [chat], SAMPLING, samples=3, locked=locked)
    assert len({row.text for row in first}) == 3
    assert [row.text for row in again] == [row.text for row in first]  # every sample has a seed of its own


def test_a_prompt_that_the_server_finds_too_long_is_refused_in_its_words(start, port, tmp_path):
    start(port)
    prompts = [*texts(3), PromptRow.of_text("long", "x" * 400)]
    with pytest.raises(EndpointError, match=r"row long.*1 of 4 rows.*refused.*context size"):
        ask(tmp_path, served(port), Cache(tmp_path), prompts)
    with RowStore(tmp_path) as store:
        assert store.count(KIND) == 3


def test_a_server_killed_in_the_middle_loses_nothing_that_was_answered(start, port, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.model.endpoint_client._FIRST_WAIT_S", 0.01)
    process = start(port)
    model = served(port, concurrency=2)
    cache = Cache(tmp_path)
    locked = lock_entry(model, cache)
    calm, _ = ask(tmp_path / "calm", model, cache, texts(30), locked=locked)
    put, stored = RowStore.put, []

    def put_and_kill(store, kind, rows):
        stored.extend(rows)
        if len(stored) >= 8:
            process.kill()
        return put(store, kind, rows)

    with monkeypatch.context() as patch, pytest.raises(EndpointError, match=r"(unreachable|broken-connection)"):
        patch.setattr(RowStore, "put", put_and_kill)
        ask(tmp_path / "killed", model, cache, texts(30), locked=locked)
    process.wait()
    start(port)
    rows, facts = ask(tmp_path / "killed", model, cache, texts(30), locked=locked)
    assert [row.text for row in rows] == [row.text for row in calm]
    assert facts["stored"] == len(stored) < 30


def test_greedy_answers_do_not_ask_for_a_seed(start, port, tmp_path):
    start(port)
    (one,), _ = ask(tmp_path / "a", served(port), Cache(tmp_path), texts(1), GREEDY, seed=1)
    (two,), facts = ask(tmp_path / "a", served(port), Cache(tmp_path), texts(1), GREEDY, seed=2)
    assert one == two
    assert facts["stored"] == 1
