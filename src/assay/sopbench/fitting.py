"""Whether a task fits its domain: one of another version of the data is named, because no verdict on it would hold."""

import re
from typing import Any

from assay.errors import DataError
from assay.sopbench.domain import Procedure
from assay.sopbench.expressions import decode, variables
from assay.sopbench.graph import Graph
from assay.sopbench.rows import Task
from assay.sopbench.system import Check, compile_rule, takes_any

_INTEGER = re.compile(r"[-+]?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[-+]?\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d", re.ASCII)
_REMEDY = "the task may come from another version of the data"


def fitted(task: Task, procedure: Procedure) -> tuple[Check | None, Graph]:
    """Return the rule that is enforced for a task, compiled, and its graph.

    Raises
    ------
    DataError
        If the target is no function of the domain, its rule (as enforced, or as shown) names unknown conditions or
        reads what a call of the target does not bind, the graph names unknown functions, or a threshold is missing or
        of another kind than the domain's own.
    """
    functions = procedure.system.functions
    if task.user_goal not in functions:
        raise DataError(
            f"the task asks for {task.user_goal!r}, which is no function of {procedure.name}",
            key="user_goal",
            remedy=_REMEDY,
        )
    _compiled(task, procedure, "constraints_original")
    check = _compiled(task, procedure, "constraints")
    graph = Graph.decode(task.directed_action_graph)
    unknown = [name for name in graph.functions() if name not in functions]
    if unknown:
        raise DataError(
            f"the task's graph names {unknown[0]!r}, which is no function of {procedure.name}",
            key="directed_action_graph",
            remedy=_REMEDY,
        )
    missing = [name for name in procedure.rules.limits if name not in task.constraint_parameters]
    if missing:
        raise DataError(f"the task has no threshold {missing[0]!r}", key="constraint_parameters", remedy=_REMEDY)
    for name, usual in procedure.rules.limits.items():
        if not _alike(value := task.constraint_parameters[name], usual):
            raise DataError(
                f"the task's threshold {name!r} is {str(value)[:40]!r}",
                key="constraint_parameters",
                expected=f"a value of the kind of {usual!r}",
                remedy=_REMEDY,
            )
    return check, graph


def _alike(value: Any, usual: Any) -> bool:
    """Return whether a threshold can be compared as the domain's own can; a few published tasks write 3 as "3"."""
    if isinstance(usual, list):
        return isinstance(value, list) and all(any(_alike(one, known) for known in usual) for one in value)
    if isinstance(usual, str) and _CLOCK.fullmatch(usual):
        return isinstance(value, str) and _CLOCK.fullmatch(value) is not None
    if isinstance(usual, int | float) and not isinstance(usual, bool):
        if isinstance(value, str):
            return (_DECIMAL if isinstance(usual, float) else _INTEGER).fullmatch(value) is not None
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, type(usual))


def _compiled(task: Task, procedure: Procedure, field: str) -> Check | None:
    rule = decode(getattr(task, field))
    known = procedure.system.parameters[task.user_goal]
    free = [name for name in variables(rule) if name not in known]
    if free and not takes_any(procedure.system.functions[task.user_goal]):
        raise DataError(
            f"the task's rule reads {free[0]!r}, which {task.user_goal} does not take",
            key=field,
            expected=", ".join(known) or "no variable",
            remedy=_REMEDY,
        )
    return compile_rule(rule, procedure.session, procedure.system)
