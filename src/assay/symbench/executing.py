"""Which code of a response is run, and how often: the attempts that the authors' scorer makes."""

from assay.sandbox.records import Limits, Request, Result
from assay.symbench.execution_rows import ExecutionRow
from assay.symbench.extraction import first_code_block

# Attempts in turn, the next only while nothing is printed. A name: run the code, then print that variable. None: run
# the code as a file. The chain of each task is the one of the authors' scorer.
_FOUR_POINTS = ("result", "Waypoints", "waypoints", "trajectory")
_ATTEMPTS: dict[str, tuple[str | None, ...]] = {
    "date_understanding": (None, "Answer", "answer"),
    "web_of_lies": (None, "Answer", "answer"),
    "logical_deduction": (None, "Answer", "answer"),
    "navigate": (None, "Answer", "answer"),
    "letters": _FOUR_POINTS,
    "path_plan": _FOUR_POINTS,
    "number_multiply": ("result", "final_result"),
    "game24": ("result",),
    "boxlift": ("result",),
    "boxnet": ("result",),
    "blocksworld": ("result",),
}
_COMMON_ATTEMPTS = ("result", "Answer", "answer")


def request(task: str, response: str, limits: Limits | None = None) -> Request | None:
    """Return what the sandbox is asked to run for a response, or None if the response has no code block."""
    code = first_code_block(response)
    if code is None:
        return None
    return Request(code=code, variables=_ATTEMPTS.get(task, _COMMON_ATTEMPTS), limits=limits)


def execution_row(row_id: str, query_id: str, sample_index: int, result: Result | None) -> ExecutionRow:
    """Make the row of a response; `result` is None where it has no code."""
    if result is None:
        return ExecutionRow(row_id=row_id, query_id=query_id, sample_index=sample_index)
    payload = result.final.payload
    return ExecutionRow(
        row_id=row_id,
        query_id=query_id,
        sample_index=sample_index,
        code_sha256=payload.code_sha256,
        kind=payload.kind,
        stdout=payload.stdout.data.decode("utf-8", "replace") if payload.stdout else "",
        attempts=len(result.attempts),
        exit_code=payload.exit_code,
        nondeterministic=result.nondeterministic,
    )
