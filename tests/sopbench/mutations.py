"""Single mutations of oracle plans, and why one of them may still pass."""

from collections.abc import Iterator
from typing import Any

from assay.sopbench.graph import Graph
from assay.sopbench.rows import PlannedCall, TaskRow
from assay.sopbench.scripted import people
from assay.sopbench.walk import Plan, plans_of

Plan_ = list[PlannedCall]


def mutations(row: TaskRow) -> Iterator[tuple[str, int, Plan_]]:
    """Yield (kind, number of the changed call, mutated plan)."""
    plan = list(row.plan or [])
    names = people(row)
    for number, call in enumerate(plan):
        yield "drop", number, plan[:number] + plan[number + 1 :]
        if number + 1 < len(plan):
            yield "swap with the target", number, [*plan[:number], plan[-1], *plan[number + 1 : -1], call]
        for name, value in call.arguments.items():
            changed = wrong(value)
            if changed is not None:
                arguments = {**call.arguments, name: changed}
                yield "wrong argument", number, [*plan[:number], PlannedCall(call.name, arguments), *plan[number + 1 :]]
            if value in names and len(names) > 1:
                other = names[(names.index(value) + 1) % len(names)]
                arguments = {**call.arguments, name: other}
                yield "other user", number, [*plan[:number], PlannedCall(call.name, arguments), *plan[number + 1 :]]


def neighbours(row: TaskRow) -> Iterator[tuple[str, int, Plan_]]:
    """Yield the plans in which two neighbouring calls are exchanged."""
    plan = list(row.plan or [])
    for number in range(len(plan) - 1):
        yield "neighbours", number, [*plan[:number], plan[number + 1], plan[number], *plan[number + 2 :]]


def wrong(value: Any) -> Any:
    """Return another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, int | float):
        return value + 1
    return None


def excuse(row: TaskRow, kind: str, number: int, mutated: Plan_) -> str | None:
    """Return the listed kind that explains why a mutation passes, or None."""
    plan = list(row.plan or [])
    plans = plans_of(Graph.decode(row.task.directed_action_graph))
    if kind == "neighbours":
        first, second = plan[number].name, plan[number + 1].name
        return None if requires(plans.get(second), first) else "unordered siblings"
    if kind == "drop":
        later = plan[number + 1 :]
        return None if any(requires(plans.get(call.name), plan[number].name) for call in later) else "not required"
    changed = [name for name, value in mutated[number].arguments.items() if value != plan[number].arguments[name]]
    node = plans.get(plan[number].name)
    read = any(reads(plans.get(call.name), plan[number].name, changed[0]) for call in plan[number + 1 :])
    if node is None or not read:
        return "not required"
    return None


def requires(plan: Plan | None, name: str) -> bool:
    """Return whether a function's requirement names another function."""
    return plan is not None and plan.need is not None and name in named(plan.need)


def named(need: Any) -> set[str]:
    if need.call is not None:
        return {need.call.name}
    return set().union(*(named(child) for child in need.children))


def reads(plan: Plan | None, name: str, parameter: str) -> bool:
    """Return whether a function's requirement looks at a parameter of another function under a variable it binds."""
    if plan is None or plan.need is None:
        return False
    bound = {variable for _, variable in plan.call.bindings}
    calls = [plan.need] if plan.need.call else list(plan.need.children)
    return any(
        call.call and call.call.name == name and dict(call.call.bindings).get(parameter) in bound for call in calls
    )
