"""Turns the raw outcome of an execution into a record: which kind it is, and what of it is reproducible."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from assay.sandbox import records
from assay.sandbox.guarantees import Probe
from assay.sandbox.records import Captured, Envelope, Kind, Limits, Payload, Record
from assay.sandbox.running import Outcome

MEMORY_MARK = 64  # as in inside/snippet.py
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
    if _effective_ns(outcome) > limit_ns:
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


@dataclass(frozen=True)
class Circumstances:
    """What was asked for, and where it ran: all of a record that does not come from the execution itself.

    Attributes
    ----------
    mode : str
        "script", or "print-variable NAME".
    paths : dict
        Path of this worker -> the constant path that it stands for, longest first; empty in a mount namespace.
    """

    code_sha256: str
    mode: str
    limits: Limits
    runtime_id: str
    probe: Probe
    backend: str
    worker: int
    attempt: int
    paths: dict[str, str]


def record(outcome: Outcome, at: Circumstances) -> Record:
    """Return the record of one execution."""
    kind, reason = kind_of(outcome, at.limits, fresh=at.backend == "fresh")
    # Without a mount namespace the sandbox lies at a path per worker; inside it would have had the constant one.
    stdout = records.constant_paths(outcome.stdout[: at.limits.stdout_bytes], at.paths)
    stderr = records.constant_paths(outcome.stderr[: at.limits.stderr_bytes], at.paths)
    flooded = kind == "output_limit" and len(outcome.stdout) > at.limits.stdout_bytes
    keeps_output = kind not in _NOT_REPRODUCIBLE and (kind != "output_limit" or flooded)
    keeps_errors = keeps_output and kind != "output_limit"
    exit_code, number = _exit(outcome.status) if kind in ("ok", "error", "killed") else (None, None)
    payload = Payload(
        code_sha256=at.code_sha256,
        mode=at.mode,
        runtime_id=at.runtime_id,
        limits=at.limits,
        world=at.probe.world,
        kind=kind,
        exit_code=exit_code,
        signal=number,
        stdout=Captured.of(stdout) if keeps_output else None,
        stdout_truncated=flooded,
        stderr_norm=Captured.of(records.normalise_stderr(stderr)) if keeps_errors else None,
        stderr_truncated=False,
    )
    partial = {} if keeps_output else {"stdout": Captured.of(stdout)}
    if not keeps_errors:
        partial["stderr"] = Captured.of(stderr)
    raw = None if kind == "output_limit" else Captured.of(stderr)
    return Record(payload, _envelope(outcome, at, reason, records.address_like(stdout), raw, partial))


def _exit(status: int | None) -> tuple[int | None, int | None]:
    """Return (exit code, signal) of a wait status."""
    if status is None:
        return None, None
    return (os.WEXITSTATUS(status), None) if os.WIFEXITED(status) else (None, os.WTERMSIG(status))


def _envelope(
    outcome: Outcome,
    at: Circumstances,
    reason: str | None,
    address_like: bool,
    stderr: Captured | None,
    partial: dict[str, Captured],
) -> Envelope:
    """Return what belongs to this one execution on this machine."""
    used = _effective_ns(outcome) / 1e9
    return Envelope(
        backend=at.backend,
        mechanism=at.probe.mechanism,
        guarantees=at.probe.held,
        kernel=at.probe.kernel,
        landlock_abi=at.probe.landlock_abi,
        worker=at.worker,
        attempt=at.attempt,
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        wall_s=outcome.wall_ns / 1e9,
        cpu_s=outcome.cpu_ns / 1e9,
        queue_s=max(outcome.queue_ns, 0) / 1e9,
        peak_memory_mb=outcome.peak_memory / (1 << 20),
        peak_processes=outcome.peak_processes,
        survivors=outcome.survivors,
        timing="exact" if outcome.exact else "degraded",
        near_limit=_NEAR[0] * at.limits.time_s <= used <= _NEAR[1] * at.limits.time_s,
        address_like=address_like,
        reason=reason,
        stderr=stderr,
        partial=partial,
    )


def _effective_ns(outcome: Outcome) -> int:
    """Return the processor time, or the wall time not spent waiting for a processor, whichever is longer."""
    return max(outcome.cpu_ns, outcome.wall_ns - max(outcome.queue_ns, 0))


def lost(message: str, at: Circumstances) -> Record:
    """Return the record of an execution whose server failed: ours, never a label."""
    nothing = Outcome(b"", b"", None, "starved", 0, 0, 0, True, 0, 0, -1)
    made = record(nothing, at)
    return Record(made.payload, msgspec.structs.replace(made.envelope, reason=message))
