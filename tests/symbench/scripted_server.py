"""A server that speaks the OpenAI chat protocol and answers by a script."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = Callable[[list[dict[str, Any]]], str]


class ScriptedServer(ThreadingHTTPServer):
    """Answers each chat with `script(messages)`; remembers how many it answered."""

    daemon_threads = True

    def __init__(self, script: Script) -> None:
        self.script = script
        self.answered = 0
        super().__init__(("127.0.0.1", 0), _Handler)

    @property
    def url(self) -> str:
        """Base address of the API."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ScriptedServer

    def do_GET(self) -> None:
        self._send({"version": "1.0"} if self.path == "/version" else {})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.server.script(body["messages"])
        self.server.answered += 1
        message = {"role": "assistant", "content": text}
        self._send(
            {
                "model": "scripted-v1",
                "system_fingerprint": "fp",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1},
            }
        )

    def _send(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(script: Script) -> Iterator[ScriptedServer]:
    """Run a server on loopback."""
    server = ScriptedServer(script)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
