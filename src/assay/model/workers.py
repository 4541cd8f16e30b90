"""Several workers that share the rows of one model."""

import contextlib
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

import msgspec

import assay.errors
from assay.errors import AssayError, ModelError
from assay.model.engine import Completion, Decoding, Request
from assay.model.worker import Broken, FromWorker, Load, Ready, Rows, Stored, ToWorker, Work

# A worker's share is halved while this many rows per worker are left, so that all end at about the same time; smaller
# shares would leave the engine's slots empty.
_SHARE_ROWS = 256


class _Worker:
    def __init__(self, load: Load) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "assay.model.worker", str(theirs.fileno())]
            self.process = subprocess.Popen(command, pass_fds=[theirs.fileno()], env=_environment())
        self.connection = Connection(ours.detach())
        self.open: dict[str, Request] = {}  # rows that it has not finished
        self.busy = False  # until it says that its share is done, which is after the last row
        self.send(load)

    def send(self, message: ToWorker) -> None:
        # A worker that has died is noticed where its answers are read.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.connection.send_bytes(msgspec.msgpack.encode(message))

    def receive(self) -> FromWorker | None:
        try:
            return msgspec.msgpack.decode(self.connection.recv_bytes(), type=FromWorker)
        except (EOFError, ConnectionResetError):
            return None

    def end(self) -> int:
        self.connection.close()
        try:
            return self.process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Workers:
    """An engine made of processes; the engine in them must be batch-invariant.

    Parameters
    ----------
    load : Load
        What each worker loads.
    count : int
        Number of workers.

    Attributes
    ----------
    lost : int
        Workers that died; the others took over their rows.
    """

    def __init__(self, load: Load, count: int) -> None:
        self.lost = 0
        self._last_exit = 0
        self._load = load
        self._workers: list[_Worker] = []
        try:
            self._workers = [_Worker(load) for _ in range(count)]
            self._ready = self._await_ready()
        except BaseException:
            self.close()
            raise

    @property
    def identity(self) -> dict[str, Any]:
        """See `Engine.identity`."""
        return self._ready.identity

    @property
    def fallback(self) -> str | None:
        """Why the workers do not run the engine that was asked for."""
        return self._ready.fallback

    def __len__(self) -> int:
        return len(self._workers)

    def batches(self, requests: Sequence[Request], decoding: Decoding) -> Iterator[list[Completion]]:
        """Yield batches of finished rows, each row once, in any order; asking for the next one says that it is stored.

        Raises
        ------
        ModelError
            If a worker reports an error, or the last one dies.
        """
        left = deque(sorted(requests, key=lambda r: (-len(r.token_ids), r.row_id)))
        try:
            for worker in self._workers:
                self._hand_out(worker, left, decoding)
            while left or any(worker.busy for worker in self._workers):
                for worker in self._waiting():
                    yield from self._next(worker, left, decoding)
        finally:
            if any(worker.busy for worker in self._workers):
                self.close()  # left early: answers to the old question must not meet the next one

    def _next(self, worker: _Worker, left: deque[Request], decoding: Decoding) -> Iterator[list[Completion]]:
        match worker.receive():
            case Rows(completions, last):
                for completion in completions:
                    del worker.open[completion.row_id]
                if completions:
                    yield completions
                    worker.send(Stored())
                if last:
                    worker.busy = False
                    self._hand_out(worker, left, decoding)
            case Broken() as broken:
                raise rebuilt(broken)
            case _:
                left.extend(worker.open.values())
                worker.open = {}
                self._bury(worker)
                for other in self._workers:
                    if not other.busy:
                        self._hand_out(other, left, decoding)

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.connection.close()
        for worker in self._workers:
            if worker.process.poll() is None:
                worker.process.terminate()
            worker.process.wait()
        self._workers = []

    def _await_ready(self) -> Ready:
        ready: list[Ready] = []
        for worker in list(self._workers):
            message = worker.receive()
            if isinstance(message, Broken):
                raise rebuilt(message)
            if isinstance(message, Ready):
                ready.append(message)
            else:
                self._bury(worker)
        if any(other.identity != ready[0].identity for other in ready):
            raise ModelError(f"two workers became different engines: {ready[0].identity}, {ready[1].identity}")
        return ready[0]

    def _waiting(self) -> list[_Worker]:
        ready = set(map(id, wait([worker.connection for worker in self._workers])))
        return [worker for worker in self._workers if id(worker.connection) in ready]

    def _hand_out(self, worker: _Worker, left: deque[Request], decoding: Decoding) -> None:
        if not left:
            return
        count = len(self._workers)
        share = len(left) / count if len(left) <= count * _SHARE_ROWS else len(left) / (2 * count)
        busy = sum(other.busy for other in self._workers)
        if count - busy <= 1 and len(left) <= _SHARE_ROWS:
            share = len(left)
        chosen = _spread(left, max(1, round(share)))
        worker.open = {request.row_id: request for request in chosen}
        worker.busy = True
        worker.send(Work(chosen, decoding))

    def _bury(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        self._last_exit = worker.end()
        self.lost += 1
        if not self._workers:
            reason = f"signal {-self._last_exit}" if self._last_exit < 0 else f"exit code {self._last_exit}"
            raise ModelError(
                f"the last worker died ({reason})",
                file=self._load.folder,
                remedy="finished rows are stored: free memory or set workers: 1 in the registry, and run it again",
            )


def _spread(left: deque[Request], size: int) -> list[Request]:
    """Take `size` rows out of the queue, evenly over their lengths."""
    rows = list(left)
    if size >= len(rows):
        left.clear()
        return rows
    taken = {i * len(rows) // size for i in range(size)}
    left.clear()
    left.extend(row for i, row in enumerate(rows) if i not in taken)
    return [row for i, row in enumerate(rows) if i in taken]


def rebuilt(broken: Broken) -> AssayError:
    """Return a worker's error as the exception that it was there."""
    kind = getattr(assay.errors, broken.kind, ModelError)
    attributes = {name: value for name, value in broken.attributes.items() if name != "message"}
    error: AssayError = kind(broken.attributes.get("message", "a worker failed"), **attributes)
    return error


def _environment() -> dict[str, str]:
    # Read once, when torch is imported: so they are set before the worker starts.
    return os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
