"""Runs hostile cases through the executor, and checks both what they answer and what they must not do."""

import os
import secrets
import threading
import time

import msgspec

from assay.config.executions import Executions
from assay.errors import SandboxError
from assay.records.conformance import Case
from assay.sandbox import bait, watch, world
from assay.sandbox.executor import Executor
from assay.sandbox.records import Limits, Record, Request

_MIB = 1 << 20
_LEAK_TEST = """
import builtins, json, math, os, random, sys
def shared():
    try:
        return os.listdir('/dev/shm')
    except OSError as error:
        return error.errno
print(math.pi, json.dumps([1]), print is builtins.print, sorted(os.listdir('.')), shared(),
      len(os.listdir(os.environ['TMPDIR'])), sys.getrecursionlimit(), random.random() == random.random())
"""
_PING = "print(1)"
_SIBLING = "import time\ntime.sleep(0.2)\nprint('alive')\n"


class CaseLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Limits of a case, in its file's words."""

    wall_s: float
    cpu_s: float
    memory_mb: int
    stdout_bytes: int
    stderr_bytes: int
    disk_mb: int
    processes: int
    open_files: int


class Text(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What an output must be."""

    equals: str | None = None
    equals_hex: str | None = None
    contains: str | None = None
    startswith: str | None = None
    not_contains: str | None = None

    def wrong(self, data: bytes) -> str | None:
        """Return what is wrong with an output, None if nothing is."""
        tests: list[tuple[str | None, bool]] = [
            (self.equals, self.equals is not None and data == self.equals.encode()),
            (self.equals_hex, self.equals_hex is not None and data.hex() == self.equals_hex),
            (self.contains, self.contains is not None and self.contains.encode() in data),
            (self.startswith, self.startswith is not None and data.startswith(self.startswith.encode())),
            (self.not_contains, self.not_contains is not None and self.not_contains.encode() not in data),
        ]
        return next((text for text, right in tests if text is not None and not right), None)


class Expect(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a case must answer."""

    kind: tuple[str, ...]
    exit_code: int | None = None
    signal: int | None = None
    stdout: Text | None = None
    stderr: Text | None = None
    max_wall_s: float | None = None
    byte_identical_over: int = 1


class Followup(msgspec.Struct, frozen=True):
    """A second snippet on the same worker."""

    code: str
    expect: Expect


class Hostile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of a file of hostile cases."""

    id: str
    category: str
    title: str
    code: str
    limits: CaseLimits
    expect: Expect
    must_not: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()
    followup: Followup | None = None
    note: str = ""


class Drill:
    """Runs cases; holds one executor for them, one for their siblings, and one of the other backend."""

    def __init__(self, laid: bait.Bait, limit_s: float | None = None) -> None:
        self.laid = laid
        self.limit_s = limit_s
        every = Executions(isolation="prefer", repeat_check_fraction=0.0)
        self.executor = Executor(every, workers=1)
        self.sibling = Executor(every, workers=1)
        self._fresh_settings = every.model_copy(update={"backend": "fresh"})
        self._other: Executor | None = None
        slot = self.executor._mechanism.slot()
        try:
            plan = self.executor._mechanism.plan((), slot)
        finally:
            if slot is not None:
                slot.close()
        self.users = {plan.uid} - {os.geteuid()}
        self.marks = (f"{plan.box}/work", world.SCRIPT)

    def __enter__(self) -> "Drill":
        for executor in (self.executor, self.sibling):
            executor.__enter__()
            executor.execute([Request(_PING)])
        self.state = self._state()
        return self

    def __exit__(self, *_: object) -> None:
        for executor in (self.executor, self.sibling, self._other):
            if executor is not None:
                executor.__exit__(None, None, None)

    @property
    def other(self) -> Executor:
        """An executor of the fresh backend, started when first needed."""
        if self._other is None:
            self._other = Executor(self._fresh_settings, workers=1).__enter__()
        return self._other

    def case(self, row: Hostile) -> Case:
        """Run one case."""
        absent = [name for name in row.needs if name not in self.executor.probe.held]
        if absent:
            return Case(row.id, "skipped", why=f"{row.title}: this machine does not give {', '.join(absent)}")
        unknown = [name for name in row.modules if not self._importable(name)]
        if unknown:
            return Case(row.id, "skipped", why=f"{row.title}: {', '.join(unknown)} cannot be imported in the sandbox")
        wrong = self._wrong(row)
        if wrong and all(text.startswith("host_disk: free space") for text in wrong):
            wrong = self._wrong(row)  # somebody else may have written meanwhile
        if wrong:
            return Case(row.id, "failed", str(msgspec.to_builtins(row.expect)), "; ".join(wrong), row.title)
        return Case(row.id, "passed", why=row.title)

    def _state(self) -> bytes:
        """Return what a snippet finds of the state that an earlier one could have changed."""
        record = self.executor.execute([Request(_LEAK_TEST)])[0].final
        return record.stdout if record.payload.kind == "ok" else f"{record.payload.kind} {record.stderr!r}".encode()

    def _importable(self, name: str) -> bool:
        return self.executor.execute([Request(f"import {name}")])[0].final.payload.kind == "ok"

    def _limits(self, row: Hostile) -> Limits:
        given = row.limits
        return Limits(
            time_s=self.limit_s or min(given.wall_s, given.cpu_s),
            memory_mb=given.memory_mb,
            tree_memory_mb=2 * given.memory_mb,
            processes=given.processes,
            open_files=given.open_files,
            disk_mb=given.disk_mb,
            stdout_bytes=given.stdout_bytes,
            stderr_bytes=given.stderr_bytes,
        )

    def _wrong(self, row: Hostile) -> list[str]:
        """Run a case and return everything that is wrong."""
        tag = f"assay-tag-{secrets.token_hex(8)}"
        marker = self.laid.home / f".assay-marker-{secrets.token_hex(8)}"
        request = Request(self.laid.fill(row.code, tag, marker), limits=self._limits(row))
        self.laid.contacted()
        before = set(bait.processes())
        servers = set(self._server_ids())
        sibling = _Sibling(self.sibling)
        with bait.Load() as load, bait.Gauge() as gauge:
            begun = time.monotonic()
            sibling.start()
            try:
                records = [result.final for result in self.executor.execute([request] * row.expect.byte_identical_over)]
            except SandboxError as error:
                return [f"evaluator_died: {error}"]
            elapsed = (time.monotonic() - begun) / row.expect.byte_identical_over
            sibling.join()
        # Where others keep the machine busy: the time that counts for the limit, which load does not change.
        spent = elapsed if load.idle else max(_counted_s(record) for record in records)
        wrong = self._answers(row.expect, records, spent)
        if row.expect.byte_identical_over > 1:
            wrong += self._identical(records, self.other.execute([request])[0].final)
        if row.followup is not None:
            after = self.executor.execute([Request(self.laid.fill(row.followup.code, tag, marker))])[0].final
            wrong += [f"followup: {text}" for text in self._answers(row.followup.expect, [after], 0.0)]
        checks = set(row.must_not)
        if "orphan" in checks:
            known = before | set(self._server_ids())
            grace_s = 0.5 if load.idle else 5.0  # what ends is reaped later on a busy machine
            wrong += [f"orphan: {left}" for left in bait.wait_for_nothing(known, tag, self.users, self.marks, grace_s)]
        if "secret" in checks and any(self.laid.canary.encode() in r.stdout + r.stderr for r in records):
            wrong.append("secret: the canary was printed")
        if "network" in checks and (reached := self.laid.contacted()):
            wrong.append(f"network: {', '.join(reached)}")
        if checks & {"evaluator_unresponsive", "sibling_died"} and (text := sibling.wrong(idle=load.idle)):
            wrong.append(text)
        if "evaluator_died" in checks and servers != set(self._server_ids()):
            wrong.append("evaluator_died: the server was replaced")
        if (
            "evaluator_memory" in checks
            and gauge.growth > 32 * _MIB + row.limits.stdout_bytes + row.limits.stderr_bytes
        ):
            wrong.append(f"evaluator_memory: grew by {gauge.growth // _MIB} MiB")
        # Between two looks it grows on; where others keep the machine busy, looks come late.
        tree_cap = (1.25 if load.idle else 2.0) * 2 * row.limits.memory_mb
        if "tree_memory" in checks and (peak := max(r.envelope.peak_memory_mb for r in records)) > tree_cap:
            wrong.append(f"tree_memory: {peak:.0f} MiB at once")
        if "host_disk" in checks:
            if gauge.fallen > 1.5 * row.limits.disk_mb * _MIB:
                wrong.append(f"host_disk: free space fell by {gauge.fallen // _MIB} MiB")
            wrong += [f"host_disk: {name} stayed" for name in gauge.left(self.users)]
        if "state_leak" in checks:
            state = self._state()
            wrong += [f"state_leak: {state!r} instead of {self.state!r}"] if state != self.state else []
        if "marker" in checks:
            time.sleep(3)
            if marker.exists():
                marker.unlink()
                wrong.append("marker: the file appeared in the home folder")
        return wrong

    def _server_ids(self) -> list[int]:
        """Return the processes of servers, and none that a snippet left below them."""
        launchers = watch.children(os.getpid())
        if self.executor.probe.mechanism != "namespaces":
            return launchers  # each has become the server itself
        return launchers + [server for launcher in launchers for server in watch.children(launcher)]

    def _answers(self, expect: Expect, records: list[Record], spent: float) -> list[str]:
        wrong = []
        for record in records:
            payload = record.payload
            if payload.kind not in expect.kind:
                wrong.append(f"kind {payload.kind} ({record.envelope.reason or ''}{record.stderr[-200:]!r})")
            if expect.exit_code is not None and payload.exit_code != expect.exit_code:
                wrong.append(f"exit code {payload.exit_code}")
            if expect.signal is not None and payload.signal != expect.signal:
                wrong.append(f"signal {payload.signal}")
            if expect.stdout is not None and expect.stdout.wrong(record.stdout) is not None:
                wrong.append(f"stdout {record.stdout[:200]!r}")
            if expect.stderr is not None and expect.stderr.wrong(record.stderr) is not None:
                wrong.append(f"stderr {record.stderr[-200:]!r}")
            if payload.kind == "output_limit" and payload.stdout is not None:
                cap = payload.limits.stdout_bytes
                wrong += [f"{len(record.stdout)} bytes kept of {cap}"] if len(record.stdout) != cap else []
        if expect.max_wall_s is not None and spent > expect.max_wall_s:
            wrong.append(f"took {spent:.1f} s of at most {expect.max_wall_s} s")
        return wrong

    def _identical(self, records: list[Record], other: Record) -> list[str]:
        wrong = []
        first = records[0]
        if any((r.payload, r.stdout, r.stderr) != (first.payload, first.stdout, first.stderr) for r in records):
            wrong.append("repeats differ")
        if not first.envelope.address_like and other.payload != first.payload:
            wrong.append(f"the fresh backend differs: {other.stdout[-200:]!r} {other.stderr[-200:]!r}")
        return wrong


class _Sibling:
    """Runs innocent snippets on another worker while a case runs."""

    def __init__(self, executor: Executor) -> None:
        self.executor = executor
        self._records: list[Record] = []
        self._took_s = 0.0
        self._error = ""
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def join(self) -> None:
        self._thread.join()

    def _run(self) -> None:
        begun = time.monotonic()
        try:
            self._records = [r.final for r in self.executor.execute([Request(_SIBLING), Request(_PING)])]
        except SandboxError as error:
            self._error = str(error)
        self._took_s = time.monotonic() - begun

    def wrong(self, *, idle: bool) -> str:
        """Return what went wrong, if anything."""
        if self._error or [r.stdout for r in self._records] != [b"alive\n", b"1\n"]:
            return f"sibling_died: {self._error or [r.payload.kind for r in self._records]}"
        took = self._took_s if idle else sum(_counted_s(record) for record in self._records)
        return "evaluator_unresponsive: a print took more than 5 s elsewhere" if took > 0.2 + 5 else ""


def _counted_s(record: Record) -> float:
    """Return the time that counted for the limit of an execution."""
    envelope = record.envelope
    return max(envelope.cpu_s, envelope.wall_s - envelope.queue_s)
