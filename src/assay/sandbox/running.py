"""One execution while it runs: its output is read, its time and memory are watched, and it is stopped at a limit."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from assay.sandbox import watch
from assay.sandbox.control import Control, ServerError
from assay.sandbox.records import Limits

Stop = Literal["time", "output", "tree", "starved", "cancelled"]
LOOK_S = 0.1
_LEAST_LOOK_S = 0.01
# More than processors fill with pages in a second (measured: 1.5 GiB each), bytes.
_FILLED_PER_S = len(os.sched_getaffinity(0)) << 31
SETTLE_S = 30.0  # after a kill, everything must be gone by then, on a busy machine too
PATIENCE = 4.0  # wall time over the limit after which a snippet that waits for a processor is put off
LAST_PATIENCE = 40.0  # the same in the last attempt: a wait this long is an outage, not load
_READ = 1 << 16


@dataclass
class Outcome:
    """How one execution ended, in raw facts. `status` is the wait status, None if nothing could be waited for."""

    stdout: bytes
    stderr: bytes
    status: int | None
    stop: Stop | None
    wall_ns: int
    cpu_ns: int
    queue_ns: int
    exact: bool
    peak_memory: int
    peak_processes: int
    survivors: int


class Descriptor:
    """A descriptor that is closed once."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> "Descriptor":
        return self

    def close(self) -> None:
        """Close it, if it is open."""
        if self.number >= 0:
            os.close(self.number)
            self.number = -1

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class Ends:
    """Our ends of what connects us with a running snippet: its output, the watcher's report, and how to stop it.

    Where there is a process-id namespace, its first process is killed through `pidfd`; elsewhere closing `stop` asks
    the watcher to sweep, because killing it first would lose the descendants.
    """

    pidfd: int
    stdout: int
    stderr: int
    report: int
    stop: Descriptor
    namespace: bool

    def kill(self) -> None:
        """End the snippet and everything below it."""
        if self.namespace:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        else:
            self.stop.close()


