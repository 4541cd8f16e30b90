"""The `prompts` job: what each sample's first (or only) user message is."""

from collections.abc import Iterator
from typing import Any

import msgspec

from assay.records.rows import Message, PromptRow
from assay.records.step import Inputs, Outputs
from assay.symbench.asking import NO_SYSTEM, instructed
from assay.symbench.rows import TaskRow


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job.

    Attributes
    ----------
    instruction : str
        Text in front of the question; empty for the plain question, which multi-turn methods start from.
    tasks : list of str or None
        Tasks to ask about; None: all.
    """

    instruction: str = ""
    tasks: list[str] | None = None


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return prompts.jsonl: one chat per sample, in the order of the samples."""
    return {"prompts.jsonl": _rows(msgspec.convert(config, Settings), inputs)}


def _rows(settings: Settings, inputs: Inputs) -> Iterator[PromptRow]:
    for sample in inputs.one("tasks").rows("tasks.jsonl", TaskRow):
        if settings.tasks is None or sample.task in settings.tasks:
            text = instructed(settings.instruction, sample.question)
            yield PromptRow.of_messages(sample.query_id, [NO_SYSTEM, Message("user", text)])
