"""What Landlock leaves open to processes of the same user, and the filter closes: sockets, modes, limits, segments."""

import json
import os
import subprocess
import sys

import pytest

from assay.sandbox.launching import LAUNCHER

# Runs as the user of the test, with a socket, a file and a segment of System V memory that a snippet could reach.
PROGRAM = """
import ctypes, json, os, socket
from pathlib import Path
from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

folder = Path.home() / f"victim-{os.getpid()}"
folder.mkdir()
folder.chmod(0o777)
stream, datagram, file = (str(folder / name) for name in ("stream", "datagram", "file"))
listener, receiver = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.bind(stream)
listener.listen()
receiver.bind(datagram)
Path(file).write_text("x")
for path in (stream, datagram, file):
    os.chmod(path, 0o777)
libc = ctypes.CDLL(None)
segment = libc.shmget(0, 4096, 0o1666)
known = f"pid, segment, stream, datagram, file = {(os.getpid(), segment, stream, datagram, file)}\\n"
try:
    with Executor(Executions(isolation="prefer", repeat_check_fraction=0), workers=1) as executor:
        record = executor.execute([Request(known + SNIPPET)])[0].final
    print(json.dumps([executor.probe.mechanism, record.stdout.decode(), record.stderr.decode()]))
finally:
    libc.shmctl(segment, 0, None)
    for path in (stream, datagram, file):
        os.unlink(path)
    folder.rmdir()
"""
SNIPPET = """
import ctypes, os, resource, socket
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_long

def send(kind):
    socket.socketpair(socket.AF_UNIX, kind)[0].sendto(b"x", datagram)

reach = {
    "stream": lambda: socket.socket(socket.AF_UNIX).connect(stream),
    "datagram": lambda: send(socket.SOCK_DGRAM),
    "raw": lambda: send(socket.SOCK_RAW),
    "mode": lambda: os.chmod(file, 0o600),
    "time": lambda: os.utime(file, (1, 1)),
    "limits": lambda: resource.prlimit(pid, resource.RLIMIT_CORE),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19),
    "policy": lambda: os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0)),
    "processors": lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)),
    "segment": lambda: 1 / (libc.shmat(segment, None, 0) + 1),
    "semaphore": lambda: 1 / (libc.semget(0, 1, 0o1600) + 1),
    "attribute": lambda: os.setxattr(file, "user.x", b"1"),
}
for name, function in reach.items():
    try:
        function()
        print(name)
    except (OSError, ZeroDivisionError):
        pass
a, b = socket.socketpair()
a.send(b"a pair works")
print(b.recv(100).decode())
"""

# The self-tests under the filter of a snippet that has namespaces.
WEAKER = """
import json
from assay.config.executions import Executions
from assay.sandbox import mechanism, seccomp

whole = seccomp.snippet_filter
seccomp.snippet_filter = lambda **_: whole()
print(json.dumps(sorted(mechanism.probe(Executions(isolation="prefer")).missing)))
"""

# As on a kernel before 6.2, whose Landlock leaves the length of files open. The victim is readable and not writable:
# a file of the Python that lies in the snippet's own folder, beside the links to the host's.
OLD_LANDLOCK = """
import json, os, shutil, sys, tempfile
from pathlib import Path
from assay.config.executions import Executions
from assay.sandbox import mechanism, plans
from assay.sandbox.executor import Executor
from assay.sandbox.inside import linux
from assay.sandbox.records import Request

with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    programs = Path(folder, "inside")
    shutil.copytree(plans.PROGRAMS["main.py"].parent, programs)
    with open(programs / "linux.py", "a") as file:
        file.write("\\nnewest = landlock_abi\\n\\ndef landlock_abi():\\n    return min(2, newest())\\n")
    plans.PROGRAMS["main.py"] = programs / "server.py"
    linux.landlock_abi = lambda: 2
    farm = plans._farm

    def with_victim(python, *arguments):
        found = farm(python, *arguments)
        Path(python, "victim").write_text("whole")
        os.chmod(python / "victim", 0o666)
        return found

    plans._farm = with_victim
    with Executor(Executions(isolation="prefer", repeat_check_fraction=0), workers=1) as executor:
        record = executor.execute([Request(SNIPPET)])[0].final
    print(json.dumps([executor.probe.landlock_abi, "write_confined" in executor.probe.held, record.stdout.decode()]))
"""
CUTS = """
import os, sys
victim = os.path.join(sys.base_prefix, "victim")
for cut in (
    lambda: os.truncate(victim, 1),
    lambda: os.close(os.open(victim, os.O_RDONLY | os.O_TRUNC)),
    lambda: os.close(os.open(victim, os.O_ACCMODE | os.O_TRUNC)),
):
    try:
        cut()
    except OSError:
        pass
    print(os.stat(victim).st_size)
with open("own", "w") as file:
    file.write("long")
with open("own", "r+") as file:
    file.truncate(1)
with open("own", "w") as file:
    pass
"""

