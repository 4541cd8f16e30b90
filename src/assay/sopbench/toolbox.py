"""Which tools an agent is offered, and in which form."""

from collections.abc import Collection
from random import Random
from typing import Any

from assay.canonical import derive_seed
from assay.sopbench.domain import Tool, Toolbox

EXIT = Tool(
    "exit_conversation",
    "End the conversation, when the request is handled or cannot be handled.",
    {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
)


def offered_functions(toolbox: Toolbox, *, unpublished: bool = False) -> list[str]:
    """Return the names of the functions that the full tool list offers."""
    return [tool.name for tool in offered_tools(toolbox, unpublished=unpublished)]


def offered_tools(
    toolbox: Toolbox, *, only: Collection[str] | None = None, unpublished: bool = False, services_only: bool = False
) -> list[Tool]:
    """Return tools in their order, without hidden ones.

    Parameters
    ----------
    only : collection of str, optional
        The oracle list: functions that occur in the task's graph.
    unpublished : bool
        Whether to offer functions that the published data has no schema for.
    services_only : bool
        Program mode: no `internal_` helpers.
    """
    closed = set(toolbox.hidden) | (set() if unpublished else set(toolbox.unpublished))
    return [
        tool
        for tool in toolbox.tools
        if tool.name not in closed
        and (only is None or tool.name in only)
        and not (services_only and tool.name.startswith("internal_"))
    ]


def shuffled(tools: list[Tool], seed: int, task_id: str) -> list[Tool]:
    """Return tools in an order that depends on seed and task alone."""
    order = list(tools)
    Random(derive_seed("sopbench-tool-order", seed, task_id)).shuffle(order)
    return order


def with_distractors(tools: list[Tool], own: Toolbox, others: list[Toolbox], count: int, task_id: str) -> list[Tool]:
    """Return the tools and `count` services of other domains, which do not exist here; drawn for each task.

    A name of the domain itself, hidden or not, is no distractor.
    """
    taken = {tool.name for tool in own.tools} | {EXIT.name}
    pool: dict[str, Tool] = {}
    for toolbox in others:
        for tool in offered_tools(toolbox, services_only=True):
            if tool.name not in taken:
                pool.setdefault(tool.name, tool)
    draw = Random(derive_seed("sopbench-distractors", task_id))
    return [*tools, *(pool[name] for name in draw.sample(sorted(pool), min(count, len(pool))))]


def function_schemas(tools: list[Tool]) -> list[dict[str, Any]]:
    """Return tools in the common function-calling form."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in tools
    ]
