"""Self-tests: each guarantee is tried on a running server, never inferred from the presence of a mechanism."""

import contextlib
import os
import secrets
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.sandbox.control import ServerError
from assay.sandbox.guarantees import GUARANTEES
from assay.sandbox.records import Limits
from assay.sandbox.running import Outcome
from assay.sandbox.worker import Server

_LIMITS = Limits(
    time_s=8,
    memory_mb=128,
    tree_memory_mb=192,
    disk_mb=4,
    processes=12,
    open_files=64,
    inodes=500,
    stdout_bytes=65536,
    stderr_bytes=65536,
)
_TRIES = 5
_FORKS = 64
_FORK = f"""
import os, signal, time
n = 0
try:
    while n < {_FORKS}:
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        n += 1
except OSError:
    pass
print(n)
"""
_TREE = """
import os, time
for _ in range(6):
    if os.fork() == 0:
        x = bytearray(60 << 20)
        x[::4096] = b'x' * len(x[::4096])
        time.sleep(60)
time.sleep(60)
"""
_DISK = """
import os
n = 0
try:
    for i in range(64):
        with open(f'f{i}', 'wb') as f:
            f.write(b'x' * (1 << 20))
            n += 1
except OSError:
    pass
print(n)
"""
_LOOP = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass\n"
_DAEMON = """
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv('/bin/sleep', ['{tag}', '60'])
    os._exit(0)
os.wait()
import time
time.sleep(0.1)
print('done')
"""
_WRITE = """
import os
for path in {paths!r}:
    kept = path + '/{tag}-kept'
    for change in (
        lambda: open(path + '/{tag}', 'w').write('x'),
        lambda: os.chmod(kept, 0o606),
        lambda: os.utime(kept, (1, 1)),
        lambda: os.truncate(kept, 0),
        lambda: os.open(kept, os.O_RDONLY | os.O_TRUNC),
    ):
        try:
            change()
        except OSError:
            pass
"""
_READ = """
for path in {paths!r}:
    try:
        open(path).read(1)
        print(path)
    except OSError:
        pass
"""
_PROCESSES = """
import os
found = 0
for name in os.listdir('/proc') if os.path.isdir('/proc') else []:
    for file in ('environ', 'mem'):
        try:
            with open(f'/proc/{{name}}/{{file}}', 'rb') as f:
                found += b'{tag}' in f.read(65536)
        except (OSError, ValueError, OverflowError):
            pass
print(found)
"""
_SIGNALS = """
import os, resource, signal
reached = 0
for pid in ({pid}, {server}):
    for reach in (
        lambda: os.kill(pid, 0),
        lambda: resource.prlimit(pid, resource.RLIMIT_CPU),
    ):
        try:
            reach()
            reached += 1
        except OSError:
            pass
if not reached:  # never send a real signal where it could reach somebody
    for target in (os.getppid(), -1):
        try:
            os.kill(target, signal.SIGTERM)
        except OSError:
            pass
print(reached)
"""
_NETWORK = """
import socket
for family, address in ((socket.AF_INET, '127.0.0.1'), (socket.AF_INET6, '::1')):
    for kind, port in ((socket.SOCK_STREAM, {tcp}), (socket.SOCK_DGRAM, {udp})):
        try:
            with socket.socket(family, kind) as s:
                s.settimeout(1)
                s.connect((address, port))
                s.send(b'x')
        except OSError:
            pass
try:
    with socket.socket(socket.AF_UNIX) as s:
        s.connect({path!r})  # as resolvers, buses and agents listen
except OSError:
    pass
try:
    socket.getaddrinfo('example.org', 80)
    print('resolved')
except OSError:
    pass
"""
_ABSTRACT = """
import socket
try:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        s.connect(chr(0) + '{tag}')
        s.send(b'x')
except OSError:
    pass
"""
_HERE = str(Path(__file__).parent)
_ENVIRONMENT = "import os\nfor item in sorted(os.environ.items()): print(*item, sep='=')\n"


class _FailedError(Exception):
    """A guarantee does not hold; the text says what was seen."""


