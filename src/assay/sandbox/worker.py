"""The supervisor's side of one fork server: start it, run snippets through it, end it."""

import contextlib
import json
import marshal
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from assay.sandbox import watch
from assay.sandbox.records import Limits

Stop = Literal["time", "output", "tree", "starved", "cancelled"]
START_S = 60.0  # importing on a loaded machine takes its time
LOOK_S = 0.1
SETTLE_S = 10.0  # after a kill, everything must be gone by then
HARD_FACTOR = 4
_READ = 1 << 16
INSIDE = Path(__file__).parent / "inside"  # programs of other processes: started, never imported
# Name inside -> file. The server has the snippet's own path, so that its command line is that of a fresh interpreter.
PROGRAMS = {name: name for name in ("linux.py", "snippet.py", "watcher.py")} | {"main.py": "server.py"}


class ServerError(Exception):
    """The server could not be started, or has died. `step` and `number` say where and why, as far as it could."""

    def __init__(self, message: str, step: str = "", number: int = 0) -> None:
        super().__init__(message)
        self.step = step
        self.number = number


@dataclass(frozen=True)
class Plan:
    """How a server is started: its confinement, where things lie, and what it imports."""

    backend: Literal["namespaces", "landlock", "plain"]
    fresh: bool
    preload: tuple[str, ...]
    python: str  # as the server sees it
    launcher_python: str  # as this process sees it
    program: str  # the server's own file, as the server sees it
    box: str
    environment: dict[str, str]
    uid: int
    gid: int
    inside_id: int
    root: list[list[str]] = field(default_factory=list)
    readable: list[str] = field(default_factory=list)
    writable: list[str] = field(default_factory=list)
    filter: bytes = b""
    search: bool = False  # the interpreter lies where only root may look: keep that one right after the uid switch

    def launch(self) -> dict[str, Any]:
        """Return what the launcher needs, as JSON data."""
        return {
            "backend": self.backend,
            "parent": os.getpid(),
            "mountpoint": "/sys",  # only hidden inside; nothing that the sandbox binds lies there
            "root": self.root,
            "uid": self.uid,
            "gid": self.gid,
            "inside_id": self.inside_id,
            "python": self.python,
            "server": self.program,
            "environment": self.environment,
        }


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


