"""What the caller's shell, scheduler or machine leaves to its children decides no result, or the record says so."""

import resource
import signal
import subprocess
import sys

import msgspec
import pytest

from assay.errors import SandboxError
from assay.model.store import RowStore
from assay.sandbox import memory, worker
from assay.sandbox.executor import Executor
from assay.sandbox.guarantees import CLOSED
from assay.sandbox.records import Limits, Request
from assay.steps.executing import StoredExecutor

DIGESTS = """
import sys
from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request
codes = [open(path).read() for path in sys.argv[2:]]
settings = Executions(repeat_check_fraction=0, backend=sys.argv[1])
with Executor(settings, workers=1) as executor:
    print(*[result.final.payload_sha256 for result in executor.execute([Request(code) for code in codes])])
"""
SIGNALS = """
import os, signal
print([s for s in signal.valid_signals() if signal.getsignal(s) not in (signal.SIG_DFL, None)], flush=True)
os.kill(os.getpid(), signal.SIGHUP)
"""
DEEP = """
import sys
sys.setrecursionlimit(10**6)
class A:
    def __init__(self, x): self.x = x
    def __repr__(self): return repr(self.x)
a = 1
for _ in range(20000): a = A(a)
print(len(repr(a)))
"""


def ignored():
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)


def large_stack():
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (hard, hard))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


@pytest.mark.parametrize("backend", ["warm", "fresh"])
def test_neither_nohup_nor_a_soft_limit_shows_in_a_payload(tmp_path, backend):
    if 0 <= resource.getrlimit(resource.RLIMIT_STACK)[1] < 64 << 20:
        pytest.skip("the stack cannot be raised here")
    paths = []
    for name, code in (("signals.py", SIGNALS), ("deep.py", DEEP)):
        paths.append(tmp_path / name)
        paths[-1].write_text(code)
    command = [sys.executable, "-c", DIGESTS, backend, *map(str, paths)]
    seen = {subprocess.check_output(command, preexec_fn=change) for change in (None, ignored, large_stack, small_files)}
    assert len(seen) == 1


NO_STREAMS = """
import os, sys
from pathlib import Path
from assay.config.executions import Executions
from assay.sandbox.executor import Executor
from assay.sandbox.records import Request
for number in (0, 1, 2):
    os.close(number)
with Executor(Executions(repeat_check_fraction=0), workers=1) as executor:
    record = executor.execute([Request("import os\\nprint(sorted(os.listdir('/proc/self/fd')))")])[0].final
Path(sys.argv[1]).write_bytes(record.stdout)
"""


def test_closed_standard_streams_of_the_caller_close_none_of_a_snippet(tmp_path):
    subprocess.run([sys.executable, "-c", NO_STREAMS, tmp_path / "seen"], check=True)
    assert (tmp_path / "seen").read_text() == "['0', '1', '2', '3']\n"


def with_hard(monkeypatch, **limits):
    found = {getattr(resource, f"RLIMIT_{name}"): value for name, value in limits.items()}
    monkeypatch.setattr(resource, "getrlimit", lambda number: (found.get(number, -1),) * 2)


@pytest.mark.parametrize(
    ("hard", "lower"),
    [
        ({}, {}),
        ({"NOFILE": 1 << 20, "CPU": 3600, "AS": 1 << 40}, {}),
        ({"CPU": 10}, {"time_s": 9.0}),
        ({"CPU": 1}, {"time_s": 1.0}),
        ({"NOFILE": 64}, {"open_files": 64}),
        ({"NPROC": 5}, {"processes": 5}),
        ({"FSIZE": 8 << 20}, {"disk_mb": 8}),
        ({"AS": 600 << 20}, {"memory_mb": 500}),
        ({"AS": 600 << 20, "DATA": 400 << 20}, {"memory_mb": 300}),
    ],
)
def test_no_limit_is_above_the_hard_one(monkeypatch, hard, lower):
    with_hard(monkeypatch, **hard)
    wanted = Limits()
    kept = memory.kept(wanted, 100 << 20)
    assert kept == msgspec.structs.replace(wanted, **lower)


def test_the_record_holds_the_limits_that_were_kept(command, tmp_path):
    snippet = tmp_path / "snippet.py"
    snippet.write_text("files = [open('/dev/null') for _ in range(100)]")
    program = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (80, 80))\n"
        "sys.argv = ['assay', 'sandbox', 'run', sys.argv[1]]\n"
        "runpy.run_module('assay.cli.main', run_name='__main__')\n"
    )
    done = command(snippet, program=("-c", program))
    assert done.returncode == 0, done.stderr
    assert '"open_files": 80' in done.stdout
    assert '"kind": "error"' in done.stdout


@pytest.fixture
def stored(tmp_path):
    """Make an executor with stored rows in one folder: stored(settings) -> (executor, facts)."""
    opened = []

    def make(settings):
        facts = {}
        opened.append(RowStore(tmp_path, job="x"))
        opened.append(StoredExecutor(settings, opened[-1], facts))
        return opened[-1], facts["executions"]

    yield make
    for one in reversed(opened):
        one.__exit__(None, None, None)


def test_lowered_limits_are_no_rows_of_a_recipe(stored, settings, monkeypatch):
    executor, _ = stored(settings)
    lower = Limits(open_files=64)
    monkeypatch.setattr(memory, "kept", lambda limits, size: lower)
    with pytest.raises(SandboxError, match=r"64 of 256.*limits\.open_files|limits\.open_files.*64 of 256"):
        executor.execute([Request("print(1)")])
    monkeypatch.undo()
    again, facts = stored(settings)
    again.execute([Request("print(1)")])
    assert (facts["stored"], facts["made"]) == (0, 1)


def test_rows_of_an_open_world_are_no_rows_of_a_closed_one(stored, settings):
    prefer = settings.model_copy(update={"isolation": "prefer"})
    first, _ = stored(prefer)
    first._world = "open"
    first.execute([Request("print(1)")])
    second, facts = stored(prefer)
    second.execute([Request("print(1)")])
    assert second._world == "closed"
    assert facts["stored"] == 0
    assert set(CLOSED) <= set(settings.isolation_required)


def test_the_report_of_a_run_counts_doubtful_executions(stored, settings):
    executor, facts = stored(settings.model_copy(update={"repeat_check_fraction": 1.0}))
    # From 1.6 s on it is near its limit, and never so near that the machine decides.
    late = "import time\nwhile time.process_time() < 1.65: pass"
    varying = "import os\nprint(os.urandom(8))"
    executor.execute([Request(varying), Request("print(1)"), Request(late, limits=Limits(time_s=2))])
    assert (facts["nondeterministic"], facts["near_limit"]) == (1, 1)


def test_a_snippet_that_the_kernel_ended_for_want_of_memory_is_run_again(settings, monkeypatch):
    counts = [0, 1]  # when the server starts; after the first end
    monkeypatch.setattr(worker.memory, "oom_kills", lambda: counts.pop(0) if len(counts) > 1 else counts[0])
    with Executor(settings, workers=1) as executor:
        record = executor.execute([Request("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")])[0].final
    assert (record.payload.kind, record.payload.signal, record.envelope.attempt) == ("killed", 9, 2)


def test_a_machine_without_memory_ends_the_run(settings, monkeypatch):
    counts = iter(range(100))
    monkeypatch.setattr(worker.memory, "oom_kills", lambda: next(counts))
    with Executor(settings, workers=1) as executor, pytest.raises(SandboxError, match="no memory left"):
        executor.execute([Request("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")])


def test_the_count_of_memory_kills_can_be_read():
    assert memory.oom_kills() >= 0
