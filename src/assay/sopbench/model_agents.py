"""Agents and users that are played by a model, and the scripted user that answers them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from assay.model.engine import Decoding
from assay.records.rows import GenerationRow, Message, PromptRow
from assay.sopbench.conversation import Conversation, Turn
from assay.sopbench.rows import Tokens
from assay.sopbench.styles import Mode, read_request, written

END_OF_TALK = "###END###"


class Talker(Protocol):
    """What is needed of a model: the next answer of many conversations (`assay.model.generate.ModelSession`)."""

    def complete_many(
        self,
        prompts: Sequence[PromptRow],
        decoding: Decoding,
        *,
        seed: int = 0,
        sample_indices: Sequence[int] | None = None,
        chat: bool | None = None,
        policy: Any = None,
        counts_overflow: bool = False,
    ) -> list[GenerationRow]:
        """Return one row for each prompt, in order."""


class ModelAgent:
    """A model that plays the assistant.

    Parameters
    ----------
    prompts : mapping
        Task id -> system message and tools.
    max_prompt_tokens : int or None
        Longest prompt; a conversation that grows beyond it, or beyond the model's context, ends as "overflow".
    """

    def __init__(
        self,
        model: Talker,
        decoding: Decoding,
        mode: Mode,
        prompts: Mapping[str, PromptRow],
        *,
        seed: int = 0,
        max_prompt_tokens: int | None = None,
    ) -> None:
        from assay.config.models import PromptPolicy

        self._model = model
        self._decoding = decoding
        self._mode: Mode = mode
        self._prompts = prompts
        self._seed = seed
        self._policy = PromptPolicy(max_tokens=max_prompt_tokens, on_long="truncate")

    def turns(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Ask the model for all conversations at once."""
        rows = self._model.complete_many(
            [self._prompt(talk) for talk in conversations],
            self._decoding,
            seed=self._seed,
            sample_indices=[talk.attempt for talk in conversations],
            chat=True,
            policy=self._policy,
            counts_overflow=True,
        )
        return [self._turn(talk, row) for talk, row in zip(conversations, rows, strict=True)]

    def _prompt(self, talk: Conversation) -> PromptRow:
        prompt = self._prompts[talk.row.task_id]
        messages = [*(prompt.messages or [])[:1], *written(self._mode, talk.history)]
        return PromptRow.of_messages(talk.row.task_id, messages, prompt.tools if self._mode == "fc" else None)

    def _turn(self, talk: Conversation, row: GenerationRow) -> Turn:
        tokens = Tokens(row.n_prompt_tokens, row.n_new_tokens)
        # A server says only afterwards how long the prompt was.
        longest = self._policy.max_tokens
        if row.truncated or (longest is not None and row.n_prompt_tokens > longest):
            # An answer to half a conversation is no answer; it is counted, not judged.
            return Turn("", overflow=True, error=row.error, row_key=row.row_key, tokens=tokens)
        if row.finish_reason == "error":
            return Turn("", error=row.error or "the model failed", row_key=row.row_key, tokens=tokens)
        request = read_request(self._mode, row.text, self._prompts[talk.row.task_id].tools or [])
        return Turn(row.text, request, row_key=row.row_key, tokens=tokens)


class ScriptedUser:
    """Repeats all that the user knows, each time the assistant makes no call."""

    def replies(self, conversations: Sequence[Conversation]) -> list[str | None]:
        """Return the same reminder for each conversation."""
        return [self._reply(talk) for talk in conversations]

    def _reply(self, talk: Conversation) -> str:
        known = json.dumps(talk.row.task.user_known, ensure_ascii=False)
        return (
            f"Here is all that I know: {known}. If you have handled my request, or cannot handle it, please call "
            'the function "exit_conversation".'
        )


class ModelUser:
    """A model that plays the user; it ends the conversation with a mark."""

    def __init__(self, model: Talker, decoding: Decoding, *, seed: int = 0) -> None:
        from assay.config.models import PromptPolicy

        self._model = model
        self._decoding = decoding
        self._seed = seed
        self._policy = PromptPolicy(on_long="truncate")

    def replies(self, conversations: Sequence[Conversation]) -> list[str | None]:
        """Ask the model for all conversations at once; a failure, or no room for an answer, ends a conversation."""
        rows = self._model.complete_many(
            [PromptRow.of_messages(talk.row.task_id, self._messages(talk)) for talk in conversations],
            self._decoding,
            seed=self._seed,
            sample_indices=[talk.attempt for talk in conversations],
            chat=True,
            policy=self._policy,
            counts_overflow=True,
        )
        return [self._read(talk, row) for talk, row in zip(conversations, rows, strict=True)]

    def _read(self, talk: Conversation, row: GenerationRow) -> str | None:
        talk.row_keys.append(row.row_key)
        if row.truncated:
            talk.ending, talk.error = "overflow", row.error or "the user's model has no room for the conversation"
            return None
        if row.finish_reason == "error":
            talk.ending, talk.error = "error", f"the user's model failed: {row.error}"
            return None
        return None if END_OF_TALK in row.text else row.text

    def _messages(self, talk: Conversation) -> list[Message]:
        known = json.dumps(talk.row.task.user_known, ensure_ascii=False)
        system = (
            f"You play a user who talks to an assistant. {talk.row.task.user_instruction} You know this and nothing "
            f"else: {known}. Answer briefly and stay in your role. When your request is handled or refused, answer "
            f"{END_OF_TALK}."
        )
        # Seen from the user, the assistant asks and the user answers; calls and results stay unseen.
        turned = {"user": "assistant", "assistant": "user"}
        seen = [Message(turned[m.role], m.content) for m in talk.history if m.role in turned and m.content]
        return [Message("system", system), Message("user", "Hello, how can I help you?"), *seen]
