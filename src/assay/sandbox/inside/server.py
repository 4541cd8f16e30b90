"""The fork server: imports once, then forks one confined process per snippet.

It starts as `python -s -P SERVER` inside the private root (or, without namespaces, on the host's files) with the
control socket as descriptor 3, so that flags, environment and start-up state are those of a fresh interpreter. The
only Python frame that a snippet can see is the module frame at the end of this file.

Words on the control socket, as marshalled tuples: ("setup", settings) -> ("ready", facts);
("run", job) + descriptors -> ("started",) + pidfd -> ("done",).
"""

from __future__ import annotations

import _socket
import gc
import marshal
import os
import select
import signal
import sys

sys.path.insert(0, os.path.dirname(__file__))
import linux  # type: ignore[import-not-found]  # these lie beside this file, wherever that is
import snippet  # type: ignore[import-not-found]
import watcher  # type: ignore[import-not-found]

sys.path.pop(0)

TYPE_CHECKING = False  # importing typing would show in the snippet's world
if TYPE_CHECKING:
    from typing import Any

CONTROL = 3


def receive(control: _socket.socket) -> tuple[Any, list[int]] | None:
    """Return (message, descriptors), or None when the supervisor has gone."""
    data, ancillary, _, _ = control.recvmsg(1 << 16, 256)
    if not data:
        return None
    descriptors = [
        int.from_bytes(raw[i : i + 4], sys.byteorder) for _, _, raw in ancillary for i in range(0, len(raw), 4)
    ]
    return marshal.loads(data), descriptors


def send(control: _socket.socket, message: tuple[Any, ...], descriptors: tuple[int, ...] = ()) -> None:
    """Send one message with descriptors."""
    raw = b"".join(fd.to_bytes(4, sys.byteorder) for fd in descriptors)
    ancillary = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, raw)] if descriptors else []
    control.sendmsg([marshal.dumps(message)], ancillary)


def serve() -> dict[str, Any]:
    """Serve until the supervisor goes; return (job) only in the process of a snippet."""
    control = _socket.socket(fileno=CONTROL)
    linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    first = receive(control)
    if first is None:
        os._exit(0)
    (_, settings), _ = first
    facts = settle(settings)
    generators = snippet.find_generators()
    send(control, ("ready", facts))
    poll = select.poll()
    while True:
        request = receive(control)
        if request is None:
            os._exit(0)
        (_, job), descriptors = request
        job.update(settings=settings, generators=generators)
        job["code"], job["stdout"], job["stderr"], job["report"], job["stop"] = descriptors
        if settings["backend"] == "namespaces":
            flags = linux.CLONE_NEWPID | linux.CLONE_NEWNS | linux.CLONE_NEWIPC
            pid, pidfd = linux.fork_into(flags)
        else:
            pid = os.fork()
            pidfd = os.pidfd_open(pid) if pid else -1
        if pid == 0:
            control.detach()
            os.close(CONTROL)
            begun: dict[str, Any] = watcher.begin(job)
            return begun
        for descriptor in descriptors:
            os.close(descriptor)
        send(control, ("started",), (pidfd,))
        poll.register(control, select.POLLHUP)
        poll.register(pidfd, select.POLLIN)
        while pidfd not in (ready := [descriptor for descriptor, _ in poll.poll()]):
            if ready and settings["backend"] == "namespaces":
                os._exit(0)  # the supervisor has gone, and with process 1 goes everything below
        poll.unregister(control)
        poll.unregister(pidfd)
        os.close(pidfd)
        os.waitpid(pid, 0)
        send(control, ("done",))


def settle(settings: dict[str, Any]) -> dict[str, int]:
    """Import what is preloaded, and let the memory settle; return facts about this process."""
    snippet.leaving.register()
    load(settings["preload"])
    facts = {}
    if settings["backend"] != "namespaces":
        linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)
        facts["landlock"] = prepare_landlock(settings)
    snippet.leaving.kept = dict(sys.modules)
    gc.collect()
    gc.freeze()
    if os.fork() == 0:  # the first fork lays out memory differently from all later ones
        os._exit(0)
    os.wait()
    return facts


def load(names: tuple[str, ...]) -> None:
    """Import modules; what they draw at random meanwhile is the same in every server.

    sympy numbers its dummy symbols from a random number on, drawn once. Their hashes depend on it, and with them the
    order of sets: an answer would depend on the server that it came to.
    """
    if not names:
        return
    import random

    begin = random.Random.__init__

    def begin_alike(generator: random.Random, x: Any = 0) -> None:
        begin(generator, x)

    random.seed(0)
    random.Random.__init__ = begin_alike  # type: ignore[assignment, method-assign]
    try:
        for name in names:
            __import__(name)
    finally:
        random.Random.__init__ = begin  # type: ignore[method-assign]


def prepare_landlock(settings: dict[str, Any]) -> int:
    """Build the ruleset once; every snippet enters it. Return the kernel's Landlock version."""
    abi = linux.landlock_abi() if settings["backend"] == "landlock" else 0
    settings["rulesets"] = [-1, -1]
    if abi:
        paths = settings["readable"], settings["writable"]
        settings["rulesets"] = [linux.landlock_ruleset(*paths, shared) for shared in ((), ("/dev/shm",))]
    return abi


if __name__ == "__main__":
    _function, _arguments = snippet.prepare(serve())
    snippet.end(_function(*_arguments))
