"""The row of a `rollouts` artifact of SymBench: the judged answer, and everything that led to it."""

from typing import Literal

import msgspec

from assay.symbench.execution_rows import ExecutionRow

Actor = Literal["solver", "guide", "checker", "sandbox"]


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One answer of a model, or one execution.

    Attributes
    ----------
    text : str
        What the model wrote, or what models were shown of the execution.
    prompt_sha256, row_key : str
        Of a model's answer: digest of the whole chat that it answers, and key in the row store.
    asked : str
        Of a model's answer: the last message of that chat.
    code_sha256, kind, stdout, stderr, exit_code, nondeterministic
        Of an execution: what the sandbox reported.
    """

    actor: Actor
    text: str
    asked: str = ""
    prompt_sha256: str = ""
    row_key: str = ""
    n_prompt_tokens: int = 0
    n_new_tokens: int = 0
    finish_reason: str = ""
    truncated_prompt: bool = False
    code_sha256: str = ""
    kind: str = ""
    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = None
    nondeterministic: bool = False


class RolloutRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sample. The fields before `ending` are `RolloutAnswer`, which labels judge.

    Attributes
    ----------
    error : str or None
        Why there is nothing to judge: a model failed, or the guide made no choice.
    truncated : bool
        Whether the token limit cut the judged response off.
    truncated_prompt : bool
        Whether any call lost the beginning of its chat, which was longer than the policy allows.
    nondeterministic : bool
        Whether any execution of the conversation was repeated and gave something else; that of the judged code stands
        in `execution`.
    ending : str
        "answered": the method has no more turns; "returned", "gave_up": the guide ended it; "no_guidance": the guide
        said nothing that can be passed on; "rounds": no round was left; "no_choice"; "error".
    rounds : int
        Revised answers, or programs of the interpreter.
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
    ending: str
    rounds: int = 0
    turns: tuple[Turn, ...] = ()
