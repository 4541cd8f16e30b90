"""Endpoints: answers of a server that speaks the OpenAI protocol. Their determinism is `volatile`."""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import msgspec

from assay.canonical import digest
from assay.config.models import Endpoint, ModelEntry, PromptPolicy
from assay.errors import EndpointError, ModelError
from assay.model.answers import Answer
from assay.model.backend import Prepared, Task
from assay.model.chat import call_text, transcript, with_tools_as_text
from assay.model.endpoint_client import Client, ReplyError
from assay.model.engine import Decoding
from assay.model.prompting import longest_prompt
from assay.model.store import Failure, RowStore
from assay.records.rows import FinishReason, Message, PromptRow

RULE = 3
"""Raise it whenever requests or the reading of replies change."""

# A count above this is none.
_MOST_TOKENS = 2**31
_REASONS: dict[str, FinishReason] = {"stop": "eos", "length": "length", "tool_calls": "eos"}


class EndpointBackend:
    """Answers of a server.

    Parameters
    ----------
    entry : ModelEntry
        A model whose source is an endpoint.
    locked : dict
        Its lock entry; the server must still report the same model and version.
    """

    def __init__(self, entry: ModelEntry, locked: Mapping[str, Any]) -> None:
        self._entry = entry
        self._source = _endpoint(entry)
        self._locked = locked
        self._client: Client | None = None
        self._facts: Counter[str] = Counter()
        self._guard = threading.Lock()
        self._checked = False

    def prepare(
        self, prompts: Sequence[PromptRow], decoding: Decoding, chat: bool | None, policy: PromptPolicy | None
    ) -> list[Prepared]:
        """Return the prompts as they are sent, whole; whoever delivers the answers compares the server's count."""
        limit = longest_prompt(
            self._entry.name, self._entry.context, decoding.max_new_tokens, policy or self._entry.prompts
        )
        return [self._prepare(prompt, chat, limit) for prompt in prompts]

    def identity(self, store: RowStore, tokens: int) -> dict[str, Any]:
        """See `Backend.identity`; the model's part stands in the lock."""
        return {"engine": "endpoint", "rule": RULE}

    def start(self, store: RowStore, tokens: int) -> dict[str, Any]:
        """Check that the server still is what the lock says.

        Raises
        ------
        EndpointError
            If it does not answer.
        ModelError
            If it serves another model or version.
        """
        if not self._checked:
            for key, value in {"url": self._source.url, "served_name": self._source.served_name}.items():
                self._compare(key, value)
            reported = report(self._entry)
            self._compare("reported_model", reported["reported_model"])
            self._compare("server", reported["server"])
            self._checked = True
        return self.identity(store, tokens)

    def run(self, tasks: Mapping[str, Task], decoding: Decoding) -> Iterator[dict[str, Answer | Failure]]:
        """Ask with the registry's concurrency; every answer is handed on as soon as it is there."""
        self._client = self._client or Client(self._source)
        try:
            yield from self._run(self._client, tasks, decoding)
        except BaseException:
            self._close_client()
            raise

    def _run(
        self, client: Client, tasks: Mapping[str, Task], decoding: Decoding
    ) -> Iterator[dict[str, Answer | Failure]]:
        waiting = iter(tasks.items())
        running: dict[Future[Answer | Failure], str] = {}
        with ThreadPoolExecutor(self._source.concurrency) as pool:
            try:
                while True:
                    for key, task in waiting:
                        running[pool.submit(self._answer, key, task, decoding)] = key
                        if len(running) >= 2 * self._source.concurrency:
                            break
                    if not running:
                        break
                    done = wait(running, return_when=FIRST_COMPLETED).done
                    error = _first_error(done)
                    if error is not None:
                        # Nothing is begun any more, but what the server is at has been paid for.
                        client.stop()
                        pool.shutdown(cancel_futures=True)
                        done = {future for future in running if _is_finished(future)}
                    if done:
                        yield {running.pop(f): f.result() for f in sorted(done, key=lambda f: running[f])}
                    if error is not None:
                        raise error
            except BaseException:
                client.abort()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def facts(self) -> dict[str, Any]:
        """See `Backend.facts`."""
        retries = {} if self._client is None else {"retries": self._client.retries}
        return {**retries, **{name: count for name, count in sorted(self._facts.items()) if count}}

    def close(self) -> None:
        """Close connections."""
        self._close_client()

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._facts["retries"] += self._client.retries
            self._client = None

    def _prepare(self, prompt: PromptRow, chat: bool | None, limit: int | None) -> Prepared:
        if chat is None:
            chat = prompt.messages is not None and self._entry.chat_template
        if chat and prompt.messages is None:
            prompt = msgspec.structs.replace(prompt, text=None, messages=[Message("user", prompt.text)])
        elif not chat and prompt.text is None:
            text = transcript(with_tools_as_text(prompt.messages or [], prompt.tools))
            prompt = msgspec.structs.replace(prompt, text=text, messages=None, tools=None)
        # As text: a server shows the model the keys of a tool in the order in which it gets them.
        asked = msgspec.json.encode([prompt.text, prompt.messages, prompt.tools]).decode()
        sha256 = digest("endpoint-prompt", asked)
        return Prepared(sha256, None, truncated=False, prompt=prompt, longest=limit)

    def _answer(self, key: str, task: Task, decoding: Decoding) -> Answer | Failure:
        assert self._client is not None
        assert task.prepared.prompt is not None
        answer = ask(self._client, self._source, task.prepared.prompt, decoding, task.seed, key)
        if isinstance(answer, Answer):
            if answer.served:
                self._compare("reported_model", answer.served)  # somebody may have started another model there
            with self._guard:
                self._facts["other_fingerprint"] += answer.fingerprint != self._locked.get("fingerprint", "")
                self._facts["stop_or_eos"] += answer.finish_reason == "stop" and not answer.stopped
        return answer

    def _compare(self, key: str, value: str) -> None:
        if self._locked.get(key) != value:
            raise ModelError(
                f"{self._entry.name} has {key} {value!r}, locked is {self._locked.get(key)!r}",
                file="configs/lock.yaml",
                key=f"models.{self._entry.name}.{key}",
                remedy=f"run `assay lock {self._entry.name}`, which makes it another model",
            )


