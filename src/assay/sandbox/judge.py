"""Turns the raw outcome of an execution into a record: which kind it is, and what of it is reproducible."""

import os
import re
import signal
from datetime import UTC, datetime

import msgspec

from assay.sandbox import records
from assay.sandbox.guarantees import Probe
from assay.sandbox.records import Captured, Envelope, Kind, Limits, Payload, Record
from assay.sandbox.worker import Outcome

MEMORY_MARK = 64  # as in inside/server.py
_MEMORY_ERROR = re.compile(rb"^(?:[\w.]*\.)?\w*MemoryError(?::|$)")
_NEAR = (0.8, 1.25)
_NOT_REPRODUCIBLE = ("timeout", "memory", "infra_error")


def kind_of(outcome: Outcome, limits: Limits, *, fresh: bool) -> tuple[Kind, str | None]:
    """Return the kind and, for our own faults, the reason."""
    if outcome.stop == "starved":
        return "infra_error", "starved"
    if outcome.stop == "cancelled":
        return "infra_error", "cancelled"
    if outcome.stop == "tree":
        return "memory", "tree"
    limit_ns = limits.time_s * 1e9
    if outcome.stop == "time":
        return "timeout", None
    if len(outcome.stdout) > limits.stdout_bytes or len(outcome.stderr) > limits.stderr_bytes:
        return "output_limit", None
    assert outcome.status is not None
    if outcome.cpu_ns > limit_ns or outcome.wall_ns - max(outcome.queue_ns, 0) > limit_ns:
        return "timeout", None  # it ended by itself between two looks, but too late
    if os.WIFSIGNALED(outcome.status):
        return ("memory", None) if os.WTERMSIG(outcome.status) == MEMORY_MARK else ("killed", None)
    if os.WEXITSTATUS(outcome.status) == 0:
        return "ok", None
    if fresh and os.WEXITSTATUS(outcome.status) == 1:
        last = outcome.stderr.rstrip().rpartition(b"\n")[2]
        if _MEMORY_ERROR.match(last):  # a real interpreter leaves no other trace of it
            return "memory", None
    return "error", None


def record(
    outcome: Outcome,
    *,
    code_sha256: str,
    mode: str,
    limits: Limits,
    runtime_id: str,
    probe: Probe,
    backend: str,
    worker: int,
    attempt: int,
    paths: dict[str, str],
) -> Record:
    """Return the record of one execution."""
    kind, reason = kind_of(outcome, limits, fresh=backend == "fresh")
    exit_code, number = None, None
    if outcome.status is not None and kind in ("ok", "error", "killed"):
        if os.WIFEXITED(outcome.status):
            exit_code = os.WEXITSTATUS(outcome.status)
        else:
            number = os.WTERMSIG(outcome.status)
    # Without a mount namespace the sandbox lies at a path per worker; inside it would have had the constant one.
    stdout = records.constant_paths(outcome.stdout[: limits.stdout_bytes], paths)
    stderr = outcome.stderr[: limits.stderr_bytes]
    kept_out: Captured | None = Captured.of(stdout)
    kept_err: Captured | None = Captured.of(records.normalise_stderr(stderr, paths))
    partial: dict[str, Captured] = {}
    flooded = len(outcome.stdout) > limits.stdout_bytes
    if kind in _NOT_REPRODUCIBLE or (kind == "output_limit" and not flooded):
        partial["stdout"] = Captured.of(stdout)
        kept_out = None
    if kind in _NOT_REPRODUCIBLE or kind == "output_limit":
        partial["stderr"] = Captured.of(stderr)
        kept_err = None
    payload = Payload(
        code_sha256=code_sha256,
        mode=mode,
        runtime_id=runtime_id,
        limits=limits,
        world=probe.world,
        kind=kind,
        exit_code=exit_code,
        signal=number,
        stdout=kept_out,
        stdout_truncated=flooded and kept_out is not None,
        stderr_norm=kept_err,
        stderr_truncated=False,
    )
    used = max(outcome.cpu_ns, outcome.wall_ns - max(outcome.queue_ns, 0)) / 1e9
    envelope = Envelope(
        backend=backend,
        mechanism=probe.mechanism,
        guarantees=probe.held,
        kernel=probe.kernel,
        landlock_abi=probe.landlock_abi,
        worker=worker,
        attempt=attempt,
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        wall_s=outcome.wall_ns / 1e9,
        cpu_s=outcome.cpu_ns / 1e9,
        queue_s=max(outcome.queue_ns, 0) / 1e9,
        peak_memory_mb=outcome.peak_memory / (1 << 20),
        peak_processes=outcome.peak_processes,
        survivors=outcome.survivors,
        timing="exact" if outcome.exact else "degraded",
        near_limit=_NEAR[0] * limits.time_s <= used <= _NEAR[1] * limits.time_s,
        address_like=records.address_like(stdout),
        reason=reason,
        stderr=None if kind == "output_limit" else Captured.of(stderr),
        partial=partial,
    )
    return Record(payload, envelope)


def lost(
    message: str,
    *,
    code_sha256: str,
    mode: str,
    limits: Limits,
    runtime_id: str,
    probe: Probe,
    backend: str,
    worker: int,
    attempt: int,
) -> Record:
    """Return the record of an execution whose server failed: ours, never a label."""
    nothing = Outcome(b"", b"", None, "starved", 0, 0, 0, True, 0, 0, -1)
    made = record(
        nothing,
        code_sha256=code_sha256,
        mode=mode,
        limits=limits,
        runtime_id=runtime_id,
        probe=probe,
        backend=backend,
        worker=worker,
        attempt=attempt,
        paths={},
    )
    return Record(made.payload, msgspec.structs.replace(made.envelope, reason=message))


def signal_name(number: int) -> str:
    """Return the name of a signal for people."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
