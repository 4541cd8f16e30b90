"""Rows that more than one stage or benchmark reads. Fields of one benchmark live in its own package."""

from typing import Any, Literal

import msgspec

from assay.canonical import digest

FinishReason = Literal["eos", "stop", "length", "error"]
Determinism = Literal["bytes", "isa", "volatile"]


class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """One message of a chat. `tool_calls` and `tool_call_id` follow the common function-calling shape."""

    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class PromptRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is asked: either a raw `text` or chat `messages`, never both.

    `prompt_sha256` is the digest of exactly that, before any template of a model is applied.
    """

    query_id: str
    prompt_sha256: str
    text: str | None = None
    messages: list[Message] | None = None
    tools: list[dict[str, Any]] | None = None

    @classmethod
    def of_text(cls, query_id: str, text: str) -> "PromptRow":
        """Make a raw prompt."""
        return cls(query_id=query_id, prompt_sha256=digest("prompt-text", text), text=text)

    @classmethod
    def of_messages(
        cls, query_id: str, messages: list[Message], tools: list[dict[str, Any]] | None = None
    ) -> "PromptRow":
        """Make a chat prompt."""
        sha256 = digest("prompt-messages", msgspec.to_builtins([messages, tools]))
        return cls(query_id=query_id, prompt_sha256=sha256, messages=messages, tools=tools)


def row_id(query_id: str, prompt_sha256: str, sample_index: int) -> str:
    """Return the identity of one asked sample: 32 hex digits that no position, file or model enters."""
    return digest("row", [query_id, prompt_sha256, sample_index])[:32]


class GenerationRow(msgspec.Struct, frozen=True):
    """One finished answer of a model.

    Attributes
    ----------
    row_key : str
        Key in the row store: everything, actual environment included, that decided these bytes.
    prompt_ids_sha256 : str
        Digest of the token ids that the model saw, after template and truncation.
    n_prompt_tokens, n_new_tokens : int
        Tokens in and out; the end-of-sequence token counts as out.
    error : str or None
        Set exactly when `finish_reason` is "error"; `text` is then empty.
    """

    row_id: str
    query_id: str
    sample_index: int
    row_key: str
    prompt_sha256: str
    prompt_ids_sha256: str
    n_prompt_tokens: int
    truncated: bool
    text: str
    n_new_tokens: int
    finish_reason: FinishReason
    error: str | None = None


class MetricRow(msgspec.Struct, frozen=True, kw_only=True):
    """One measured number of the tidy table; the fields before `value` are its primary key.

    `setting` holds everything else that tells rows apart (see `setting_text`); `baseline` names a baseline
    row; `n` counts what the value was taken over, `n_failed` what of it failed and was counted, not dropped.
    `determinism` is given where an artifact holds numbers of several models; by default a number is as reproducible
    as its artifact.
    """

    benchmark: str
    dataset: str
    model: str
    method: str
    profile: str
    setting: str
    metric: str
    baseline: str = ""
    value: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    unit: str = "fraction"
    n: int
    n_failed: int = 0
    determinism: Determinism | None = None


def setting_text(**settings: object) -> str:
    """Return the `setting` column: sorted `key=value` joined by `;`.

    Examples
    --------
    >>> setting_text(subset="all", anchor=True)
    'anchor=true;subset=all'
    """
    parts = []
    for key, value in sorted(settings.items()):
        text = str(value).lower() if isinstance(value, bool) else str(value)
        if ";" in text or "=" in text:
            raise ValueError(f"setting {key}={text!r} must not contain ';' or '='")
        parts.append(f"{key}={text}")
    return ";".join(parts)
