"""The suite `symbench`: upstream's verdicts on recorded responses, both extraction modes, code really executed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.config.executions import Executions
from assay.errors import AssayError, DataError
from assay.records.conformance import Case
from assay.sandbox.executor import Executor
from assay.sandbox.records import Limits
from assay.symbench.datasets import load_published
from assay.symbench.executing import execution_row, request
from assay.symbench.execution_rows import ExecutionRow
from assay.symbench.judging import Extraction, Judgement, code_output, judge
from assay.symbench.rowfiles import read_compressed_rows
from assay.symbench.rows import TaskRow

UPSTREAM_LIMIT_S = 15.0


class Vector(msgspec.Struct, frozen=True):
    """A response with upstream's verdicts."""

    task: str
    sample_id: str
    response_text: str
    upstream_verdict: bool | str
    normalized_verdict: bool | str
    extracted_exec: str | None = None
    extracted_text: str | None = None
    note: str = ""
    kind: str = ""


def verdicts(files: Sequence[Path], data: Path, limit_s: float | None) -> Iterator[Case]:
    """Compare each vector with our verdicts in the modes echo and normalized, and with the extracted texts.

    A vector whose sample is not in `data`, or whose code could not be executed, is a failed case.
    """
    samples: dict[str, dict[str, TaskRow] | str] = {}
    for path in files:
        vectors = list(read_compressed_rows(path, Vector))
        for task in dict.fromkeys(vector.task for vector in vectors):
            if task not in samples:
                samples[task] = _samples(data, task)
        executions = _execute(vectors, limit_s or UPSTREAM_LIMIT_S)
        for number, (vector, execution) in enumerate(zip(vectors, executions, strict=True), 1):
            name, known = f"{path.name}:{number}", samples[vector.task]
            if isinstance(known, str):
                yield Case(name, "failed", why=known)
            elif vector.sample_id not in known:
                yield Case(name, "failed", why=f"{vector.task} has no sample {vector.sample_id!r} in {data}")
            else:
                yield _case(name, vector, known[vector.sample_id], execution)


def _samples(data: Path, task: str) -> dict[str, TaskRow] | str:
    try:
        return {row.sample_id: row for row in load_published(data, task)}
    except DataError as error:
        return str(error)


def _execute(vectors: list[Vector], limit_s: float) -> list[ExecutionRow | str]:
    """Run the code of all vectors; a fault of the sandbox is the text that every case with code fails with."""
    limits = Limits(time_s=limit_s)
    requests = [request(vector.task, vector.response_text, limits) for vector in vectors]
    asked = [one for one in requests if one is not None]
    results: Iterator[Any] = iter(())
    fault = ""
    if asked:
        try:
            with Executor(Executions(repeat_check_fraction=0.0)) as executor:
                results = iter(executor.execute(asked))
        except AssayError as error:
            fault = f"the code was not executed: {error}"
    return [
        fault if fault and one is not None else execution_row("", "", 0, None if one is None else next(results))
        for one in requests
    ]


def _case(name: str, vector: Vector, sample: TaskRow, execution: ExecutionRow | str) -> Case:
    if isinstance(execution, str):
        return Case(name, "failed", why=execution)
    echo = _judged(vector, sample, execution, "echo")
    normalized = _judged(vector, sample, execution, "normalized")
    expected: list[object] = [vector.upstream_verdict, vector.normalized_verdict]
    got: list[object] = [_word(echo), _word(normalized)]
    for want, have in (
        (vector.extracted_exec, echo.answer_execution),
        (vector.extracted_text, echo.answer_text),
    ):
        if want is not None:
            expected.append(want)
            got.append(have)
    why = f"{vector.task} {vector.sample_id}, {vector.kind}, {vector.note}: {echo.reason} / {normalized.reason}"
    return Case(name, "passed" if expected == got else "failed", str(expected)[:500], str(got)[:500], why)


def _judged(vector: Vector, sample: TaskRow, execution: ExecutionRow, extraction: Extraction) -> Judgement:
    return judge(sample, vector.response_text, code_output(execution), "upstream", extraction)


def _word(judgement: Judgement) -> bool | str:
    return "error" if judgement.outcome == "crash" else judgement.correct
