"""Connections to endpoints: what never comes, comes too slowly, breaks, or has no end."""

import contextlib
import gzip
import signal
import socket
import threading
import time

import pytest
from model_helpers import ask, remote, texts
from openai_server import serving

from assay.errors import EndpointError
from assay.model.cache import Cache
from assay.model.endpoint import EndpointBackend
from assay.model.identity import lock_entry


@pytest.fixture
def slow_server(tiny_folder):
    """A server of one test: what its client gave up may still reach it in the middle of the next test."""
    with serving(tiny_folder) as server:
        yield server


@pytest.fixture
def raw_server():
    """Return a function that serves bytes: every connection gets the pieces, with a pause before each; gives a URL."""
    listeners = []

    def answer(connection, pieces, pause_s):
        with connection, contextlib.suppress(OSError):
            connection.recv(2**16)
            for piece in pieces:
                time.sleep(pause_s)
                connection.sendall(piece)

    def accept(listener, *what):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=(listener.accept()[0], *what), daemon=True).start()

    def serve(pieces, pause_s=0.0):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)
        threading.Thread(target=accept, args=(listener, pieces, pause_s), daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    yield serve
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_a_server_that_does_not_answer_in_time_is_a_failure(slow_server, tmp_path):
    slow_server.delay_s = 1.0
    with pytest.raises(EndpointError, match=r"timeout.*0\.2 s"):
        lock_entry(remote(slow_server.url, timeout_s=0.2, attempts=2), Cache(tmp_path))


def test_a_server_that_sends_blanks_for_ever_is_a_time_out(slow_server, tmp_path):
    slow_server.drip_s = 0.05
    with pytest.raises(EndpointError, match=r"timeout.*0\.4 s"):
        lock_entry(remote(slow_server.url, timeout_s=0.4, attempts=1), Cache(tmp_path))


HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("pieces", [[b"H"], [HEAD, b"X: "], [b"HTTP/1.1 102 Processing\r\n\r\n"]])
def test_headers_that_trickle_in_are_a_time_out_like_any_late_answer(raw_server, tmp_path, pieces):
    url = raw_server([*pieces, *[pieces[-1] if pieces[-1].endswith(b"\n") else b"x"] * 200], 0.05)
    started = time.monotonic()
    with pytest.raises(EndpointError, match=r"timeout.*0\.4 s"):
        lock_entry(remote(url, timeout_s=0.4, attempts=1), Cache(tmp_path))
    assert time.monotonic() - started < 3


@pytest.mark.parametrize(
    "pieces",
    [
        [],
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{"],
        [HEAD + b"Content-Length: 9\r\n\r\n{"],
        [b"no HTTP\r\n\r\n"],
    ],
)
def test_a_connection_that_breaks_is_a_failure(raw_server, tmp_path, pieces):
    with pytest.raises(EndpointError, match="broken-connection"):
        lock_entry(remote(raw_server(pieces), attempts=1), Cache(tmp_path))


def test_a_reply_without_end_is_given_up_before_it_fills_memory(raw_server, tmp_path, monkeypatch):
    monkeypatch.setattr("assay.model.endpoint_wire._MOST_BYTES", 2**20)
    url = raw_server([HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(bytes(2**24))])
    with pytest.raises(EndpointError, match=r"malformed.*longer than 1 MiB"):
        lock_entry(remote(url, attempts=1), Cache(tmp_path))


def test_an_endpoint_that_is_down_is_one_clear_error(tmp_path):
    down = remote("http://127.0.0.1:9/v1", attempts=1)
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9.*unreachable.*start the server"):
        lock_entry(down, Cache(tmp_path))


@pytest.mark.parametrize("url", ["http://a..b/v1", f"http://{'a' * 70}.b/v1", "http://xn--/v1", "http://[::1/v1"])
def test_an_address_that_cannot_be_used_is_one_clear_error_at_once(tmp_path, url):
    started = time.monotonic()
    with pytest.raises(EndpointError, match=r"the address cannot be used.*correct url"):
        lock_entry(remote(url, attempts=6), Cache(tmp_path))
    assert time.monotonic() - started < 5  # six tries wait for 15 s


def test_a_proxy_that_does_not_answer_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with pytest.raises(EndpointError, match=r"no connection to http://served\.invalid/v1 through the proxy.*NO_PROXY"):
        lock_entry(remote("http://served.invalid/v1", attempts=1), Cache(tmp_path))


def test_an_interrupted_run_does_not_wait_for_open_requests(slow_server, tmp_path, monkeypatch):
    model = remote(slow_server.url, concurrency=2)
    locked = lock_entry(model, Cache(tmp_path))
    monkeypatch.setattr(EndpointBackend, "start", EndpointBackend.identity)  # without a request of its own
    slow_server.requests.clear()
    slow_server.delay_s = 20.0
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it

    def interrupt():
        while len(slow_server.requests) < 2:
            time.sleep(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    started = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(tmp_path / ".assay", model, Cache(tmp_path), texts(9), locked=locked)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - started < 10