class Server:
    """One fork server.

    Use from one thread, which must live as long as the server: the kernel ends the server when the thread that
    started it ends.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.executions = 0
        self._cancelled: Callable[[], bool] = lambda: False
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        command = [plan.launcher_python, "-I", "-S", "-B", str(INSIDE / "launch.py"), str(theirs.fileno())]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                env={},
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            raise ServerError(f"{plan.launcher_python} cannot be started: {error}") from error
        finally:
            theirs.close()
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def _begin(self) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(self.plan.launch()).encode())
            self._process.stdin.close()
        deadline = time.monotonic() + START_S
        self.launched = json.loads(self._receive_bytes(deadline)[0])
        settings = {
            "backend": self.plan.backend,
            "fresh": self.plan.fresh,
            "preload": self.plan.preload,
            "proc": self.launched["fresh_proc"] or self.plan.backend != "namespaces",
            "box": self.plan.box,
            "server": self.plan.program,
            "filter": self.plan.filter,
            "uid": self.plan.uid,
            "gid": self.plan.gid,
            "search": self.plan.search,
            "readable": self.plan.readable,
            "writable": self.plan.writable,
        }
        self._control.send(marshal.dumps(("setup", settings)))
        word, self.facts = self._receive(deadline)[0]
        if word != "ready":
            raise ServerError(f"the server said {word!r}")
        if self.facts["threads"] != 1:
            raise ServerError(f"importing {', '.join(self.plan.preload)} starts threads; take it off `preload`")

    def _receive_bytes(self, deadline: float) -> tuple[bytes, list[int]]:
        self._control.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            data, descriptors, _, _ = socket.recv_fds(self._control, _READ, 4)
        except TimeoutError as error:
            raise ServerError("the server does not answer") from error
        except ConnectionError:
            data, descriptors = b"", []
        except OSError as error:
            raise ServerError(f"the server is gone: {error}") from error
        if not data:
            raise self._death()
        return data, descriptors

    def _receive(self, deadline: float) -> tuple[tuple[Any, ...], list[int]]:
        data, descriptors = self._receive_bytes(deadline)
        return marshal.loads(data), descriptors

    def _death(self) -> ServerError:
        assert self._process.stderr is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5)
        os.set_blocking(self._process.stderr.fileno(), False)
        text = (self._process.stderr.read() or b"").decode("utf-8", "replace").strip()
        last = text.rpartition("\n")[2]
        with contextlib.suppress(ValueError):
            told = json.loads(last)
            return ServerError(f"{told['step']} refused: {told['message']}", told["step"], told["errno"])
        return ServerError(f"the server ended with {self._process.poll()}: {last or 'no message'}")

    def run(
        self, code: bytes, variable: str | None, limits: Limits, seed: int | None, cancelled: Callable[[], bool]
    ) -> Outcome:
        """Run one snippet.

        Raises
        ------
        ServerError
            If the server died; the snippet has no result, and the server must be replaced.
        """
        self._cancelled = cancelled
        self.executions += 1
        with contextlib.ExitStack() as stack:
            ends = {name: os.pipe() for name in ("stdout", "stderr", "report", "stop")}
            closing = {fd: stack.enter_context(_descriptor(fd)) for pair in ends.values() for fd in pair}
            memory_file = os.memfd_create("code")
            closing[memory_file] = stack.enter_context(_descriptor(memory_file))
            with os.fdopen(os.dup(memory_file), "wb") as file:
                file.write(code)
            given = [memory_file, ends["stdout"][1], ends["stderr"][1], ends["report"][1], ends["stop"][0]]
            message = marshal.dumps(("run", _job(limits, len(code), variable, seed, self.plan.backend)))
            try:
                socket.send_fds(self._control, [message], given)
            except OSError as error:
                raise ServerError(f"the server is gone: {error}") from error
            for descriptor in given:
                closing[descriptor].close()
            (word,), (pidfd,) = self._receive(time.monotonic() + SETTLE_S)
            stack.enter_context(_descriptor(pidfd))
            if word != "started":
                raise ServerError(f"the server said {word!r}")
            run = _Run(
                self, limits, pidfd, ends["stdout"][0], ends["stderr"][0], ends["report"][0], closing[ends["stop"][1]]
            )
            return run.watch()

    @property
    def process_id(self) -> int:
        """Id of the launching process on the host."""
        return self._process.pid

    def close(self) -> None:
        """End the server and everything below it."""
        self._control.close()  # tells it to leave
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            # In its namespace everything goes with it; without one, it is asked above and obeys within two seconds.
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class _descriptor:  # noqa: N801 - reads as what it holds
    """Close a descriptor once."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> "_descriptor":
        return self

    def close(self) -> None:
        if self.number >= 0:
            os.close(self.number)
            self.number = -1

    def __exit__(self, *_: object) -> None:
        self.close()


def _job(limits: Limits, size: int, variable: str | None, seed: int | None, backend: str) -> dict[str, Any]:
    page = 4096
    disk = limits.disk_mb << 20
    return {
        "variable": variable or "",
        "seed": -1 if seed is None else seed,
        "disk": disk + (size + page - 1) // page * page,
        "inodes": limits.inodes + 8,
        "file": disk,
        "memory": limits.memory_mb << 20,
        # A second beyond the rule that the supervisor applies, in case the supervisor itself is starved.
        "cpu": int(limits.time_s) + 2,
        "processes": limits.processes,
        "open_files": limits.open_files,
    }


