"""Executors, and commands run as an unprivileged user and as inside a container."""

import contextlib
import functools
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.config.executions import Executions
from assay.sandbox.executor import Executor

DATA = Path(__file__).parent.parent / "data" / "sandbox"
SRC = Path(__file__).parent.parent.parent / "src"

CONTAINED = """
import os, sys
from assay.sandbox import seccomp
from assay.sandbox.inside import linux
if os.geteuid():
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
linux.load_filter(seccomp.container_filter())
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""

# As in a container that may make namespaces, where some files in /proc are covered: the kernel then mounts no new one.
COVERED = """
import os, sys
from assay.sandbox.inside import linux
linux.unshare(linux.CLONE_NEWNS)
linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
covered = next(path for path in ("/proc/keys", "/proc/timer_list", "/proc/kallsyms") if os.path.exists(path))
linux.mount("/dev/null", covered, None, linux.MS_BIND)
if len(sys.argv) > 2 and sys.argv[1].isdigit():
    uid = int(sys.argv.pop(1))
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
os.execv(sys.argv[1], sys.argv[1:])
"""

_AS_USER = """
import os, sys
uid = int(sys.argv[1])
os.setgroups([])
os.setresgid(uid, uid, uid)
os.setresuid(uid, uid, uid)
os.execv(sys.argv[2], sys.argv[2:])
"""


# Keeps a processor busy, and ends with its parent, however that ends.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"


@contextlib.contextmanager
def busy_processes(count):
    """Keep processors busy with that many processes.

    Each has a session of its own, because Linux may share a processor out among sessions, and a snippet has its own.
    """
    command = [sys.executable, "-c", _BUSY]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@functools.cache
def ordinary_user():
    """An unprivileged user id, with a home folder of its own."""
    if os.geteuid():
        return os.geteuid(), str(Path.home())
    # Another worker has another user: the kernel counts the processes of each, and some tests run up to the limit.
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for uid in range(61_900 + 10 * worker, 62_900):
        try:
            pwd.getpwuid(uid)
        except KeyError:
            break
    home = Path("/var/tmp") / f"assay-test-home-{uid}-{os.getpid()}"
    home.mkdir(exist_ok=True)
    os.chown(home, uid, uid)
    return uid, str(home)


@functools.cache
def interpreter_for_all():
    """A Python of this minor version that every user may start; root's own may lie in root's home folder."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    found = [
        getattr(sys, "_base_executable", sys.executable),
        f"/usr/bin/python{version}",
        f"/usr/local/bin/python{version}",
    ]
    uid, _ = ordinary_user()
    for path in found:
        path = os.path.realpath(path)
        command = [path, "-I", "-c", "import sys; print(*sys.version_info[:2], sep='.')"]
        if not os.geteuid():
            command = [sys.executable, "-c", _AS_USER, str(uid), *command]
        if Path(path).exists():
            done = subprocess.run(command, capture_output=True, text=True)
            if done.stdout.strip() == version:
                return path
    pytest.skip(f"no Python {version} that an unprivileged user may start")


def assay(*arguments, ordinary=False, contained=False, covered=False, timeout=1800, program=("-m", "assay.cli.main")):
    """Run the command line, or another program of this Python; return the finished process."""
    program = [*program, *map(str, arguments)]
    if contained:
        program = ["-c", CONTAINED, *program]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SRC)}
    folder = None
    if ordinary:
        uid, home = ordinary_user()
        environment.update(PYTHONPATH=f"{SRC}:{_site()}", HOME=home)
        command = [interpreter_for_all(), *program]
        folder = home
        if not os.geteuid():
            command = [sys.executable, "-c", COVERED if covered else _AS_USER, str(uid), *command]
    else:
        command = [sys.executable, *program]
        environment["HOME"] = str(Path.home())
        if covered:
            command = [sys.executable, "-c", COVERED, *command]
    if covered and os.geteuid():
        pytest.skip("only root can cover what lies in /proc")
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=timeout)


def _site():
    import msgspec

    return Path(msgspec.__file__).parent.parent


def pytest_sessionfinish():
    if ordinary_user.cache_info().currsize and not os.geteuid():
        shutil.rmtree(ordinary_user()[1], ignore_errors=True)


def pytest_collection_modifyitems(items):
    if sys.platform != "linux":
        for item in items:
            if Path(__file__).parent in item.path.parents and "elsewhere" not in item.name:
                item.add_marker(pytest.mark.skip(reason="snippets run on Linux only"))


@pytest.fixture(scope="session")
def data():
    """The folder of cases and programs."""
    return DATA


@pytest.fixture(scope="session")
def command():
    """`assay` on the command line: command(*arguments, ordinary=False, contained=False, program=...)."""
    return assay


@pytest.fixture(scope="session")
def everybodys():
    """everybodys() -> path of a Python that every user may start."""
    return interpreter_for_all


@pytest.fixture(scope="session")
def settings():
    """Default settings without the sampled second run."""
    return Executions(repeat_check_fraction=0)


@pytest.fixture(scope="session")
def executor(settings):
    """A warm executor with two workers."""
    with Executor(settings, workers=2) as executor:
        yield executor


@pytest.fixture(scope="session")
def fresh(settings):
    """An executor that starts a new interpreter per snippet."""
    with Executor(settings.model_copy(update={"backend": "fresh"}), workers=1) as executor:
        yield executor


@pytest.fixture(scope="session")
def run(executor):
    """Run one snippet; return its last record."""
    from assay.sandbox.records import Limits, Request

    def run(code, variables=(None,), **limits):
        request = Request(code, variables, Limits(**limits) if limits else None)
        return executor.execute([request])[0].final

    return run


@pytest.fixture(scope="session")
def busy():
    """Keep processors busy: with busy(count)."""
    return busy_processes


@pytest.fixture(scope="session")
def contained_program():
    """Text of a program that refuses namespaces from then on and starts the interpreter with its arguments."""
    return CONTAINED