users = pytest.mark.parametrize("ordinary", [True, False], ids=["unprivileged", "this user"])


@users
def test_nothing_of_the_same_user_is_reached(command, ordinary):
    program = f"SNIPPET = {SNIPPET!r}\n{PROGRAM}"
    done = command(program=("-c", program), ordinary=ordinary, contained=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["landlock", "a pair works\n", ""]


def test_the_self_tests_see_what_the_filter_closes(command):
    done = command(program=("-c", WEAKER), ordinary=True, contained=True)
    assert done.returncode == 0, done.stderr
    assert {"network_blocked", "write_confined"} <= set(json.loads(done.stdout))


@users
def test_no_file_is_cut_where_landlock_does_not_keep_its_length(command, ordinary):
    program = f"SNIPPET = {CUTS!r}\n{OLD_LANDLOCK}"
    done = command(program=("-c", program), ordinary=ordinary, contained=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [2, True, "5\n5\n5\n"]


@users
@pytest.mark.parametrize("name", ["d", "d" * 200], ids=["deep", "longer than a path"])
def test_no_nesting_of_folders_stops_a_run_or_stays(command, tmp_path, ordinary, name):
    levels = 3000 // len(name) + 50
    snippet, config = tmp_path / "snippet.py", tmp_path / "executions.yaml"
    program = f"import os\nfor _ in range({levels}):\n    os.mkdir({name!r})\n    os.chdir({name!r})\nprint(1)"
    snippet.write_text(program)
    config.write_text("isolation: prefer")
    for path in (snippet, config):
        path.chmod(0o644)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(folder.stat().st_mode | 0o055)
    done = command("sandbox", "run", snippet, "--config", config, ordinary=ordinary, contained=True)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["payload"]["stdout"]["text"], record["envelope"]["attempt"]) == ("1\n", 1)


NARROW = """
import json, os, sys, tempfile
from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
    os.chmod(folder, int(sys.argv[2], 8))
    tempfile.tempdir = folder
    os.umask(0o077)
    settings = Executions(isolation="prefer", repeat_check_fraction=0, interpreter=sys.argv[1])
    with Executor(settings, workers=1) as executor:
        record = executor.execute([Request("import numpy\\nprint(1)")])[0].final
    print(json.dumps([sorted(executor.probe.missing), record.stdout.decode(), record.stderr.decode()]))
"""


@users
@pytest.mark.parametrize("mode", ["755", "700"], ids=["open folder", "closed folder"])
def test_neither_a_narrow_umask_nor_a_closed_temporary_folder_stops_a_snippet(command, everybodys, ordinary, mode):
    done = command(everybodys(), mode, program=("-c", NARROW), ordinary=ordinary, contained=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [["disk_capped"], "1\n", ""]


HOLDERS = """
import json, os
from assay.config.executions import Executions
from assay.sandbox import watch
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

def held(pid):
    return [os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")]

with Executor(Executions(isolation="prefer", repeat_check_fraction=0), workers=1) as executor:
    code = "import os\\nprint(sorted(os.listdir('/proc/self/fd')))"
    seen = executor.execute([Request(code)])[0].final.stdout.decode()
    (server,) = watch.descendants(os.getpid())
    print(json.dumps([seen, sum(path.endswith(".lock") for path in held(server))]))
"""


@users
def test_a_server_holds_the_lock_of_its_folder_and_its_snippets_do_not(command, ordinary):
    done = command(program=("-c", HOLDERS), ordinary=ordinary, contained=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == ["['0', '1', '2', '3']\n", 1]


SHARED = """
import os, sys, watcher
from types import SimpleNamespace

def may_use(search, *files, uid=60501):
    found = [("", SimpleNamespace(st_mode=mode, st_uid=user)) for user, mode in files]
    watcher.shared_files = lambda: found
    return watcher.shared_memory({"uid": uid, "ids": (60500, 61524), "search": search})

for search in (False, True):
    files = (), ((0, 0o100600),), ((1000, 0o100000),), ((0, 0o100604),), ((0, 0o100602),), ((60777, 0o100666),)
    print(*[int(may_use(search, *found)) for found in files])
print(may_use(False, uid=os.geteuid()))
"""


def test_shared_memory_is_used_while_nothing_there_can_be_opened_that_is_no_snippets():
    # Who may search all folders may read all files. What other snippets keep there must change no result.
    command = [sys.executable, "-c", SHARED]
    done = subprocess.run(command, env={"PYTHONPATH": str(LAUNCHER.parent)}, capture_output=True, text=True, timeout=60)
    assert done.stdout == "1 1 1 0 0 1\n1 0 0 0 0 1\nFalse\n", done.stderr


POOL = """
import json, os
from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request

code = "import multiprocessing\\nwith multiprocessing.Pool(2) as pool: print(pool.map(abs, [-1, 2]))"
with Executor(Executions(isolation="prefer", repeat_check_fraction=0), workers=1) as executor:
    for _ in range(10):
        before = os.listdir("/dev/shm")
        record = executor.execute([Request(code)])[0].final
        if record.stdout:
            break
    print(json.dumps([executor.probe.mechanism, record.stdout.decode(), before + os.listdir("/dev/shm")]))
"""


def test_a_snippet_of_root_has_semaphores(command):
    if os.geteuid():
        pytest.skip("another user's snippets have none")
    done = command(program=("-c", POOL), contained=True)
    assert done.returncode == 0, done.stderr
    mechanism, printed, kept = json.loads(done.stdout)
    if not printed and kept:
        pytest.skip("others keep files in shared memory")
    assert (mechanism, printed, kept) == ("landlock", "[1, 2]\n", kept)


# Process 3 was forked by one that others had continued: no scan showed it before the first were killed.
SWEEP = """
import watcher
seen = iter([{1, 2}, {1, 2}, {3}, {3}, set()])
told = []
watcher.descendants = lambda: next(seen)
watcher.ended = lambda pid, number: told.append((pid, number.name))
print(watcher.sweep(), [pid for pid, name in told if name == "SIGKILL"])
seen = (set(range(n + 1)) if n < 500 else set() for n in range(10**6))  # forks faster than it is scanned
print(watcher.sweep() > 0)
"""


MISSED = """
import os, signal, watcher
look, looks = watcher.descendants, []
watcher.descendants = lambda: looks.append(0) or (look() if len(looks) > 1 else set())  # the first look misses it
if os.fork() == 0:
    signal.pause()
print(watcher.sweep_and_reap())
"""


def test_what_a_look_missed_is_killed_too():
    command = [sys.executable, "-c", MISSED]
    done = subprocess.run(command, env={"PYTHONPATH": str(LAUNCHER.parent)}, capture_output=True, text=True, timeout=60)
    assert done.stdout == "1\n", done.stderr


def test_what_was_forked_while_others_were_killed_is_killed_too():
    command = [sys.executable, "-c", SWEEP]
    done = subprocess.run(command, env={"PYTHONPATH": str(LAUNCHER.parent)}, capture_output=True, text=True, timeout=60)
    assert done.stdout == "3 [1, 2, 3]\nTrue\n", done.stderr
