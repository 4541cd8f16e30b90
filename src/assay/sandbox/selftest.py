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
_FORK = """
import os, signal, time
n = 0
try:
    while n < 64:
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
for path in {paths!r}:
    try:
        open(path + '/{tag}', 'w').write('x')
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
import os, signal
reached = 0
for pid in ({pid}, {server}):
    try:
        os.kill(pid, 0)
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
            outcome = self._do(_FORK)
            forked = int(outcome.stdout or b"-1")
            # Without a user namespace, other processes of this user come and go meanwhile.
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
        with _outside() as folders:
            self._do(_WRITE.format(paths=[*folders, "/usr", "/etc", "/dev/shm/..", "/"], tag=self._tag))
            found = [folder for folder in folders if os.path.exists(f"{folder}/{self._tag}")]
            for folder in found:
                os.unlink(f"{folder}/{self._tag}")
        if found:
            raise _FailedError(f"a file appeared in {', '.join(found)}")

    def _read_confined(self) -> None:
        with _outside() as folders:
            paths = [__file__, sys.prefix + "/pyvenv.cfg", "/etc/shadow", "/etc/machine-id", "/etc/fstab"]
            for folder in folders:
                with contextlib.suppress(OSError):
                    Path(folder, self._tag).write_text("canary")
                    os.chmod(f"{folder}/{self._tag}", 0o644)
                    paths.append(f"{folder}/{self._tag}")
            try:
                self._expect(self._do(_READ.format(paths=paths)), "", "could be read")
            finally:
                for folder in folders:
                    with contextlib.suppress(OSError):
                        os.unlink(f"{folder}/{self._tag}")

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
            outcome = self._do(_NETWORK.format(**{"tcp": 9, "udp": 9, **ports}))
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


@contextlib.contextmanager
def _outside() -> Iterator[list[str]]:
    """Yield folders that a snippet must not reach: home, working and temporary folder, and that of Assay."""
    with tempfile.TemporaryDirectory(prefix="assay-canary-") as folder:
        os.chmod(folder, 0o777)
        places = [folder, os.path.expanduser("~"), os.getcwd(), str(Path(__file__).parent), "/var/tmp", "/dev/shm"]
        yield [place for place in dict.fromkeys(places) if os.path.isdir(place)]


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
