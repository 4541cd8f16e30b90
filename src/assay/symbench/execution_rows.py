"""The row of an `executions` artifact of SymBench."""

import msgspec


class ExecutionRow(msgspec.Struct, frozen=True, kw_only=True):
    """What the first code block of one response gave.

    Attributes
    ----------
    row_id, query_id, sample_index
        Those of the response.
    code_sha256 : str or None
        None where the response has no code block; `kind` is then "none".
    kind : str
        How the attempt that counts ended. Output that was printed before an exception counts; that of a
        timed-out attempt does not.
    attempts : int
        Attempts made.
    nondeterministic : bool
        Whether an attempt was repeated, as a share of all is, and gave something else.
    """

    row_id: str
    query_id: str
    sample_index: int = 0
    code_sha256: str | None = None
    kind: str = "none"
    stdout: str = ""
    attempts: int = 0
    exit_code: int | None = None
    nondeterministic: bool = False


class RolloutAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a `rollouts` row that is judged: the last response, and what its own first code block gave.

    Code of earlier turns is never run again for a final response without code (deviation D17). `nondeterministic` tells
    whether an execution that a model was shown varies.
    """

    row_id: str
    query_id: str
    response: str
    execution: ExecutionRow
    sample_index: int = 0
    error: str | None = None
    truncated: bool = False
    truncated_prompt: bool = False
    nondeterministic: bool = False
