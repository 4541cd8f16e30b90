"""Talks to OpenAI-compatible servers: rate limits, retries with back-off, time-outs, typed failures."""

import email.utils
import os
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from concurrent.futures import CancelledError
from datetime import UTC
from typing import Any, TypeVar

import httpx
import msgspec

from assay.canonical import derive_seed
from assay.config.models import Endpoint
from assay.errors import ConfigError, EndpointError
from assay.model.endpoint_wire import CONNECT_S, Wire
from assay.model.store import Failure

Result = TypeVar("Result")

_FIRST_WAIT_S = 0.5
_LONGEST_WAIT_S = 60.0
_PAGE_S = 10.0
# A server that asks for more patience than this is taken at its word only so far.
_LONGEST_RETRY_AFTER_S = 300.0
_AGAIN = {408: "timeout", 409: "conflict", 425: "too-early", 429: "rate-limit", 529: "overloaded"}
_HOPELESS = {
    401: "the access key is refused",
    402: "the account has no credit",
    403: "access is forbidden",
    404: "the address or model does not exist",
}
# Some servers say "too many requests" of an account that is used up, for which no wait helps.
_USED_UP = "insufficient_quota"
_QUOTED = 300
# A rate limit is the address's, whoever asks: sessions that follow each other in one process share their turns.
_TURNS = threading.Lock()
_next_start: dict[str, float] = {}


class ReplyError(Exception):
    """A reply that is no answer; `retryable` ones are asked for again."""

    def __init__(self, type_: str, message: str, *, retryable: bool = True, wait_s: float | None = None) -> None:
        super().__init__(message)
        self.type = type_
        self.message = message
        self.retryable = retryable
        self.wait_s = wait_s


