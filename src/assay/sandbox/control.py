"""The supervisor's end of a server's control socket, and the error that everything about a server raises."""

import marshal
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

_READ = 1 << 16


class ServerError(Exception):
    """The server could not be started, or has died. `step` and `number` say where and why, as far as it could."""

    def __init__(self, message: str, step: str = "", number: int = 0) -> None:
        super().__init__(message)
        self.step = step
        self.number = number


class Control:
    """Messages to and from one server.

    Parameters
    ----------
    socket : socket.socket
        Our end; a sequence of packets.
    death : callable
        Returns what is known of a server that hung up.
    """

    def __init__(self, end: socket.socket, death: Callable[[], ServerError]) -> None:
        self._socket = end
        self._death = death

    def fileno(self) -> int:
        """Return the descriptor, to wait for."""
        return self._socket.fileno()

    def send(self, message: tuple[Any, ...], descriptors: Sequence[int] = ()) -> None:
        """Send a message, with descriptors."""
        try:
            socket.send_fds(self._socket, [marshal.dumps(message)], descriptors)
        except OSError as error:
            raise ServerError(f"the server is gone: {error}") from error

    def receive_bytes(self, deadline: float) -> tuple[bytes, list[int]]:
        """Return the next packet with its descriptors; `deadline` is on the monotonic clock.

        Raises
        ------
        ServerError
            If none comes in time, or the server has hung up.
        """
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            data, descriptors, _, _ = socket.recv_fds(self._socket, _READ, 4)
        except TimeoutError as error:
            raise ServerError("the server does not answer") from error
        except ConnectionError:
            data, descriptors = b"", []
        except OSError as error:
            raise ServerError(f"the server is gone: {error}") from error
        if not data:
            raise self._death()
        return data, descriptors

    def receive(self, deadline: float) -> tuple[tuple[Any, ...], list[int]]:
        """Return the next message with its descriptors."""
        data, descriptors = self.receive_bytes(deadline)
        return marshal.loads(data), descriptors

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
