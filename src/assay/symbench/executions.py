"""The `executions` job: run the first code block of every response."""

from collections.abc import Iterator
from typing import Protocol

import msgspec

from assay.records.rows import GenerationRow
from assay.records.step import Inputs, Outputs
from assay.sandbox.records import Limits, Request, Result
from assay.symbench.executing import execution_row, request
from assay.symbench.execution_rows import ExecutionRow

_BATCH = 256


class Runs(Protocol):
    """What this job needs of the sandbox's executor."""

    limits: Limits

    def execute(self, requests: list[Request]) -> list[Result]:
        """Run requests and return one result for each, in order."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job: the time limit of one attempt, in CPU seconds."""

    limit_s: float = 30.0


def execute_rows(config: dict[str, object], inputs: Inputs, executor: Runs) -> Outputs:
    """Return executions.jsonl: one row for each generation, in order, also where there is no code.

    The task is the part of the query id before the first slash.
    """
    settings = msgspec.convert(config, Settings)
    return {"executions.jsonl": _rows(inputs, executor, settings.limit_s)}


def _rows(inputs: Inputs, executor: Runs, limit_s: float) -> Iterator[ExecutionRow]:
    limits = msgspec.structs.replace(executor.limits, time_s=limit_s)
    batch: list[GenerationRow] = []
    for generation in inputs.one("generations").rows("generations.jsonl", GenerationRow):
        batch.append(generation)
        if len(batch) == _BATCH:
            yield from _batch(batch, executor, limits)
            batch = []
    yield from _batch(batch, executor, limits)


def _batch(generations: list[GenerationRow], executor: Runs, limits: Limits) -> Iterator[ExecutionRow]:
    asked = [request(row.query_id.partition("/")[0], row.text, limits) for row in generations]
    results = iter(executor.execute([one for one in asked if one is not None]))
    for row, one in zip(generations, asked, strict=True):
        yield execution_row(row.row_id, row.query_id, row.sample_index, None if one is None else next(results))
