"""A small OpenAI-compatible server over a model folder, on transformers and the standard library."""

import contextlib
import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class OpenAIServer(ThreadingHTTPServer):
    """Serves one model; `faults` are (status, headers, body bytes) given before real answers.

    `page_faults` are the same for the pages beside the API.

    With `die_after` N its process ends in the middle of answer N + 1.
    """

    daemon_threads = True

    def __init__(self, folder: Path, name: str = "tiny", port: int = 0, die_after: int | None = None) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)
        self.model = AutoModelForCausalLM.from_pretrained(folder).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.name = name
        self.version = "1.0"
        self.fingerprint = "fp-1"
        self.faults: list[tuple[int, dict[str, str], bytes]] = []
        self.page_faults: list[tuple[int, dict[str, str], bytes]] = []
        self.delay_s = 0.0
        self.drip_s = 0.0  # time between the blanks that are sent instead of an answer
        self.requests: list[dict] = []
        self.headers: list[dict] = []
        self.most_at_once = 0
        self._die_after = die_after
        self._answers = 0
        self._running = 0
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def enter(self, body: dict, headers: dict) -> tuple[int, dict[str, str], bytes] | None:
        with self._guard:
            self.requests.append(body)
            self.headers.append(headers)
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
            return self.faults.pop(0) if self.faults else None

    def leave(self) -> None:
        with self._guard:
            self._running -= 1

    def count_answer(self) -> None:
        with self._guard:
            self._answers += 1
            if self._die_after is not None and self._answers > self._die_after:
                os._exit(1)

    def answer(self, prompt: str, special: bool, body: dict) -> tuple[str, str, int, int]:
        import torch

        with self._guard:  # one at a time, as the model has one thread
            ids = self.tokenizer(prompt, add_special_tokens=special, return_tensors="pt").input_ids
            seed = body.get("seed")
            sampling = body["temperature"] > 0
            if seed is not None:
                torch.manual_seed(seed)
            options = {"temperature": body["temperature"], "top_p": body.get("top_p", 1.0)} if sampling else {}
            new = self.model.generate(
                ids, max_new_tokens=body["max_tokens"], do_sample=sampling, pad_token_id=0, **options
            )[0, ids.shape[1] :]
        text = self.tokenizer.decode(new, skip_special_tokens=True)
        reason = "stop" if new[-1] == self.tokenizer.eos_token_id else "length"
        for stop in body.get("stop", ()):
            if stop in text:
                text, reason = text[: text.index(stop)], "stop"
        return text, reason, ids.shape[1], len(new)


class _Handler(BaseHTTPRequestHandler):
    server: OpenAIServer
    _inside = False

    def do_GET(self) -> None:
        if self.server.page_faults:
            self._send(*self.server.page_faults.pop(0))
        elif self.path == "/version":
            self._send(200, {}, json.dumps({"version": self.server.version}).encode())
        else:
            self._send(404, {}, b"{}")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.server.enter(body, dict(self.headers))
        self._inside = True
        try:
            time.sleep(self.server.delay_s)
            if fault is not None:
                self._send(*fault)
            elif self.server.drip_s:
                self._drip()
            elif body["model"] != self.server.name:
                self._send(404, {}, b'{"error": {"message": "no such model"}}')
            else:
                self._answer(body)
        finally:
            self._leave()

    def _leave(self) -> None:
        if self._inside:
            self._inside = False
            self.server.leave()

    def _answer(self, body: dict) -> None:
        chat = self.path.endswith("/chat/completions")
        tokenizer = self.server.tokenizer
        if chat:
            prompt = tokenizer.apply_chat_template(body["messages"], tokenize=False, add_generation_prompt=True)
        else:
            prompt = body["prompt"]
        text, reason, n_prompt, n_new = self.server.answer(prompt, not chat, body)
        self.server.count_answer()
        choice = {"index": 0, "finish_reason": reason}
        choice |= {"message": {"role": "assistant", "content": text}} if chat else {"text": text}
        value = {
            "model": f"{self.server.name}-v1",
            "system_fingerprint": self.server.fingerprint,
            "choices": [choice],
            "usage": {"prompt_tokens": n_prompt, "completion_tokens": n_new},
        }
        self._send(200, {}, json.dumps(value).encode())

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        try:
            for _ in range(1000):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(self.server.drip_s)
        except OSError:
            pass  # the client has gone

    def _send(self, status: int, headers: dict[str, str], data: bytes) -> None:
        self._leave()  # before the client can know, and ask again
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(folder):
    """Run a server of the model in a folder; give it."""
    server = OpenAIServer(folder)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
