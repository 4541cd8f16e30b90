"""The `executions` job: run the first code block of every response."""

from collections.abc import Iterator
from typing import Any, Protocol

import msgspec

from assay.records.rows import GenerationRow
from assay.records.step import Inputs, Outputs
from assay.sandbox.records import Request, Result
from assay.symbench.executing import execution_row, request
from assay.symbench.execution_rows import ExecutionRow

_BATCH = 256


class Runs(Protocol):
    """What this job needs of the sandbox's executor."""

    def execute(self, requests: list[Request]) -> list[Result]:
        """Run requests and return one result for each, in order."""


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job: the sandbox's section, whose time limit is that of one attempt. The step reads it."""

    executions: dict[str, Any]


def execute_rows(config: dict[str, Any], inputs: Inputs, executor: Runs) -> Outputs:
    """Return executions.jsonl: one row for each generation, in order, also where there is no code.

    The task is the part of the query id before the first slash.
    """
    msgspec.convert(config, Settings)
    return {"executions.jsonl": _rows(inputs, executor)}


def _rows(inputs: Inputs, executor: Runs) -> Iterator[ExecutionRow]:
    batch: list[GenerationRow] = []
    for generation in inputs.one("generations").rows("generations.jsonl", GenerationRow):
        batch.append(generation)
        if len(batch) == _BATCH:
            yield from _batch(batch, executor)
            batch = []
    yield from _batch(batch, executor)


def _batch(generations: list[GenerationRow], executor: Runs) -> Iterator[ExecutionRow]:
    asked = [request(row.query_id.partition("/")[0], row.text) for row in generations]
    results = iter(executor.execute([one for one in asked if one is not None]))
    for row, one in zip(generations, asked, strict=True):
        yield execution_row(row.row_id, row.query_id, row.sample_index, None if one is None else next(results))
