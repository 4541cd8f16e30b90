"""Rollouts of scripted agents: one row per agent and task."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.records.rows import Message
from assay.records.step import Inputs, Outputs
from assay.sopbench.conversation import Conversation, Limits, hold, rollout_id
from assay.sopbench.desk import Desk
from assay.sopbench.rows import CardDialect, ContentDialect, RolloutRow, TaskRow
from assay.sopbench.scripted import SCRIPTS, ScriptedAgent, SilentUser
from assay.sopbench.systems import SYSTEMS


class ScriptedSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a job of scripted agents: which of them, and how results are written."""

    agents: list[str]
    content: ContentDialect = "tuple"
    cards: CardDialect = "list"
    limits: Limits = Limits(messages=200, calls=80)


def scripted(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Run scripted agents on every task; rows by agent, then by task."""
    settings = msgspec.convert(config, ScriptedSettings)
    rows = list(inputs.one("tasks").rows("tasks.jsonl", TaskRow))
    return {"rollouts.jsonl": _scripted_rows(rows, settings)}


def _scripted_rows(rows: Sequence[TaskRow], settings: ScriptedSettings) -> Iterator[RolloutRow]:
    for name in settings.agents:
        for row in rows:
            yield scripted_rollout(row, name, settings)


def scripted_rollout(row: TaskRow, agent: str, settings: ScriptedSettings) -> RolloutRow:
    """Run one scripted agent on one task."""
    if agent not in SCRIPTS:
        raise ValueError(f"{agent!r} is no scripted agent, only {', '.join(SCRIPTS)} are")
    talk = open_conversation(row, agent, 0, settings.content, settings.cards, list(SYSTEMS[row.domain].functions))
    talk.history.append(Message("user", row.task.user_prompt))
    hold([talk], ScriptedAgent(agent), SilentUser(), settings.limits)
    return talk.finish(rollout_id([agent, msgspec.to_builtins(settings)], row.task_id, 0))


def open_conversation(
    row: TaskRow, agent: str, attempt: int, content: ContentDialect, cards: CardDialect, offered: list[str]
) -> Conversation:
    """Return a conversation at the base system of the task's domain, on a fresh copy of its initial state.

    Of what is offered, the desk has the functions of the domain: a distractor is not found there.
    """
    system = SYSTEMS[row.domain].opened(msgspec.json.decode(msgspec.json.encode(row.task.initial_database)), cards)
    desk = Desk(system, [name for name in offered if name in system.functions], content)
    return Conversation.at(row, agent, attempt, desk, offered, system.state, (content, cards))
