"""Oracle plans: the calls of an agent that knows the rules and follows them."""

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from assay.sopbench.defaults import Defaults
from assay.sopbench.domain import Procedure
from assay.sopbench.fitting import fitted
from assay.sopbench.graph import Need
from assay.sopbench.rows import PlannedCall, Task
from assay.sopbench.system import Strict, System, opened_session, succeeded
from assay.sopbench.walk import Plan, Walk, frozen, plans_of

_MAX_CALLS = 60


class Planner:
    """Finds plans for the tasks of one domain.

    Parameters
    ----------
    available : collection of str
        Functions that an agent may be offered; a plan uses no others.
    """

    def __init__(self, procedure: Procedure, available: Collection[str]) -> None:
        self.procedure = procedure
        self.available = frozenset(available)
        self.defaults = Defaults.of(procedure)

    def plan(self, task: Task) -> list[PlannedCall] | None:
        """Return a plan, or None if none was found.

        For a task that should succeed, the plan makes every verification that the graph demands and then calls the
        target, successfully. For one that should be refused, it makes the verifications that an agent may make, and
        stops.
        """
        search = _Search(self, task)
        known = task.user_known
        target = search.plan_of(task.user_goal)
        if not task.action_should_succeed:
            if target.need is not None:
                search.verify_what_can_be(target.need, _variables(target, known))
            return search.calls
        if target.need is not None and not search.satisfy(target.need, _variables(target, known), ()):
            return None
        arguments = _arguments(target, known, self.procedure.system)
        if not (search.call(task.user_goal, arguments) and search.last_succeeded):
            return None
        return search.shortest()


def _variables(plan: Plan, known: Mapping[str, Any]) -> dict[str, Any]:
    return {variable: known[variable] for _, variable in plan.call.bindings if variable in known} | dict(known)


def _arguments(plan: Plan, values: Mapping[str, Any], system: type[System]) -> dict[str, Any]:
    names = system.parameters[plan.call.name]
    bindings = plan.call.bindings or tuple((name, name) for name in names)
    return {parameter: values[variable] for parameter, variable in bindings if variable in values}


class _Search:
    """Calls made so far, carried out on a base and a strict system in step."""

    def __init__(self, planner: Planner, task: Task) -> None:
        self._planner = planner
        self._task = task
        procedure = planner.procedure
        check, graph = fitted(task, procedure)
        self._table = {**planner.defaults.table, task.user_goal: check}
        self._plans = plans_of(graph)
        self._state = msgspec.json.encode(task.initial_database)
        self.calls: list[PlannedCall] = []
        self.last_succeeded = False
        self._restart([])

    def _restart(self, calls: list[PlannedCall]) -> None:
        procedure = self._planner.procedure
        session = opened_session(
            procedure.system,
            procedure.session,
            msgspec.json.decode(self._state),
            self._task.constraint_parameters,
            careful=True,
        )
        self._base = procedure.system.opened(msgspec.json.decode(self._state))
        self._strict = Strict(session, self._table)
        defaults = self._planner.defaults
        self._walk = Walk(self._plans, defaults.plans, defaults.implied)
        self.calls = []
        self._learned: dict[str, Any] = {}
        for call in calls:
            self.call(call.name, call.arguments)

    def plan_of(self, name: str) -> Plan:
        """Return the node of the task's graph, else of the default graph."""
        return self._plans.get(name) or self._planner.defaults.plans[name]

    def call(self, name: str, arguments: dict[str, Any]) -> bool:
        """Make a call if it is offered, raises nowhere, breaks no rule and comes in order; else change nothing."""
        if name not in self._planner.available or len(self.calls) >= _MAX_CALLS:
            return False
        before = list(self.calls)
        try:
            result = self._base.call(name, msgspec.json.decode(msgspec.json.encode(arguments)))
            helper = not self._strict.has(name)
            allowed = helper or self._strict.call(name, msgspec.json.decode(msgspec.json.encode(arguments))) == result
        except Exception:  # noqa: BLE001 - whatever goes wrong, this call is not part of a plan
            allowed = False
        if not allowed or not self._walk.step(name, arguments):
            self._restart(before)
            return False
        self.calls.append(PlannedCall(name, arguments))
        self.last_succeeded = succeeded(result)
        self._learn(result)
        return True

    def _learn(self, result: Any) -> None:
        """Note the plain fields of a looked-up record: an agent may use what it was told (a student's major)."""
        record = result[1] if isinstance(result, tuple) and len(result) == 2 else None
        if isinstance(record, dict):
            self._learned |= {name: value for name, value in record.items() if isinstance(value, str | int | float)}

    def satisfy(self, need: Need, values: Mapping[str, Any], above: tuple[str, ...]) -> bool:
        """Make the calls that meet a need; on failure everything is as before."""
        if self._walk.holds(need, {name: frozen(value) for name, value in values.items()}):
            return True
        before = list(self.calls)
        if need.call is not None:
            if self._make(need, values, above):
                return True
        elif need.any_of:
            for child in sorted(need.children, key=_size):
                if self.satisfy(child, values, above):
                    return True
        elif all(self.satisfy(child, values, above) for child in need.children):
            return True
        self._restart(before)
        return False

    def _make(self, need: Need, values: Mapping[str, Any], above: tuple[str, ...]) -> bool:
        call = need.call
        if call is None or call.name in above:
            return False
        known = self._learned | dict(values)
        inner = {parameter: known[variable] for parameter, variable in call.bindings if variable in known}
        plan = self.plan_of(call.name)
        variables = {variable: inner[parameter] for parameter, variable in plan.call.bindings if parameter in inner}
        ready = plan.need is None or self.satisfy(plan.need, dict(values) | variables, (*above, call.name))
        return ready and self.call(call.name, inner)

    def shortest(self) -> list[PlannedCall]:
        """Leave out every call without which the plan still works: one that another call stands for."""
        kept = list(self.calls)
        for call in list(kept[:-1]):
            fewer = [other for other in kept if other is not call]
            self._restart(fewer)
            if self.calls == fewer and self.last_succeeded:
                kept = fewer
        return kept

    def verify_what_can_be(self, need: Need, values: Mapping[str, Any]) -> None:
        """Make, part by part, the calls towards a need that can be made; a part that cannot is left out."""
        if need.call is not None or need.any_of:
            self.satisfy(need, values, ())
            return
        for child in need.children:
            self.verify_what_can_be(child, values)


def _size(need: Need) -> int:
    return 1 if need.call is not None else 1 + sum(map(_size, need.children))