def _first_error(done: Iterable[Future[Answer | Failure]]) -> BaseException | None:
    return next((error for future in done if (error := future.exception()) is not None), None)


def _is_finished(future: Future[Answer | Failure]) -> bool:
    """Return whether a request ended by itself, with an answer or a failure."""
    if future.cancelled() or future.exception() is not None:
        return False
    result = future.result()
    return isinstance(result, Answer) or result.type != "stopped"


def report(entry: ModelEntry) -> dict[str, str]:
    """Return what a server says about itself: version, the model's own name, and fingerprint; empty where silent.

    One request for a few tokens is made: the only way to see the last two.

    Raises
    ------
    EndpointError
        If the server does not answer or does not serve the model.
    """
    source = _endpoint(entry)
    client = Client(source)
    try:
        chat = PromptRow.of_messages("", [Message("user", "1")])
        prompt = chat if entry.chat_template else PromptRow.of_text("", "1")
        answer = ask(client, source, prompt, Decoding(max_new_tokens=16), None, "report")
        if isinstance(answer, Failure):
            raise EndpointError(
                f"the endpoint of {entry.name} gives no answer ({answer.type}): {answer.message}",
                file=source.url,
                remedy="start the server, or correct url in configs/models.yaml",
            )
        server = _server(client, source.url)
        return {"server": server, "reported_model": answer.served, "fingerprint": answer.fingerprint}
    finally:
        client.close()


def ask(
    client: Client, source: Endpoint, prompt: PromptRow, decoding: Decoding, seed: int | None, identity: str
) -> Answer | Failure:
    """Return the server's answer to one prompt."""

    def read(reply: dict[str, Any]) -> Answer:
        return read_reply(reply, decoding)

    path = "completions" if prompt.messages is None else "chat/completions"
    body = request_body(source, prompt, decoding, seed)
    answer = client.post(path, body, identity, read)
    if isinstance(answer, Failure) and answer.type == "refused" and "max_completion_tokens" in answer.message:
        # Newer hosted models know the limit by this name only.
        body["max_completion_tokens"] = body.pop("max_tokens")
        answer = client.post(path, body, identity, read)
    return answer


