"""Rollouts of a model in program mode: it talks to the strict system, which enforces every rule."""

from typing import Any

import msgspec

from assay.records.step import Inputs, Outputs
from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.conversation import Conversation
from assay.sopbench.desk import Desk
from assay.sopbench.expressions import decode
from assay.sopbench.model_rollouts import Services, play
from assay.sopbench.rows import CardDialect, ContentDialect, TaskRow
from assay.sopbench.system import Strict, compile_rule, default_table


def rollouts(config: dict[str, Any], inputs: Inputs, services: Services) -> Outputs:
    """Hold the conversations of a program-mode job; rows by task, then by attempt."""
    return play(config, inputs, services, open_strict)


def open_strict(
    row: TaskRow, agent: str, attempt: int, content: ContentDialect, cards: CardDialect, offered: list[str]
) -> Conversation:
    """Return a conversation at the strict system of a task, on a fresh copy of its initial state."""
    procedure = PROCEDURES[row.domain]
    rules, session_type, system_type = procedure.rules, procedure.session, procedure.system
    system = system_type.opened(msgspec.json.decode(msgspec.json.encode(row.task.initial_database)), cards)
    target = compile_rule(decode(row.task.constraints), session_type, system_type)
    table = default_table(rules, session_type, system_type) | {row.task.user_goal: target}
    strict = Strict(session_type(system, row.task.constraint_parameters), table)
    desk = Desk(strict, [name for name in offered if strict.has(name)], content)
    talk = Conversation.at(row, agent, attempt, desk, offered, system.state, (content, cards))
    talk.enforced = True
    return talk
