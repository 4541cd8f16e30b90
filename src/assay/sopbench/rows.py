"""Rows of the SOPBench stages: tasks, rollouts and verdicts."""

from functools import lru_cache
from typing import Any, Literal

import msgspec

from assay.canonical import digest
from assay.records.rows import Message

Profile = Literal["upstream", "corrected"]
ContentDialect = Literal["tuple", "unwrapped"]
CardDialect = Literal["list", "map"]
Ending = Literal["exit", "limit", "calls", "overflow", "error", "silent"]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task, with the field names of the published task files.

    Attributes
    ----------
    constraints_original, constraints : expression in list form, or None
        Rule of the target as shown to the model, and the same expanded, which is enforced.
    directed_action_graph : dict
        ``nodes`` and ``connections`` of the target.
    """

    user_goal: str = ""
    initial_database: dict[str, Any]
    constraint_parameters: dict[str, Any]
    user_known: dict[str, Any]
    constraints_original: list[Any] | None
    constraints: list[Any] | None
    action_should_succeed: bool
    directed_action_graph: dict[str, Any]
    user_instruction: str = ""
    user_prompt: str = ""


class PlannedCall(msgspec.Struct, frozen=True):
    """A call that a plan makes: function and JSON arguments."""

    name: str
    arguments: dict[str, Any]


class TaskRow(msgspec.Struct, frozen=True, kw_only=True):
    """A task in its place.

    Attributes
    ----------
    task_id : str
        Content hash of domain and task (`task_identity`); never a position.
    index : int
        Position in the flattened task file, or in the generated set: for people and published numbers.
    text : str
        The task as JSON text in its own key order. Functions take "the first room" or "the last booking" of a map,
        so that sorting keys, as rows do, would change what they return.
    plan : list of PlannedCall or None
        An oracle plan, if one was found: the calls of an agent that follows the rules.
    solvable : bool
        Whether an agent that is offered the full tool list can pass.
    """

    task_id: str
    domain: str
    index: int
    text: str
    plan: list[PlannedCall] | None = None
    solvable: bool = True

    @classmethod
    def of(cls, domain: str, index: int, task: Task, plan: list[PlannedCall] | None = None) -> "TaskRow":
        """Return the row of a task."""
        text = task_text(task)
        return cls(task_id=task_identity(domain, text), domain=domain, index=index, text=text, plan=plan)

    @property
    def task(self) -> Task:
        """The task; its values are shared and must not be changed."""
        return _read_task(self.text)


def task_text(task: Task) -> str:
    """Return a task as JSON text that keeps the order of its keys."""
    return msgspec.json.encode(task).decode()


@lru_cache(maxsize=4096)
def _read_task(text: str) -> Task:
    return msgspec.json.decode(text, type=Task)


def task_identity(domain: str, text: str) -> str:
    """Return the identity of a task: 32 hex digits over domain and content, order of keys included."""
    return digest("sopbench-task", [domain, text])[:32]


class CallRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a trajectory with what came back.

    Attributes
    ----------
    arguments, content : str
        As the model wrote them and as it was shown the result.
    tool_name : str or None
        Name in the result message, where it is another one than that of the call.
    outcome : str or None
        Whether the system returned, raised or lacked the tool; None for imported trajectories, which hold text only.
    value : any
        The returned value as JSON data (pairs as two-element lists), with `outcome` "returned".
    """

    name: str
    arguments: str
    content: str
    tool_name: str | None = None
    outcome: Literal["returned", "raised", "missing"] | None = None
    value: Any = None

    @property
    def called(self) -> str:
        """The function that was executed."""
        return self.tool_name or self.name


class Tokens(msgspec.Struct, frozen=True):
    """Tokens read and written over all model calls of a rollout."""

    read: int = 0
    written: int = 0


class RolloutRow(msgspec.Struct, frozen=True, kw_only=True):
    """One finished conversation of an agent about one task.

    Attributes
    ----------
    row_id : str
        Digest of task, agent setting and attempt.
    n_sender_messages : int
        Messages of user and assistant; tool results have no sender.
    ending : str
        "exit" by the exit tool, "limit" of messages, "calls" limit, "silent" when a scripted agent has no more to
        say, "overflow" when the context is full, "error" when the model or its endpoint failed.
    final_database : dict or None
        None if it equals the initial one.
    offered : list of str
        Functions that the agent could call.
    enforced : bool
        Whether the system enforced its rules itself (program mode), so that no look-ups were offered.
    """

    row_id: str
    task_id: str
    domain: str
    index: int
    agent: str
    attempt: int
    calls: list[CallRow]
    n_sender_messages: int
    ending: Ending
    final_database: dict[str, Any] | None
    offered: list[str]
    content_dialect: ContentDialect
    card_dialect: CardDialect
    enforced: bool = False
    messages: list[Message] = []
    row_keys: list[str] = []
    tokens: Tokens = Tokens()
    error: str | None = None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Every boolean of the evaluation; `success` is the conjunction of the five that follow it in the published code.

    The fields up to `success` carry the published names. The rest is ours.

    Attributes
    ----------
    success_lenient : bool
        Success when calls that could not be executed at all are ignored.
    n_unoffered : int
        Calls of functions that the agent was not offered (corrected profile: counted as tool-call errors).
    refusal_justified : bool or None
        For a task that should be refused: whether a call verified a condition that does not hold. None for others.
    reasons : list of str
        Why each failed check failed: one sentence per check, naming the first call at fault.
    """

    user_goal: str
    action_should_succeed: bool
    num_messages: int
    num_function_calls: int
    num_constraints: int
    num_constraints_expanded: int
    no_tool_call_error: bool
    constraint_not_violated: bool
    database_match: bool
    action_successfully_called: bool
    action_called_correctly: bool
    dirgraph_satisfied: bool
    success: bool
    profile: Profile
    content_dialect: ContentDialect
    card_dialect: CardDialect
    success_lenient: bool
    n_unoffered: int = 0
    refusal_justified: bool | None = None
    reasons: list[str] = []


class VerdictRow(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict with the identity of what it judges."""

    row_id: str
    task_id: str
    domain: str
    index: int
    agent: str
    attempt: int
    ending: Ending
    solvable: bool
    verdict: Verdict
