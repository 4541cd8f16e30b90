"""What all multi-turn methods share: settings, conversations over the prompts, rows with their final execution."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from assay.model.engine import Decoding
from assay.records.rows import PromptRow, row_id
from assay.records.step import Inputs, Outputs
from assay.sandbox.records import Limits
from assay.symbench.conversing import Services, Talk, hold
from assay.symbench.executing import execution_row, request
from assay.symbench.rollout_rows import RolloutRow


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a job.

    Attributes
    ----------
    model, guide_model, checker_model : dict
        What decides the answers of each role's model; the step reads them.
    kind : str
        Kind of method.
    texts : dict
        Its texts by name (`assay.symbench.templates`).
    max_rounds : int
        Revised answers after the first one, or programs of the interpreter.
    without_choice : str
        "fail" or "question": what to do where the guide names neither code nor text.
    check_tries, check_rounds : int
        Answers of the checker until one holds code; programs until one ends without an error.
    loop_limit_s : float
        Time limit of a program inside a conversation; that of the judged code stands in `executions`.
    """

    model: dict[str, Any]
    guide_model: dict[str, Any]
    checker_model: dict[str, Any]
    kind: str
    texts: dict[str, str]
    decoding: Decoding
    executions: dict[str, Any]
    policy: dict[str, Any] | None = None
    seed: int = 0
    max_rounds: int = 5
    without_choice: Literal["fail", "question"] = "fail"
    check_tries: int = 5
    check_rounds: int = 3
    loop_limit_s: float = 30.0
    accept_failures: int = 0


Method = Callable[[str, Settings], Talk]


def play(config: dict[str, Any], inputs: Inputs, services: Services, method: Method) -> Outputs:
    """Hold one conversation about each prompt, run the code of its last response, and return rollouts.jsonl.

    Input: `prompts`, each a chat whose last message is the plain question.
    """
    from assay.config.models import PromptPolicy

    settings = msgspec.convert(config, Settings)
    prompts = {prompt.query_id: prompt for prompt in inputs.one("prompts").rows("prompts.jsonl", PromptRow)}
    talks = {name: method(_question(prompt), settings) for name, prompt in prompts.items()}
    limits = Limits(**{**settings.executions["limits"], "time_s": settings.loop_limit_s})
    ended, turns = hold(
        talks,
        services,
        settings.decoding,
        limits,
        seed=settings.seed,
        policy=None if settings.policy is None else PromptPolicy(**settings.policy),
    )
    asked = {name: request(name.partition("/")[0], end.response) for name, end in ended.items()}
    programs = [one for one in asked.values() if one is not None]
    results = iter(services.executor.execute(programs) if programs else [])
    rows = []
    for name, end in ended.items():
        identity = row_id(name, prompts[name].prompt_sha256, 0)
        execution = execution_row(identity, name, 0, None if asked[name] is None else next(results))
        rows.append(
            RolloutRow(
                row_id=identity,
                query_id=name,
                response=end.response,
                execution=execution,
                error=end.error,
                truncated=end.truncated,
                truncated_prompt=any(turn.truncated_prompt for turn in turns[name]),
                nondeterministic=any(turn.nondeterministic for turn in turns[name]),
                ending=end.ending,
                rounds=end.rounds,
                turns=tuple(turns[name]),
            )
        )
    return {"rollouts.jsonl": rows}


def _question(prompt: PromptRow) -> str:
    return (prompt.messages or [])[-1].content or ""