class Client:
    """One server, for many threads.

    Parameters
    ----------
    endpoint : Endpoint
        Address, key, limits.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._url = endpoint.url.rstrip("/")
        self._key = _access_key(endpoint)
        self._wire = _wire(endpoint, self._key)
        self._lock = threading.Lock()
        self._not_before = 0.0
        self._interval_s = 60.0 / endpoint.requests_per_minute if endpoint.requests_per_minute else 0.0
        self._stop = threading.Event()
        self._down: str | None = None
        self.retries = 0

    def stop(self) -> None:
        """End all waiting between requests, and start none; those that are open end by themselves."""
        self._stop.set()

    def abort(self) -> None:
        """End all waiting and all open requests."""
        self.stop()
        self._wire.cancel()

    def close(self) -> None:
        """End all waiting and all open requests, and close connections."""
        self.stop()
        self._wire.close()

    def get(self, url: str) -> Any | None:
        """Return the JSON of an optional page, None where there is none.

        A page that fails is asked for again: a server that was busy for a moment must not look like another one.

        Raises
        ------
        EndpointError
            If there is no reply at all.
        """
        tries = self._endpoint.attempts
        for attempt in range(1, tries + 1):
            self._wait_for_turn()
            try:
                return self._page(url)
            except ReplyError as error:
                if attempt < tries:
                    self._pause(error, attempt, url)
                elif error.type == "unreachable":
                    raise EndpointError(
                        f"the server does not answer any more: {error.message}", file=url, remedy="check the server"
                    ) from error
        return None

    def post(
        self, path: str, body: dict[str, Any], identity: str, read: Callable[[dict[str, Any]], Result]
    ) -> Result | Failure:
        """Return what `read` finds in the reply to a request, after as many tries as the registry allows.

        Parameters
        ----------
        read : callable
            Takes the reply's JSON object; raises `ReplyError` where it holds no answer.
        identity : str
            Row key; the waits of different rows are spread by it.

        Raises
        ------
        EndpointError
            For answers that would be the same for every row: a refused key, an unknown address.
        """
        tries = self._endpoint.attempts
        for attempt in range(1, tries + 1):
            if self._down is not None:
                return Failure("unreachable", self._down, attempt)
            self._wait_for_turn()
            if self._stop.is_set():
                return Failure("stopped", "the run ended", attempt)
            try:
                url = f"{self._url}/{path}"
                return read(self._read(path, *self._send("POST", url, self._endpoint.timeout_s, body)))
            except ReplyError as error:
                if not error.retryable or attempt == tries:
                    if error.type == "unreachable":
                        self._down = error.message  # the other rows need not find out one by one
                    return Failure(error.type, error.message, attempt)
                with self._lock:
                    self.retries += 1
                self._pause(error, attempt, identity)
        raise AssertionError("unreachable code")

    def _page(self, url: str) -> Any | None:
        try:
            status, headers, content = self._send("GET", url, min(self._endpoint.timeout_s, _PAGE_S))
        except ReplyError as error:
            raise ReplyError("unreachable", error.message) from error
        if _is_passing(status):
            raise _passing_fault(status, "", headers)
        try:
            return msgspec.json.decode(content) if status == 200 else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def _send(
        self, method: str, url: str, limit_s: float, body: dict[str, Any] | None = None
    ) -> tuple[int, httpx.Headers, bytes]:
        try:
            return self._wire.send(method, url, limit_s, body)
        except CancelledError as error:
            raise ReplyError("stopped", "the run ended", retryable=False) from error
        except TimeoutError as error:
            raise ReplyError("timeout", f"no whole answer within {limit_s:g} s") from error
        except httpx.ConnectTimeout as error:
            raise ReplyError("unreachable", f"no connection within {CONNECT_S:g} s") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
            raise EndpointError(
                f"the address cannot be used: {error}", file=self._url, remedy="correct url in configs/models.yaml"
            ) from error
        except (httpx.ConnectError, httpx.ProxyError) as error:
            raise ReplyError("unreachable", f"no connection to {self._url}{_way(self._url)}: {_root(error)}") from error
        except httpx.HTTPError as error:
            raise ReplyError("broken-connection", f"{type(error).__name__}: {error}") from error
        except OverflowError as error:
            raise ReplyError("malformed", str(error)) from error

    def _read(self, path: str, status: int, headers: httpx.Headers, content: bytes) -> dict[str, Any]:
        said = self._hidden(content.decode("utf-8", "replace"))
        used_up = status == 429 and _USED_UP in said
        said = " ".join(said[:_QUOTED].split())
        if 300 <= status < 400:
            # Not followed: the access key is for the address of the registry.
            raise EndpointError(
                f"the address leads to {self._hidden(headers.get('location', 'another one'))} (HTTP {status})",
                file=f"{self._url}/{path}",
                key=self._endpoint.served_name,
                remedy="correct url in configs/models.yaml",
            )
        if status in _HOPELESS or used_up:
            raise EndpointError(
                f"{_HOPELESS.get(status, _HOPELESS[402])} (HTTP {status}): {said}",
                file=f"{self._url}/{path}",
                key=self._endpoint.served_name,
                remedy="correct url, served_name or key_variable in configs/models.yaml, or the account",
            )
        if _is_passing(status):
            raise _passing_fault(status, said, headers)
        if status != 200:
            raise ReplyError("refused", f"HTTP {status}: {said}", retryable=False)
        try:
            value = msgspec.json.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReplyError("malformed", f"the reply is no JSON: {said}") from error
        if not isinstance(value, dict):
            raise ReplyError("malformed", f"the reply is no JSON object: {said}")
        if value.get("error") and not value.get("choices"):
            raise ReplyError("server-error", f"HTTP {status} with an error: {said}")
        return value

    def _hidden(self, said: str) -> str:
        # Some servers repeat the key that they refuse.
        return said if self._key is None else said.replace(self._key, "***")

    def _wait_for_turn(self) -> None:
        with _TURNS:
            start = max(self._not_before, _next_start.get(self._url, 0.0), time.monotonic())
            if self._interval_s:
                _next_start[self._url] = start + self._interval_s
        if self._stop.wait(max(0.0, start - time.monotonic())) and self._interval_s:
            with _TURNS:
                _next_start[self._url] -= self._interval_s  # the turn is another client's

    def _pause(self, error: ReplyError, attempt: int, identity: str) -> None:
        spread = 0.75 + 0.5 * derive_seed("retry", identity, attempt) / 2**63
        wait_s = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2 ** (attempt - 1)) * spread
        if error.wait_s is not None:
            wait_s = max(wait_s, min(error.wait_s, _LONGEST_RETRY_AFTER_S))
        if error.type in {"rate-limit", "overloaded"}:
            with _TURNS:  # everybody waits, else the others earn the same reply
                self._not_before = max(self._not_before, time.monotonic() + wait_s)
        else:
            self._stop.wait(wait_s)


def retry_after_s(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header, which may be a number or a date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(header)
        # The protocol's dates are all in GMT, also where they do not say so.
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


def _is_passing(status: int) -> bool:
    return status in _AGAIN or status >= 500


def _passing_fault(status: int, said: str, headers: httpx.Headers) -> ReplyError:
    wait_s = retry_after_s(headers.get("retry-after"))
    return ReplyError(_AGAIN.get(status, "server-error"), f"HTTP {status}: {said}", wait_s=wait_s)


def _way(url: str) -> str:
    """Return words about the proxy on the way to an address, if the environment names one."""
    address = urllib.parse.urlsplit(url)
    proxies = urllib.request.getproxies()
    named = address.scheme in proxies or "all" in proxies
    if not named or urllib.request.proxy_bypass(address.hostname or ""):
        return ""
    return f" through the proxy of the environment, which NO_PROXY={address.hostname} would leave out"


def _root(error: BaseException) -> BaseException:
    """Return the error at the bottom: the layers above it only say that nothing worked."""
    while (inner := error.exceptions[0] if isinstance(error, BaseExceptionGroup) else error.__cause__) is not None:
        error = inner
    return error


def _wire(endpoint: Endpoint, key: str | None) -> Wire:
    try:
        return Wire({} if key is None else {"Authorization": f"Bearer {key}"}, endpoint.concurrency)
    except (ImportError, ValueError, OSError, httpx.InvalidURL) as error:
        raise ConfigError(
            f"connections cannot be set up as the environment asks: {error}",
            file=endpoint.url,
            remedy="correct HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE, SSL_CERT_DIR",
        ) from error


def _access_key(endpoint: Endpoint) -> str | None:
    if endpoint.key_variable is None:
        return None
    key = os.environ.get(endpoint.key_variable, "").strip()  # a key read from a file brings its line feed
    if not key:
        raise ConfigError(
            "the environment variable with the access key is not set",
            file="configs/models.yaml",
            key=endpoint.key_variable,
            remedy="export it",
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            "the environment variable holds no access key",
            file="configs/models.yaml",
            key=endpoint.key_variable,
            expected="printable ASCII characters",
        )
    return key
