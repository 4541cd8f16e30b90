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
    while pid > 1:
        if pid not in seen:
            return True  # the parent has just ended; the next look shows whose the process is now
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
        self.names = _names()
        self.written = _written()
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
        """Most free space that went, bytes.

        Other programs take space as well: at most what this process and all below it have written, where the kernel
        tells.
        """
        fallen = max(before - least for before, least in zip(self.free, self.least, strict=True))
        before, after = self.written, _written()
        return fallen if before is None or after is None else min(fallen, after - before)

    def left(self, users: set[int]) -> list[str]:
        """Return new files of the sandbox's users where every user may write."""
        found = []
        for path in sorted(_names() - self.names):
            with contextlib.suppress(OSError):
                if os.lstat(path).st_uid in users:
                    found.append(path)
        return found


class Load:
    """Measures how many processors the other programs of this machine use while it is open."""

    def __enter__(self) -> "Load":
        self._begun = time.monotonic()
        self._before = _busy_ticks() - _own_ticks()
        return self

    def __exit__(self, *_: object) -> None:
        ticks = max(_busy_ticks() - _own_ticks() - self._before, 0)
        self.others = ticks / os.sysconf("SC_CLK_TCK") / max(time.monotonic() - self._begun, 0.1)

    @property
    def idle(self) -> bool:
        """Tell whether a time can be compared with what an idle machine takes."""
        return self.others < 0.25


def _busy_ticks() -> int:
    """Return the time that all processors of this machine were busy, in clock ticks."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return sum(int(word) for word in words[1:4] + words[6:9])  # neither idle nor waiting for a disk


def _own_ticks() -> int:
    """Return the time of this process and all below it, those that have ended included."""
    total = 0
    for pid in (os.getpid(), *watch.descendants(os.getpid())):
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            total += sum(int(word) for word in fields[11:15])
    return total


def _written() -> int | None:
    """Return how much this process and all below it, reaped ones included, have written to disks, bytes."""
    total = 0
    for pid in (os.getpid(), *watch.descendants(os.getpid())):
        try:
            words = Path(f"/proc/{pid}/io").read_text().split()
            total += int(words[words.index("write_bytes:") + 1])
        except (OSError, ValueError):
            return None
    return total


def _names() -> set[str]:
    """Return what lies in the folders that every user may write to."""
    folders = [folder for folder in (tempfile.gettempdir(), "/dev/shm") if os.path.isdir(folder)]
    return {f"{folder}/{name}" for folder in folders for name in os.listdir(folder)}


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def wait_for_nothing(before: set[int], tag: str, users: set[int], marks: tuple[str, ...], within_s: float) -> list[str]:
    """Return `strays` as soon as there are none, or what is left after the time."""
    deadline = time.monotonic() + within_s
    while (left := strays(before, tag, users, marks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left