def request_body(source: Endpoint, prompt: PromptRow, decoding: Decoding, seed: int | None) -> dict[str, Any]:
    """Return the JSON of one request."""
    body: dict[str, Any] = {
        "model": source.served_name,
        "max_tokens": decoding.max_new_tokens,
        "temperature": decoding.temperature,
        "n": 1,
        "stream": False,
    }
    if decoding.method == "sampling":
        body |= {"top_p": decoding.top_p, "seed": (seed or 0) % 2**31}
        if decoding.top_k:
            body["top_k"] = decoding.top_k
    if decoding.stop:
        body["stop"] = list(decoding.stop)
    if prompt.messages is None:
        return body | {"prompt": prompt.text}
    body["messages"] = msgspec.to_builtins(prompt.messages)
    if prompt.tools:
        body["tools"] = [
            tool if "function" in tool else {"type": "function", "function": tool} for tool in prompt.tools
        ]
    return body


def read_reply(reply: dict[str, Any], decoding: Decoding) -> Answer:
    """Return the answer in a reply, native tool calls as text blocks that `parse_tool_calls` reads.

    The protocol has one word, "stop", for an end token and for a stop string, which the server takes out. Where stop
    strings were asked for and the server does not add which it was (as vLLM does in `stop_reason`), the finish reason
    is "stop" and `Answer.stopped` is False; it is "eos" only where nothing else can have been. What the model wrote is
    cut at stop strings here too, whatever the server did.

    Raises
    ------
    ReplyError
        If there is none.
    """
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise ReplyError("empty", "the reply holds no choice")
    choice = choices[0]
    reason = choice.get("finish_reason")
    if reason == "content_filter":
        raise ReplyError("content-filter", "the server withheld the answer", retryable=False)
    message = choice.get("message")
    text, calls = choice.get("text") if message is None else None, list[str]()
    if isinstance(message, dict):
        text, calls = message.get("content"), _calls(message)
        if text is None and reason == "length":
            text = ""  # all tokens went into thoughts, which the server keeps apart
    if text is None and not calls:
        raise ReplyError("empty", "the choice holds neither text nor a tool call")
    text = "" if text is None else text
    if not isinstance(text, str):
        raise ReplyError("malformed", "the choice's text is no string")
    if not isinstance(reason, str) or reason not in _REASONS:
        raise ReplyError("malformed", f"finish_reason is {reason!r}")
    finish = _REASONS[reason]
    cuts = [at for stop in decoding.stop if (at := text.find(stop)) >= 0]
    stopped = bool(cuts) or (reason == "stop" and isinstance(choice.get("stop_reason"), str))
    if cuts:
        text, calls = text[: min(cuts)], []  # a call comes after the text
    if stopped or (reason == "stop" and decoding.stop and "stop_reason" not in choice):
        finish = "stop"
    usage = reply.get("usage")
    return Answer(
        text="\n".join([text, *calls] if text else calls),
        n_new_tokens=_count(usage, "completion_tokens"),
        finish_reason=finish,
        n_prompt_tokens=_count(usage, "prompt_tokens"),
        served=str(reply.get("model") or ""),
        fingerprint=str(reply.get("system_fingerprint") or ""),
        stopped=stopped,
    )


def _calls(message: dict[str, Any]) -> list[str]:
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise ReplyError("malformed", "a tool call names no function")
    return [call_text(call) for call in calls]


def _count(usage: object, key: str) -> int:
    value = usage.get(key) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else 0


def _server(client: Client, url: str) -> str:
    """Return the version that vLLM or llama.cpp report beside the API; empty for other servers."""
    base = url.rstrip("/").removesuffix("/v1")
    for page, key in (("version", "version"), ("props", "build_info")):
        value = client.get(f"{base}/{page}")
        if isinstance(value, dict) and isinstance(value.get(key), str):
            return f"{key} {value[key]}"
    return ""


def _endpoint(entry: ModelEntry) -> Endpoint:
    assert isinstance(entry.source, Endpoint)
    return entry.source
