"""Things that a snippet must not reach, and a look afterwards at whether it did: what drills are made of."""

import contextlib
import os
import secrets
import select
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from assay.sandbox import watch

_MIB = 1 << 20


@dataclass
class Bait:
    """Canaries and listeners of one drill; `fill` puts them into a snippet's placeholders."""

    canary: str = field(default_factory=lambda: f"canary-{secrets.token_hex(12)}")
    home: Path = field(default_factory=lambda: Path("~").expanduser())
    sockets: dict[str, list[socket.socket]] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    abstract: str = field(default_factory=lambda: f"assay-{secrets.token_hex(8)}")

    @property
    def secret_file(self) -> Path:
        """File in the home folder that holds the canary."""
        return self.home / f".assay-secret-{self.canary[-8:]}"

    def fill(self, code: str, tag: str, marker: Path) -> str:
        """Replace the placeholders of a snippet."""
        values = {
            "TAG": tag,
            "MARKER": str(marker),
            "SECRET_FILE": str(self.secret_file),
            "TCP_PORT": str(self.ports["tcp"]),
            "UDP_PORT": str(self.ports["udp"]),
            "ABSTRACT_NAME": self.abstract,
        }
        for name, value in values.items():
            code = code.replace(f"@@{name}@@", value)
        return code

    def contacted(self) -> list[str]:
        """Return the listeners that something reached since the last look."""
        reached = []
        for name, listeners in self.sockets.items():
            for listener in select.select(listeners, [], [], 0)[0]:
                reached.append(name)
                with contextlib.suppress(OSError):
                    if listener.type == socket.SOCK_STREAM:
                        listener.accept()[0].close()
                    else:
                        listener.recv(65536)
        return reached


@contextlib.contextmanager
def laid() -> Iterator[Bait]:
    """Lay out canaries (a file in the home folder, an environment variable) and listeners; clear them afterwards."""
    bait = Bait()
    with contextlib.ExitStack() as stack:
        os.environ["ASSAY_DRILL_SECRET"] = bait.canary
        stack.callback(os.environ.pop, "ASSAY_DRILL_SECRET", None)
        with contextlib.suppress(OSError):
            bait.secret_file.write_text(bait.canary)
            stack.callback(bait.secret_file.unlink, missing_ok=True)
        for name, kind in (("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)):
            for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                try:
                    listener = stack.enter_context(socket.socket(family, kind))
                    listener.bind((address, bait.ports.get(name, 0)))
                except OSError:
                    continue  # no IPv6 here
                if kind == socket.SOCK_STREAM:
                    listener.listen()
                bait.ports[name] = listener.getsockname()[1]
                bait.sockets.setdefault(name, []).append(listener)
        local = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
        local.bind("\0" + bait.abstract)
        local.listen()
        bait.sockets["abstract"] = [local]
        yield bait


@dataclass(frozen=True)
class Process:
    """One process as /proc shows it."""

    parent: int
    user: int
    space: str
    line: str
    state: str


def processes() -> dict[int, Process]:
    """Return all processes that can be seen."""
    found = {}
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            with open(f"{entry.path}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
            with open(f"{entry.path}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
            try:
                space = os.readlink(f"{entry.path}/ns/pid")
            except OSError:
                space = ""
            found[int(entry.name)] = Process(int(parent), entry.stat().st_uid, space, line, state.decode())
        except OSError:
            continue  # gone meanwhile
    return found


def strays(before: set[int], tag: str, users: set[int], marks: tuple[str, ...]) -> list[str]:
    """Return processes of an execution that are alive (or zombies of ours) though its verdict is out."""
    ours = set(watch.descendants(os.getpid()))
    seen = processes()
    left = []
    for pid, found in seen.items():
        if pid in before:
            continue
        loose = found.user in users or any(mark in found.line for mark in marks)
        if pid in ours or tag in found.line or (loose and not _of_other_launcher(pid, seen)):
            left.append(f"{pid} {found.state} {found.line[:80]}")
    return left


def _of_other_launcher(pid: int, seen: dict[int, Process]) -> bool:
    """Tell whether a process hangs below the launcher of another Assay on this machine."""
    while pid in seen:
        if "launch.py" in seen[pid].line:
            return True
        pid = seen[pid].parent
    return False


class Gauge:
    """Watches this process's memory and the free space of the disks while a snippet runs."""

    def __init__(self) -> None:
        self.places = [Path(tempfile.gettempdir()), Path.cwd()]
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Gauge":
        self.before = _resident()
        self.free = [shutil.disk_usage(place).free for place in self.places]
        self.most, self.least = self.before, list(self.free)
        self.names = _names(self.places[0])
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.wait(0.05):
            self.most = max(self.most, _resident())
            self.least = [min(a, shutil.disk_usage(p).free) for a, p in zip(self.least, self.places, strict=True)]

    @property
    def growth(self) -> int:
        """Most memory that this process took in addition, bytes."""
        return self.most - self.before

    @property
    def fallen(self) -> int:
        """Most free space that went, bytes; other programs' writes count as well."""
        return max(before - least for before, least in zip(self.free, self.least, strict=True))

    def left(self, users: set[int]) -> list[str]:
        """Return new files of the sandbox's users in the temporary folder."""
        found = []
        for name in sorted(_names(self.places[0]) - self.names):
            with contextlib.suppress(OSError):
                if (self.places[0] / name).lstat().st_uid in users:
                    found.append(name)
        return found


def _names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait_for_nothing(before: set[int], tag: str, users: set[int], marks: tuple[str, ...], within_s: float) -> list[str]:
    """Return `strays` as soon as there are none, or what is left after the time."""
    deadline = time.monotonic() + within_s
    while (left := strays(before, tag, users, marks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