class _Run:
    """One execution while it runs."""

    def __init__(
        self, owner: Server, limits: Limits, pidfd: int, stdout: int, stderr: int, report: int, stop: _descriptor
    ) -> None:
        self.owner = owner
        self.limits = limits
        self.pidfd = pidfd
        self.stop_end = stop
        self.report_end = report
        self.caps = {stdout: limits.stdout_bytes, stderr: limits.stderr_bytes}
        self.captured = {stdout: bytearray(), stderr: bytearray()}
        self.order = (stdout, stderr)
        self.report = b""
        self.tree: watch.Tree | None = None
        self.begun_ns = 0
        self.stop: Stop | None = None
        self.done = False

    def watch(self) -> Outcome:
        """Look after it until nothing of it is left."""
        poll = select.poll()
        control = self.owner._control.fileno()
        for descriptor in (*self.order, self.report_end, control):
            poll.register(descriptor, select.POLLIN)
        next_look = time.monotonic() + LOOK_S
        settle_by: float | None = None
        while not self.done:
            now = time.monotonic()
            if settle_by is not None and now > settle_by:
                raise ServerError("processes of a snippet could not be ended")
            for descriptor, _ in poll.poll(max(0.0, next_look - now) * 1000):
                if descriptor == control:
                    word = self.owner._receive(now + 1)[0][0]
                    self.done = word == "done"
                elif not self._read(descriptor):
                    poll.unregister(descriptor)
            if time.monotonic() >= next_look:
                self._look()
                next_look = time.monotonic() + LOOK_S
            if self.stop is not None and settle_by is None:
                self._kill()
                settle_by = time.monotonic() + SETTLE_S
        for descriptor in (*self.order, self.report_end):
            os.set_blocking(descriptor, False)
            with contextlib.suppress(BlockingIOError):
                while self._read(descriptor, final=True):
                    pass
        return self._outcome()

    def _read(self, descriptor: int, *, final: bool = False) -> bool:
        data = os.read(descriptor, _READ)
        if descriptor == self.report_end:
            self.report += data
            self._read_report()
            return bool(data)
        kept = self.captured[descriptor]
        room = self.caps[descriptor] + 1 - len(kept)
        kept += data[:room]
        if len(kept) > self.caps[descriptor] and self.stop is None:
            self.stop = "output"
        return bool(data) and not (final and room <= 0)

    def _read_report(self) -> None:
        if self.tree is None and self.report.startswith(b"begun ") and b"\n" in self.report:
            self.begun_ns = int(self.report.split()[1])
            base = self.owner.facts.get("resident", 0)
            self.tree = watch.Tree(watch.pidfd_process(self.pidfd), base)

    def _look(self) -> None:
        if self.owner._cancelled():
            self.stop = self.stop or "cancelled"
        if self.tree is None or self.stop is not None or b"ended" in self.report:
            return
        memory = self.tree.sample()
        cap = self.limits.tree_memory_mb << 20
        if memory > cap:
            precise = self.tree.precise_memory()
            if precise < 0 or precise > cap:
                self.stop = "tree"
        limit = self.limits.time_s * 1e9
        wall = time.monotonic_ns() - self.begun_ns
        if self.tree.cpu_ns > limit or wall - self.tree.queue_ns > limit:
            self.stop = "time"
        elif wall > HARD_FACTOR * limit:
            self.stop = "starved"

    def _kill(self) -> None:
        if self.owner.plan.backend == "namespaces":
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        else:
            self.stop_end.close()  # the subreaper sweeps; killing it first would lose the descendants

    def _outcome(self) -> Outcome:
        ended = next((line.split()[1:] for line in self.report.splitlines() if line.startswith(b"ended ")), None)
        tree = self.tree
        if b"broken " in self.report:
            raise ServerError(f"a snippet could not be confined: {self.report.decode('utf-8', 'replace').strip()}")
        if ended is None and self.stop is None:
            raise ServerError("the process that watches the snippet has died")
        wall, cpu, queue = 0, 0, 0
        exact = tree.exact if tree else True
        status, survivors, peak = None, -1, tree.peak_memory if tree else 0
        if tree is not None:
            wall, cpu, queue = time.monotonic_ns() - self.begun_ns, tree.cpu_ns, tree.queue_ns
        if ended is not None:
            raw_status, finished, delay, used, resident, survivors = (int(word) for word in ended)
            status = raw_status
            wall = finished - self.begun_ns
            cpu = max(cpu, used)
            queue = max(queue, delay)
            exact = exact and delay >= 0
            peak = max(peak, resident * 1024)
        return Outcome(
            stdout=bytes(self.captured[self.order[0]]),
            stderr=bytes(self.captured[self.order[1]]),
            status=status,
            stop=self.stop,
            wall_ns=wall,
            cpu_ns=cpu,
            queue_ns=queue,
            exact=exact,
            peak_memory=peak,
            peak_processes=tree.peak_processes if tree else 1,
            survivors=survivors,
        )
