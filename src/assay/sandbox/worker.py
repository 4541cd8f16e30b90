"""The supervisor's side of one fork server: start it, run snippets through it, end it."""

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from typing import Any

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
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = Control(ours, self._death)
        command = [plan.launcher_python, "-I", "-S", "-B", str(LAUNCHER), str(theirs.fileno())]
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
            self._control.close()
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
        self.launched = json.loads(self._control.receive_bytes(deadline)[0])
        self._control.send(("setup", self.plan.settings(fresh_proc=self.launched["fresh_proc"])))
        word, self.facts = self._control.receive(deadline)[0]
        if word != "ready":
            raise ServerError(f"the server said {word!r}")
        if self.facts["threads"] != 1:
            raise ServerError(f"importing {', '.join(self.plan.preload)} starts threads; take it off `preload`")

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
            self._control.send(("run", _job(limits, len(code), variable, seed)), given)
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
            return Run(self._control, limits, ends, self.facts.get("resident", 0), patience, cancelled).watch()

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


def _job(limits: Limits, size: int, variable: str | None, seed: int | None) -> dict[str, Any]:
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