class Run:
    """One execution while it runs.

    Parameters
    ----------
    shared : int
        Memory that every process shares with its server, bytes.
    patience : float
        Wall time over the time limit after which it is stopped although it has not had its time yet, at least 1.
    cancelled : callable
        Asked now and then whether the result is still wanted.
    """

    def __init__(
        self, control: Control, limits: Limits, ends: Ends, shared: int, patience: float, cancelled: Callable[[], bool]
    ) -> None:
        self._control = control
        self._limits = limits
        self._ends = ends
        self._shared = shared
        self._patience = patience
        self._cancelled = cancelled
        self._caps = {ends.stdout: limits.stdout_bytes, ends.stderr: limits.stderr_bytes}
        self._captured = {ends.stdout: bytearray(), ends.stderr: bytearray()}
        self._report = b""
        self._tree: watch.Tree | None = None
        self._begun_ns = 0
        self._stop: Stop | None = None
        self._weigh_at = float("inf")

    def watch(self) -> Outcome:
        """Look after it until nothing of it is left.

        Raises
        ------
        ServerError
            If its server dies, or what belongs to it cannot be ended.
        """
        poll = select.poll()
        control, sources = self._control.fileno(), (self._ends.stdout, self._ends.stderr, self._ends.report)
        for descriptor in (*sources, control):
            poll.register(descriptor, select.POLLIN)
        next_look = time.monotonic() + LOOK_S
        settle_by: float | None = None
        done = False
        while not done:
            now = time.monotonic()
            if settle_by is not None and now > settle_by:
                raise ServerError("processes of a snippet could not be ended")
            for descriptor, _ in poll.poll(max(0.0, min(next_look, self._weigh_at) - now) * 1000):
                if descriptor == control:
                    done = self._control.receive(now + 1)[0][0] == "done"
                elif not self._read(descriptor):
                    poll.unregister(descriptor)
            if time.monotonic() >= next_look:
                self._look()
                next_look = time.monotonic() + LOOK_S
            elif time.monotonic() >= self._weigh_at:
                self._weigh(self._tree.memory() if self._tree else 0)
            if self._stop is not None and settle_by is None:
                self._ends.kill()
                settle_by = time.monotonic() + SETTLE_S
        for descriptor in sources:
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                while self._read(descriptor, final=True):
                    pass
        return self._outcome()

    def _read(self, descriptor: int, *, final: bool = False) -> bool:
        """Read once; return whether more may come."""
        data = os.read(descriptor, _READ)
        if descriptor == self._ends.report:
            self._report += data
            self._read_report()
            return bool(data)
        kept = self._captured[descriptor]
        room = self._caps[descriptor] + 1 - len(kept)
        kept += data[:room]
        if len(kept) > self._caps[descriptor] and self._stop is None:
            self._stop = "output"
        return bool(data) and not (final and room <= 0)

    def _read_report(self) -> None:
        if self._tree is None and self._report.startswith(b"begun ") and b"\n" in self._report:
            self._begun_ns = int(self._report.split()[1])
            self._tree = watch.Tree(watch.pidfd_process(self._ends.pidfd), self._shared)

    def _look(self) -> None:
        """Compare what it has used with its limits."""
        if self._cancelled():
            self._stop = self._stop or "cancelled"
        if self._tree is None or self._stop is not None or b"ended" in self._report:
            return
        self._weigh(self._tree.sample())
        limit = self._limits.time_s * 1e9
        wall = time.monotonic_ns() - self._begun_ns
        if self._tree.cpu_ns > limit or wall - self._tree.queue_ns > limit:
            self._stop = "time"
        elif wall > self._patience * limit:
            # Of several processes one always waits for another, and what a child used can be hidden: by then no load
            # explains that they have not ended.
            alone = self._tree.peak_processes == 1 or self._patience < LAST_PATIENCE
            self._stop = "starved" if alone else "time"

    def _weigh(self, memory: int) -> None:
        """Compare its memory with the cap; the less room there is left, the sooner it is weighed again."""
        room = (self._limits.tree_memory_mb << 20) - memory
        self._weigh_at = time.monotonic() + (max(room / _FILLED_PER_S, _LEAST_LOOK_S) if room > 0 else LOOK_S)
        if room < 0 and self._tree is not None:
            precise = self._tree.precise_memory()
            if precise < 0 or precise > self._limits.tree_memory_mb << 20:
                self._stop = self._stop or "tree"

    def _outcome(self) -> Outcome:
        if b"broken " in self._report:
            told = self._report.decode("utf-8", "replace").strip()
            raise ServerError(f"a snippet could not be confined: {told}")
        ended = next((line.split()[1:] for line in self._report.splitlines() if line.startswith(b"ended ")), None)
        if ended is None and self._stop is None:
            raise ServerError("the process that watches the snippet has died")
        tree = self._tree
        if ended is not None and tree is None:
            raise ServerError("the process of the snippet ended before the snippet began")
        found = Outcome(
            stdout=bytes(self._captured[self._ends.stdout]),
            stderr=bytes(self._captured[self._ends.stderr]),
            status=None,
            stop=self._stop,
            wall_ns=time.monotonic_ns() - self._begun_ns if tree else 0,
            cpu_ns=tree.cpu_ns if tree else 0,
            queue_ns=tree.queue_ns if tree else 0,
            exact=tree.exact if tree else True,
            peak_memory=tree.peak_memory if tree else 0,
            peak_processes=tree.peak_processes if tree else 1,
            survivors=-1,
        )
        if ended is not None:
            # The watcher's own account: exact where looking from outside only samples.
            status, finished, delay, used, resident, survivors = (int(word) for word in ended)
            found.status, found.survivors = status, survivors
            found.wall_ns = finished - self._begun_ns
            found.cpu_ns = max(found.cpu_ns, used)
            found.queue_ns = max(found.queue_ns, delay)
            found.exact = found.exact and delay >= 0
            found.peak_memory = max(found.peak_memory, resident * 1024)
        # Processes that wait for each other's processors wait longer in all than the tree has run.
        found.queue_ns = min(found.queue_ns, max(found.wall_ns - found.cpu_ns, 0))
        return found
