"""Models that follow a script, and a way to hold conversations with them and the real sandbox."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from assay.model.engine import Decoding
from assay.records.jsonl import read_rows, write_rows
from assay.records.rows import GenerationRow, Message, PromptRow, row_id
from assay.records.step import Input, Inputs, Outputs
from assay.symbench.asking import NO_SYSTEM
from assay.symbench.rollout_rows import RolloutRow
from assay.symbench.templates import BUILT_IN

Script = Callable[[Sequence[Message]], str]
MODEL = {"name": "scripted"}


class Scripted:
    """A model whose answer is a function of the chat; it remembers the chats and the sizes of batches."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.chats: list[list[Message]] = []
        self.batches: list[int] = []

    def complete_many(self, prompts: Sequence[PromptRow], decoding: Decoding, **options: Any) -> list[GenerationRow]:
        """Answer every chat; "FAIL" fails, "CUT ..." is cut off by the token limit."""
        assert options.keys() == {"seed", "policy"}
        self.batches.append(len(prompts))
        return [self._answer(prompt) for prompt in prompts]

    def _answer(self, prompt: PromptRow) -> GenerationRow:
        messages = prompt.messages or []
        self.chats.append(messages)
        text = self.script(messages)
        failed = text == "FAIL"
        return GenerationRow(
            row_id=row_id(prompt.query_id, prompt.prompt_sha256, 0),
            query_id=prompt.query_id,
            sample_index=0,
            row_key="0" * 64,
            prompt_sha256=prompt.prompt_sha256,
            prompt_ids_sha256="0" * 64,
            n_prompt_tokens=1,
            truncated=False,
            text="" if failed else text,
            n_new_tokens=1,
            finish_reason="error" if failed else "length" if text.startswith("CUT") else "eos",
            error="out of luck" if failed else None,
        )


class Services:
    """What the rollouts step provides."""

    def __init__(self, executor: Any, **models: Script) -> None:
        self.models = {role: Scripted(script) for role, script in models.items()}
        self.executor = executor

    def model(self, role: str) -> Scripted:
        """Return the model with a role."""
        return self.models[role]


def settings(kind: str, **over: Any) -> dict[str, Any]:
    """Return the config of a rollouts job."""
    roles = dict.fromkeys(("model", "guide_model", "checker_model"), MODEL)
    base = {"kind": kind, "texts": BUILT_IN[kind], "decoding": {"max_new_tokens": 8}, "loop_limit_s": 5.0}
    return {**roles, **base, "executions": {"limits": {"time_s": 5.0}}, **over}


def artifact(folder: Path, stage: str, outputs: Outputs, item: str = "x") -> Input:
    """Write an artifact's files."""
    place = folder / f"{stage}-{item}"
    place.mkdir(exist_ok=True)
    for name, rows in outputs.items():
        if isinstance(rows, bytes):
            (place / name).write_bytes(rows)
        else:
            write_rows(place / name, rows)
    return Input(stage, stage, item, "0" * 64, place, "bytes")


def prompts(folder: Path, **questions: str) -> Inputs:
    """Return the inputs of a rollouts job: plain questions by query id, `/` written as `__`."""
    rows = [
        PromptRow.of_messages(name.replace("__", "/"), [NO_SYSTEM, Message("user", text)])
        for name, text in questions.items()
    ]
    return Inputs((artifact(folder, "prompts", {"prompts.jsonl": rows}),))


def rows_of(folder: Path, outputs: Outputs) -> list[RolloutRow]:
    """Return rollout rows as they come back from their file."""
    place = artifact(folder, "rollouts", outputs).folder
    return list(read_rows(place / "rollouts.jsonl", RolloutRow))