class SelfTest:
    """Runs all self-tests on servers that `start` makes."""

    def __init__(self, start: Callable[[], Server]) -> None:
        self._start = start
        self.server = start()
        self._tag = f"assay-{secrets.token_hex(8)}"

    def run(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """Return (guarantees that hold, the others with what was seen)."""
        held, missing = [], {}
        for name in GUARANTEES:
            if name in ("process_count_capped", "tree_memory_capped") and "process_tree_killed" not in held:
                missing[name] = "not tried, because processes may survive"
                continue
            try:
                getattr(self, f"_{name}")()
                held.append(name)
            except _FailedError as failed:
                missing[name] = str(failed)
            except ServerError as error:
                missing[name] = f"the server failed: {error}"
                self.server.close()
                self.server = self._start()
        return tuple(held), missing

    def close(self) -> None:
        """End the server."""
        self.server.close()

    def _do(self, code: str, limits: Limits = _LIMITS) -> Outcome:
        return self.server.run(code.encode(), None, limits, None, lambda: False)

    def _expect(self, outcome: Outcome, stdout: str, seen: str) -> None:
        if outcome.status != 0 or outcome.stdout.decode() != stdout:
            last = outcome.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise _FailedError(
                f"{seen}: {outcome.stdout.decode('utf-8', 'replace').strip()[:200]} {last[:200]}".strip()
            )

    def _wall_limited(self) -> None:
        outcome = self._do(_LOOP, Limits(time_s=0.3))
        if outcome.stop not in ("time", "starved"):  # on a busy machine the hard stop comes first
            raise _FailedError(f"an endless loop ended with {outcome.stop or outcome.status}")

    def _process_tree_killed(self) -> None:
        self._expect(self._do(_DAEMON.format(tag=self._tag)), "done\n", "a daemon could not be tried")
        left = [
            pid for pid in os.listdir("/proc") if pid.isdigit() and self._tag.encode() in _read(f"/proc/{pid}/cmdline")
        ]
        if left:
            raise _FailedError("a daemon survived")

    def _process_count_capped(self) -> None:
        most = _LIMITS.processes - 1
        for _ in range(2):
            forked = -1
            for _attempt in range(_TRIES):
                forked = int(self._do(_FORK).stdout or b"-1")
                # Without a user namespace, other processes of this user come and go meanwhile.
                if forked == _FORKS or most // 2 <= forked <= most:
                    break
            if not most // 2 <= forked <= most:
                raise _FailedError(f"{forked} forks until refusal instead of {most}")

    def _process_memory_capped(self) -> None:
        code = f"try:\n x = bytearray({2 * _LIMITS.memory_mb} << 20)\nexcept MemoryError:\n print('capped')\n"
        self._expect(self._do(code), "capped\n", "twice the cap could be allocated")

    def _tree_memory_capped(self) -> None:
        outcome = self._do(_TREE, Limits(time_s=5, memory_mb=128, tree_memory_mb=192, processes=12))
        if outcome.stop != "tree":
            raise _FailedError(
                f"several processes took more than the cap, the end was {outcome.stop or outcome.status}"
            )

    def _disk_capped(self) -> None:
        for _ in range(2):
            outcome = self._do(_DISK)
            written = int(outcome.stdout or b"64")
            if not _LIMITS.disk_mb - 1 <= written <= _LIMITS.disk_mb:
                raise _FailedError(f"{written} MiB could be written where {_LIMITS.disk_mb} are allowed")

    def _write_confined(self) -> None:
        with _planted(f"{self._tag}-kept") as files:
            before = {path: _state(path) for path in files}
            others = [place for place in (os.getcwd(), _HERE, "/dev/shm") if os.path.isdir(place)]
            folders = list(dict.fromkeys([*(str(path.parent) for path in files), *others]))
            self._do(_WRITE.format(paths=[*folders, "/usr", "/etc", "/dev/shm/..", "/"], tag=self._tag))
            found = [folder for folder in folders if os.path.exists(f"{folder}/{self._tag}")]
            for folder in found:
                os.unlink(f"{folder}/{self._tag}")
            changed = [str(path.parent) for path, old in before.items() if _state(path) != old]
        if found:
            raise _FailedError(f"a file appeared in {', '.join(found)}")
        if changed:
            raise _FailedError(f"length, mode or time of a file changed in {', '.join(changed)}")

    def _read_confined(self) -> None:
        with _planted(self._tag) as files:
            paths = [__file__, sys.prefix + "/pyvenv.cfg", "/etc/shadow", "/etc/machine-id", "/etc/fstab"]
            paths += [*map(str, files), *_of_project()]
            self._expect(self._do(_READ.format(paths=paths)), "", "could be read")

    def _processes_hidden(self) -> None:
        with _bystander({"CANARY": self._tag}):
            # The snippet's own text holds the tag in reverse, or it would find itself.
            code = _PROCESSES.replace("b'{tag}'", "b'{tag}'[::-1]").format(tag=self._tag[::-1])
            self._expect(self._do(code), "0\n", "the environment of another process could be read")

    def _signals_confined(self) -> None:
        with _bystander({}) as process:
            code = _SIGNALS.format(pid=process.pid, server=self.server.process_id)
            self._expect(self._do(code), "0\n", "other processes can be signalled")
            if process.poll() is not None:
                raise _FailedError("another process was ended")
        self._expect(self._do("print(1)"), "1\n", "the server suffered")

    def _network_blocked(self) -> None:
        with contextlib.ExitStack() as stack:
            sockets = []
            ports: dict[str, int] = {}
            for kind, name in ((socket.SOCK_STREAM, "tcp"), (socket.SOCK_DGRAM, "udp")):
                for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
                    try:
                        listener = stack.enter_context(socket.socket(family, kind))
                        listener.bind((address, ports.get(name, 0)))
                    except OSError:
                        continue  # no IPv6 here, or the port is taken there
                    ports[name] = listener.getsockname()[1]
                    if kind == socket.SOCK_STREAM:
                        listener.listen()
                    sockets.append(listener)
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-canary-", dir="/tmp"))
            os.chmod(folder, 0o777)
            local = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            local.bind(path := f"{folder}/socket")
            os.chmod(path, 0o777)
            local.listen()
            sockets.append(local)
            outcome = self._do(_NETWORK.format(**{"tcp": 9, "udp": 9, "path": path, **ports}))
            if select.select(sockets, [], [], 0.05)[0]:
                raise _FailedError("a connection or datagram arrived")
            self._expect(outcome, "", "name lookup works")

    def _abstract_sockets_blocked(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind("\0" + self._tag)
            listener.listen()
            self._do(_ABSTRACT.format(tag=self._tag))
            if select.select([listener], [], [], 0.05)[0]:
                raise _FailedError("a connection arrived")

    def _env_clean(self) -> None:
        expected = "".join(f"{name}={text}\n" for name, text in sorted(self.server.plan.environment.items()))
        self._expect(self._do(_ENVIRONMENT), expected, "the environment is another one")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _state(path: Path) -> tuple[int, int, int]:
    """Return what must not change in a file; others may read it meanwhile, and be it to copy a folder."""
    found = path.stat()
    return found.st_mode, found.st_size, found.st_mtime_ns


def _of_project() -> list[str]:
    """Return a file of the working folder; a new one there could end up in somebody's commit, or vanish from a copy."""
    folder = os.getcwd()
    if folder.startswith(("/bin", "/etc", "/lib", "/usr")):
        return []  # what lies there may lie inside too
    with os.scandir(folder) as entries:
        return [entry.path for entry in entries if entry.is_file()][:1]


@contextlib.contextmanager
def _planted(name: str) -> Iterator[list[Path]]:
    """Put a file into folders that a snippet must not reach.

    Not into shared memory, where it would take that from the snippets of others (see `shared_memory` in
    inside/watcher.py), nor into the project.
    """
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-canary-"))
        os.chmod(folder, 0o777)
        files = []
        for place in dict.fromkeys((folder, os.path.expanduser("~"), "/var/tmp")):
            path = Path(place, name)
            with contextlib.suppress(OSError):
                path.touch(exist_ok=False)
                stack.callback(path.unlink, missing_ok=True)
                path.write_text("canary")
                path.chmod(0o644)
                files.append(path)
        yield files


@contextlib.contextmanager
def _bystander(environment: dict[str, str]) -> Iterator["subprocess.Popen[bytes]"]:
    """Yield a process that a snippet must not see."""
    command = [sys.executable, "-I", "-S", "-c", "import time; print(flush=True); time.sleep(60)"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield process
        finally:
            process.kill()
