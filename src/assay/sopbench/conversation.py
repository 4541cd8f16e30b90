"""Conversations: turns of an agent and a user, with the limits of the published runs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from assay.canonical import digest
from assay.records.rows import Message
from assay.sopbench.desk import Desk
from assay.sopbench.literals import plain
from assay.sopbench.rows import CallRow, CardDialect, ContentDialect, Ending, RolloutRow, TaskRow, Tokens

EXIT_TOOL = "exit_conversation"
NO_CALL = frozenset({"n/a", "na", "none", "null"})


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a conversation is cut off; looked at before each turn of the agent, as published.

    Attributes
    ----------
    messages : int
        Messages of user, assistant and tools together; the system message does not count.
    calls : int
        Tool calls.
    """

    messages: int = 20
    calls: int = 10


class Request(msgspec.Struct, frozen=True):
    """A tool call that an agent asks for; arguments are text."""

    name: str
    arguments: str


class Turn(msgspec.Struct, frozen=True):
    """What an agent said: text, and at most one call."""

    text: str
    request: Request | None = None
    error: str | None = None
    overflow: bool = False
    row_key: str | None = None
    tokens: Tokens = Tokens()


@dataclass
class Conversation:
    """State of one conversation.

    Attributes
    ----------
    history : list of Message
        Without the system message; the first one is the user's.
    """

    row: TaskRow
    desk: Desk
    offered: list[str]
    agent: str
    attempt: int
    dialect: ContentDialect
    cards: CardDialect
    initial: dict[str, Any]
    state: dict[str, Any]
    history: list[Message] = field(default_factory=list)
    calls: list[CallRow] = field(default_factory=list)
    row_keys: list[str] = field(default_factory=list)
    tokens: Tokens = field(default_factory=Tokens)
    ending: Ending | None = None
    error: str | None = None
    enforced: bool = False

    def cut_off(self, limits: Limits) -> bool:
        """End the conversation if a limit is reached; return whether it has ended."""
        if self.ending is None and len(self.history) >= limits.messages:
            self.ending = "limit"
        if self.ending is None and len(self.calls) >= limits.calls:
            self.ending = "calls"
        return self.ending is not None

    def take(self, turn: Turn) -> None:
        """Note what the agent said, and carry out its call."""
        if turn.row_key is not None:
            self.row_keys.append(turn.row_key)
        self.tokens = Tokens(self.tokens.read + turn.tokens.read, self.tokens.written + turn.tokens.written)
        if turn.error is not None or turn.overflow:
            self.ending, self.error = ("overflow" if turn.overflow else "error"), turn.error
            return
        request = turn.request
        if request is None or request.name.strip().lower() in NO_CALL:
            self.history.append(Message("assistant", turn.text))
            return
        identity = f"call_{len(self.calls) + 1}"
        call = {"id": identity, "type": "function", "function": msgspec.to_builtins(request)}
        self.history.append(Message("assistant", turn.text, tool_calls=[call]))
        if request.name == EXIT_TOOL:
            self.ending = "exit"
            return
        done = self.desk.call(request.name, request.arguments)
        self.calls.append(done)
        self.history.append(Message("tool", done.content, tool_call_id=identity, name=done.name))

    @classmethod
    def at(
        cls,
        row: TaskRow,
        agent: str,
        attempt: int,
        desk: Desk,
        offered: list[str],
        state: dict[str, Any],
        dialects: tuple[ContentDialect, CardDialect],
    ) -> "Conversation":
        """Begin a conversation about a task at a desk that works on `state`, a copy of the task's initial one."""
        content, cards = dialects
        return cls(
            row=row,
            desk=desk,
            offered=offered,
            agent=agent,
            attempt=attempt,
            dialect=content,
            cards=cards,
            initial=row.task.initial_database,
            state=state,
        )

    @property
    def waits_for_user(self) -> bool:
        """Whether the agent answered without a call, so that it is the user's turn."""
        return self.ending is None and self.history[-1].role == "assistant"

    def finish(self, row_id: str) -> RolloutRow:
        """Return the finished row."""
        return RolloutRow(
            row_id=row_id,
            task_id=self.row.task_id,
            domain=self.row.domain,
            index=self.row.index,
            agent=self.agent,
            attempt=self.attempt,
            calls=self.calls,
            n_sender_messages=sum(message.role in ("user", "assistant") for message in self.history),
            ending=self.ending or "silent",
            final_database=None if self.state == self.initial else plain(self.state),
            offered=sorted(self.offered),
            content_dialect=self.dialect,
            card_dialect=self.cards,
            enforced=self.enforced,
            messages=self.history,
            row_keys=self.row_keys,
            tokens=self.tokens,
            error=self.error,
        )


class Agent(Protocol):
    """Takes the agent's turn in many conversations at once."""

    def turns(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Return one turn for each conversation, in order."""


class User(Protocol):
    """Answers an agent that made no call."""

    def replies(self, conversations: Sequence[Conversation]) -> list[str | None]:
        """Return one message for each conversation, in order; None ends it."""


def hold(conversations: Sequence[Conversation], agent: Agent, user: User, limits: Limits) -> None:
    """Hold conversations in step, so that a model is asked for all open ones at once, until all have ended."""
    while open_ones := [talk for talk in conversations if not talk.cut_off(limits)]:
        for talk, turn in zip(open_ones, agent.turns(open_ones), strict=True):
            talk.take(turn)
        waiting = [talk for talk in open_ones if talk.waits_for_user]
        for talk, reply in zip(waiting, user.replies(waiting) if waiting else [], strict=True):
            if reply is None:
                talk.ending = talk.ending or "exit"
            else:
                talk.history.append(Message("user", reply))


def rollout_id(setting: object, task_id: str, attempt: int) -> str:
    """Return the identity of a rollout: 32 hex digits over agent setting, task and attempt."""
    return digest("sopbench-rollout", [setting, task_id, attempt])[:32]
