"""Sends requests to a server; one time limit holds for all of a reply: connection, headers and body."""

import asyncio
import threading
from typing import Any

import httpx

CONNECT_S = 10.0
# No answer is that long, but a server that is none may send without end, and a few bytes may unpack to many.
_MOST_BYTES = 64 * 2**20


class Wire:
    """Connections for many threads. A loop in a thread of its own can end a request at whatever it waits for.

    Parameters
    ----------
    headers : dict
        Sent with every request.
    connections : int
        Most of them at once.
    """

    def __init__(self, headers: dict[str, str], connections: int) -> None:
        self._http = httpx.AsyncClient(
            headers=headers,
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=connections, max_keepalive_connections=connections),
        )
        self._loop = asyncio.new_event_loop()
        self._ended = False
        self._thread = threading.Thread(target=self._loop.run_forever, name="assay-endpoint", daemon=True)
        self._thread.start()

    def send(self, method: str, url: str, limit_s: float, body: Any = None) -> tuple[int, httpx.Headers, bytes]:
        """Return status, headers and content of a reply; redirects are not followed.

        Raises
        ------
        TimeoutError
            If the whole reply is not there in time.
        concurrent.futures.CancelledError
            If `cancel` ended the request.
        OverflowError
            If the reply is larger than any answer.
        httpx.HTTPError, httpx.InvalidURL, UnicodeError
            For everything else.
        """
        httpx.URL(url).host.encode("idna")  # else a name that cannot be one is a server that is down
        return asyncio.run_coroutine_threadsafe(self._send(method, url, limit_s, body), self._loop).result()

    def cancel(self) -> None:
        """End all open requests, and every later one at once."""
        asyncio.run_coroutine_threadsafe(self._cancel(), self._loop).result()

    def close(self) -> None:
        """End all open requests and close connections."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _send(self, method: str, url: str, limit_s: float, body: Any) -> tuple[int, httpx.Headers, bytes]:
        if self._ended:
            raise asyncio.CancelledError
        async with asyncio.timeout(limit_s), self._http.stream(method, url, json=body) as reply:
            content = bytearray()
            async for piece in reply.aiter_bytes():
                content += piece
                if len(content) > _MOST_BYTES:
                    raise OverflowError(f"the reply is longer than {_MOST_BYTES >> 20} MiB")
            return reply.status_code, reply.headers, bytes(content)

    async def _cancel(self) -> None:
        self._ended = True
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _close(self) -> None:
        await self._cancel()
        await self._http.aclose()
