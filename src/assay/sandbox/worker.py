"""The supervisor's side of one fork server: start it, run snippets through it, end it."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

from assay.sandbox import memory, watch
from assay.sandbox.control import Control, ServerError
from assay.sandbox.launching import LAUNCHER, Plan
from assay.sandbox.records import Limits
from assay.sandbox.running import PATIENCE, SETTLE_S, Descriptor, Ends, Outcome, Run

START_S = 60.0  # importing on a loaded machine takes its time


class Server:
    """One fork server.

    Use from one thread, which must live as long as the server: the kernel ends the server when the thread that
    started it ends.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.executions = 0
        self._oom_kills = memory.oom_kills()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = Control(ours, self._death)
        with theirs:  # where ours are closed, its number may be that of a standard stream
            control = fcntl.fcntl(theirs, fcntl.F_DUPFD_CLOEXEC, 10)
        command = [plan.launcher_python, "-I", "-S", "-B", str(LAUNCHER), str(control)]
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[control, *plan.held],
                env={},
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            self._control.close()
            raise ServerError(f"{plan.launcher_python} cannot be started: {error}") from error
        finally:
            os.close(control)
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
        self.launched = json.loads(self._control.receive_bytes(deadline)[0])
        self._control.send(("setup", self.plan.settings(fresh_proc=self.launched["fresh_proc"])))
        word, self.facts = self._control.receive(deadline)[0]
        if word != "ready":
            raise ServerError(f"the server said {word!r}")
        self._size, self._shared, threads = self._measured()
        if threads != 1:
            raise ServerError(f"importing {', '.join(self.plan.preload)} starts threads; take it off `preload`")

    def _measured(self) -> tuple[int, int, int]:
        """Return the server's address space, what of its memory is its own and all snippets share, and its threads.

        From outside, because inside there may be no /proc.
        """
        namespaces = self.plan.backend == "namespaces"
        found = watch.children(self._process.pid) if namespaces else [self._process.pid]
        try:
            return watch.process_memory(found[0])
        except (IndexError, OSError) as error:
            raise ServerError(f"the memory of a server cannot be seen in /proc ({error})") from error

    def _death(self) -> ServerError:
        """Return what a server that hung up left behind."""
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
        self,
        code: bytes,
        variable: str | None,
        limits: Limits,
        seed: int | None,
        cancelled: Callable[[], bool],
        patience: float = PATIENCE,
    ) -> Outcome:
        """Run one snippet; `patience` as in `Run`.

        Raises
        ------
        ServerError
            If the server died; the snippet has no result, and the server must be replaced.
        """
        self.executions += 1
        with contextlib.ExitStack() as stack:
            pipes = {name: os.pipe() for name in ("stdout", "stderr", "report", "stop")}
            closing = {fd: stack.enter_context(Descriptor(fd)) for pair in pipes.values() for fd in pair}
            program = os.memfd_create("code")
            closing[program] = stack.enter_context(Descriptor(program))
            with os.fdopen(os.dup(program), "wb") as file:
                file.write(code)
            given = [program, pipes["stdout"][1], pipes["stderr"][1], pipes["report"][1], pipes["stop"][0]]
            self._control.send(("run", _job(limits, len(code), variable, seed, self._size)), given)
            for descriptor in given:
                closing[descriptor].close()
            (word,), (pidfd,) = self._control.receive(time.monotonic() + SETTLE_S)
            stack.enter_context(Descriptor(pidfd))
            if word != "started":
                raise ServerError(f"the server said {word!r}")
            ends = Ends(
                pidfd,
                pipes["stdout"][0],
                pipes["stderr"][0],
                pipes["report"][0],
                stop=closing[pipes["stop"][1]],
                namespace=self.plan.backend == "namespaces",
            )
            outcome = Run(self._control, limits, ends, self._shared, patience, cancelled).watch()
        # Within its caps the snippet is not to blame, if it was the one that was chosen.
        if outcome.stop is None and outcome.status == signal.SIGKILL and memory.oom_kills() > self._oom_kills:
            raise ServerError("the kernel had no memory left and ended a snippet, or another process of this machine")
        return outcome

    def kept(self, limits: Limits) -> Limits:
        """Return the limits as the kernel will keep them."""
        return memory.kept(limits, self._size)

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


def _job(limits: Limits, size: int, variable: str | None, seed: int | None, interpreter_bytes: int) -> dict[str, Any]:
    page = 4096
    disk = limits.disk_mb << 20
    return {
        "variable": variable or "",
        "seed": -1 if seed is None else seed,
        "disk": disk + (size + page - 1) // page * page,
        "inodes": limits.inodes + 8,
        "file": disk,
        "memory": (limits.memory_mb << 20) + interpreter_bytes,
        # A second beyond the rule that the supervisor applies, in case the supervisor itself is starved.
        "cpu": int(limits.time_s) + 2,
        "processes": limits.processes,
        "open_files": limits.open_files,
    }
