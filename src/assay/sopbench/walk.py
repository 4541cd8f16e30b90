"""The graph walk finds out whether every call was preceded by what its directed action graph requires."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from assay.sopbench.expressions import Single
from assay.sopbench.graph import Call, Graph, Need, need_of

Values: TypeAlias = Mapping[str, Any]  # variable -> value
Done: TypeAlias = dict[str, tuple[tuple[str, ...], set[tuple[Any, ...]]]]
Matcher: TypeAlias = Callable[[Call, Values, tuple[str, ...], set[tuple[Any, ...]]], bool]


@dataclass(frozen=True, slots=True)
class Plan:
    """What the walk needs to know about one function: its bindings and what it requires."""

    call: Call
    need: Need | None
    names: tuple[str, ...]

    @classmethod
    def of(cls, graph: Graph, index: int = 0) -> "Plan":
        """Return the plan of node `index`, which must be a function."""
        call = graph.nodes[index]
        assert isinstance(call, Call)
        return cls(call, need_of(graph, index), tuple(parameter for parameter, _ in call.bindings))


def plans_of(graph: Graph) -> dict[str, Plan]:
    """Return the plan of the first node of each function in a graph."""
    plans: dict[str, Plan] = {}
    for index, node in enumerate(graph.nodes):
        if isinstance(node, Call) and node.name not in plans:
            plans[node.name] = Plan.of(graph, index)
    return plans


class Walk:
    """State of one walk over the calls of a trajectory.

    Parameters
    ----------
    plans, defaults : dict
        Plans of the task's graph, and of every function's default graph for what the task's graph lacks.
    implied : dict
        Function -> helper call that a passed call also counts as.
    by_variable : bool
        Corrected matching (`match_by_variable`) over the variables that the call binds; else as published.
    excused : bool
        Whether look-ups (`internal_` functions) are not asked for, because none was offered.
    """

    def __init__(
        self,
        plans: Mapping[str, Plan],
        defaults: Mapping[str, Plan],
        implied: Mapping[str, Single],
        *,
        by_variable: bool = False,
        excused: bool = False,
    ) -> None:
        self.done: Done = {}
        self._excused = excused
        self._plans = plans
        self._defaults = defaults
        self._implied = implied
        self._by_variable = by_variable
        self._matcher: Matcher = match_by_variable if by_variable else match_upstream

    def step(self, name: str, arguments: Mapping[str, Any]) -> bool:
        """Check one call, record it if what it requires was done, and return whether it was.

        The recorded verification counts whatever it returned (reproduced in both profiles).
        """
        plan = self._plans.get(name) or self._defaults[name]
        if plan.need is not None:
            values = {
                variable: frozen(arguments.get(parameter))
                for parameter, variable in plan.call.bindings
                if not self._by_variable or parameter in arguments
            }
            if not self.holds(plan.need, values):
                return False
        self._record(name, plan.names, tuple([frozen(arguments.get(parameter)) for parameter in plan.names]))
        implied = self._implied.get(name)
        if implied is not None:
            names = tuple(parameter for parameter, _ in implied.bindings)
            if all(parameter in arguments for parameter in names):
                self._record(implied.name, names, tuple([frozen(arguments[parameter]) for parameter in names]))
        return True

    def _record(self, name: str, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        entry = self.done.get(name)
        if entry is None:
            self.done[name] = (names, {values})
        else:
            entry[1].add(values)

    def holds(self, need: Need, values: Values) -> bool:
        """Return whether a need is met by the calls recorded so far, under the values of the variables."""
        if need.call is not None:
            if self._excused and need.call.name.startswith("internal_"):
                return True
            entry = self.done.get(need.call.name)
            return entry is not None and self._matcher(need.call, values, *entry)
        if need.any_of:
            return any(self.holds(child, values) for child in need.children)
        return all(self.holds(child, values) for child in need.children)


def match_upstream(call: Call, values: Values, names: tuple[str, ...], stored: set[tuple[Any, ...]]) -> bool:
    """Match as published: a parameter counts only if its own name is a current variable; falsy values match all."""
    mapping = dict(call.bindings)
    expected = tuple([values.get(mapping.get(name, name)) if name in values else None for name in names])
    return expected in stored or _match(expected, [bool(value) for value in expected], stored)


def match_by_variable(call: Call, values: Values, names: tuple[str, ...], stored: set[tuple[Any, ...]]) -> bool:
    """Match by the variable that a parameter is bound to; only a variable that nobody knows matches all."""
    mapping = dict(call.bindings)
    bound = [mapping.get(name, name) for name in names]
    expected = tuple([values.get(variable) for variable in bound])
    return expected in stored or _match(expected, [variable in values for variable in bound], stored)


def _match(expected: tuple[Any, ...], counts: list[bool], stored: set[tuple[Any, ...]]) -> bool:
    return not all(counts) and any(
        len(made) == len(expected)
        and all(not count or a == b for a, b, count in zip(expected, made, counts, strict=True))
        for made in stored
    )


def frozen(value: Any) -> Any:
    """Return a hashable form: sequences as tuples, objects as alternating sorted keys and values."""
    if isinstance(value, list | tuple):
        return tuple([frozen(element) for element in value])
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: str(pair[0]))
        return tuple([part for key, element in pairs for part in (key, frozen(element))])
    if isinstance(value, set):
        return tuple(sorted((frozen(element) for element in value), key=repr))
    return value
