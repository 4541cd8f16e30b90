"""Suites `sandbox` (hostile cases) and `sandbox-fidelity` (programs that must behave as in a fresh interpreter)."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from assay.config.executions import Executions
from assay.records.conformance import Case
from assay.records.jsonl import read_rows
from assay.sandbox import bait
from assay.sandbox.drill import Drill, Hostile
from assay.sandbox.executor import Executor
from assay.sandbox.records import Limits, Record, Request, normalise_stderr


class Program(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of a file of programs."""

    id: str
    code: str
    modules: tuple[str, ...] = ()
    allowed_difference: str | None = None


def cases(files: Sequence[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Run hostile cases under the best isolation that this machine gives; never without any."""
    rows = [row for path in files for row in read_rows(path, Hostile)]
    with bait.laid() as laid:
        drill = Drill(laid, limit_s)
        if drill.executor.probe.mechanism == "plain":
            for row in rows:
                yield Case(row.id, "skipped", why="neither namespaces nor Landlock work here; it would be dangerous")
            return
        with drill:
            for row in rows:
                try:
                    yield drill.case(row)
                except Exception as error:  # noqa: BLE001 - an exception is a failed case, never a lost one
                    yield Case(row.id, "failed", "a verdict", repr(error), row.title)


def fidelity(files: Sequence[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Run programs under the warm and the fresh backend and compare output and exit."""
    rows = [row for path in files for row in read_rows(path, Program)]
    base = Executions(isolation="prefer", repeat_check_fraction=0.0)
    limits = Limits(time_s=limit_s) if limit_s else None
    answers: dict[str, list[Record]] = {}
    for backend in ("warm", "fresh"):
        with Executor(base.model_copy(update={"backend": backend})) as executor:
            results = executor.execute(Request(row.code, limits=limits) for row in rows)
            answers[backend] = [result.final for result in results]
            seen = {name for row in rows for name in row.modules}
            known = {n for n in seen if executor.execute([Request(f"import {n}")])[0].final.payload.kind == "ok"}
    for row, warm, fresh in zip(rows, answers["warm"], answers["fresh"], strict=True):
        absent = [name for name in row.modules if name not in known]
        if absent:
            yield Case(row.id, "skipped", why=f"{', '.join(absent)} cannot be imported in the sandbox")
            continue
        difference = compare(warm, fresh, row.allowed_difference)
        yield Case(
            row.id,
            "failed" if difference else "passed",
            str(_seen(fresh)),
            str(_seen(warm)),
            difference or row.allowed_difference or "",
        )


def _seen(record: Record) -> tuple[bytes, bytes, int | None, int | None, str]:
    payload = record.payload
    return record.stdout, record.stderr, payload.exit_code, payload.signal, payload.kind


def compare(warm: Record, fresh: Record, allowed: str | None) -> str | None:
    """Return what differs beyond what is allowed, None if nothing does."""
    if _seen(warm) == _seen(fresh):
        if allowed is None and warm.payload != fresh.payload:
            return "the payloads differ"
        return None
    if allowed is None:
        return "output or exit differ"
    if _seen(warm)[2:] != _seen(fresh)[2:]:
        return "the exit differs"
    for pattern, same in _ALLOWANCES:
        if matched := re.search(pattern, allowed):
            number = int(matched.group(1)) if matched.groups() else 0
            streams = ((warm.stdout, fresh.stdout), (warm.stderr, fresh.stderr))
            return None if all(same(a, b, number) for a, b in streams) else f"they differ by more than: {allowed}"
    return f"no rule for the allowed difference {allowed!r}"


def _addresses(first: bytes, second: bytes, _number: int) -> bool:
    return normalise_stderr(first) == normalise_stderr(second)


def _numbers(first: bytes, second: bytes, most: int) -> bool:
    a, b = (re.findall(rb"\d+", text) for text in (first, second))
    shape = re.sub(rb"\d+", b"", first) == re.sub(rb"\d+", b"", second)
    return shape and len(a) == len(b) and all(abs(int(x) - int(y)) <= most for x, y in zip(a, b, strict=True))


def _order(first: bytes, second: bytes, _number: int) -> bool:
    return sorted(re.findall(rb"\w+", first)) == sorted(re.findall(rb"\w+", second))


def _truths(first: bytes, second: bytes, _number: int) -> bool:
    return re.sub(rb"True|False", b"", first) == re.sub(rb"True|False", b"", second)


def _without_pwd(first: bytes, second: bytes, _number: int) -> bool:
    return first.replace(b"'PWD', ", b"") == second.replace(b"'PWD', ", b"")


def _anything(_first: bytes, _second: bytes, _number: int) -> bool:
    return True


_ALLOWANCES: tuple[tuple[str, Callable[[bytes, bytes, int], bool]], ...] = (
    (r"memory address", _addresses),
    (r"at most (\d+) (?:extra )?frames?", _numbers),
    (r"iteration order", _order),
    (r"preloaded modules", _truths),
    (r"PWD", _without_pwd),
    (r"host property", _anything),
)
