"""New tasks: a world, a request, and a rule that holds, or of which one chosen condition does not."""

from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec

from assay.canonical import derive_seed
from assay.errors import DataError
from assay.sopbench.domain import Domain
from assay.sopbench.expressions import Expression, Group, Single, decode, encode, inverse, joined, singles
from assay.sopbench.graph import GraphBuilder
from assay.sopbench.planning import Planner
from assay.sopbench.rows import Task, TaskRow, task_identity
from assay.sopbench.system import Check, Session, Strict, compile_rule, default_table
from assay.sopbench.toolbox import offered_functions

_DRAWS = 400  # worlds drawn for one task before the next goal is tried
_ENOUGH = 12  # different candidates among which a refused task is chosen


class TaskGenerator:
    """Draws tasks of one domain; the same seed gives the same tasks on every machine."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        procedure = domain.procedure
        self._builder = GraphBuilder(procedure.rules, procedure.system.parameters)
        self._table = default_table(procedure.rules, procedure.session, procedure.system)
        self.planner = Planner(procedure, offered_functions(domain.toolbox))

    def tasks(self, seed: int, n_succeed: int, n_refuse: int) -> list[TaskRow]:
        """Return tasks that should succeed, then tasks that should be refused, in a fixed order.

        Goals take turns. A goal for which no task of the wanted kind is found (it has no condition that can fail, or
        no plan) is passed over.

        Raises
        ------
        DataError
            If the domain cannot give as many different tasks.
        """
        rows: list[TaskRow] = []
        for succeed, count in ((True, n_succeed), (False, n_refuse)):
            found = self._distinct(seed, succeed)
            for _ in range(count):
                task = next(found, None)
                if task is None:
                    kind = "succeed" if succeed else "be refused"
                    raise DataError(f"{self.domain.name} gives fewer than {count} tasks that should {kind}")
                rows.append(self._row(task, len(rows)))
        return rows

    def _row(self, task: Task, index: int) -> TaskRow:
        plan = self.planner.plan(task)
        name = self.domain.name
        return TaskRow(task_id=task_identity(name, task), domain=name, index=index, task=task, plan=plan)

    def _distinct(self, seed: int, succeed: bool) -> Iterator[Task]:
        seen: set[str] = set()
        empty_rounds = number = 0
        while empty_rounds < 3:
            before = len(seen)
            for goal in self.domain.scenario.wishes:
                draw = Random(derive_seed("sopbench-task", self.domain.name, seed, goal, succeed, number))
                task = self.task(draw, goal, succeed)
                if task is not None and (identity := task_identity(self.domain.name, task)) not in seen:
                    seen.add(identity)
                    yield task
            number += 1
            empty_rounds = empty_rounds + 1 if len(seen) == before else 0

    def task(self, draw: Random, goal: str, succeed: bool) -> Task | None:
        """Draw one task of a goal, or None if none is found."""
        by_violation: dict[str, list[Task]] = {}
        for _ in range(_DRAWS):
            task, violated = self._drawn(draw, goal, succeed)
            if task is None:
                continue
            if succeed:
                if self.planner.plan(task) is not None:
                    return task
                continue
            by_violation.setdefault(violated, []).append(task)
            if sum(map(len, by_violation.values())) >= _ENOUGH:
                break
        if not by_violation:
            return None
        # Conditions that fail often by chance must not crowd out the others.
        return draw.choice(by_violation[draw.choice(sorted(by_violation))])

    def _drawn(self, draw: Random, goal: str, succeed: bool) -> tuple[Task | None, str]:
        scenario, procedure = self.domain.scenario, self.domain.procedure
        state = scenario.world(draw)
        known = scenario.request(draw, state, goal)
        rule = self._rule(draw, goal)
        task = Task(
            user_goal=goal,
            initial_database=state,
            constraint_parameters=dict(procedure.rules.limits),
            user_known=known,
            constraints_original=encode(rule),  # type: ignore[arg-type]
            constraints=encode(procedure.rules.expanded(rule)),  # type: ignore[arg-type]
            action_should_succeed=succeed,
            directed_action_graph=self._builder.build(goal, rule).encode(),
            user_instruction=_wish(scenario.wishes[goal], known),
            user_prompt=_prompt(scenario.wishes[goal], known),
        )
        violated = self._violated(task, rule)
        if violated is None or (violated == "") is not succeed:
            return None, ""
        return task, violated

    def _rule(self, draw: Random, goal: str) -> Expression | None:
        """Draw a rule: all that is required, and each customizable condition three times out of four."""
        rules = self.domain.procedure.rules
        required = [rules.required[goal]] if goal in rules.required else []
        free = rules.customizable.get(goal)
        members = free.children if isinstance(free, Group) and free.kind == "and" else (free,) if free else ()
        return joined("and", [*required, *(member for member in members if draw.random() < 0.75)])

    def _violated(self, task: Task, rule: Expression | None) -> str | None:
        """Return the one condition whose truth value refuses the task, "" if it may be carried out, else None."""
        strict, session = self._opened(task)
        try:
            if not self._established(strict, task):
                return None
            check = self._compiled(self.domain.procedure.rules.expanded(rule))
            if check is None or check(session, task.user_known):
                done = strict.call(task.user_goal, _copied(self._given(task)))
                return "" if _succeeded(done) else None
            return self._only_reason(rule, session, task)
        except Exception:  # noqa: BLE001 - a draw on which something raises is no clear task
            return None

    def _only_reason(self, rule: Expression | None, session: Session, task: Task) -> str | None:
        linked = self.domain.procedure.rules.links
        for single in dict.fromkeys(singles(rule)):
            if single.name in linked or rule is None:
                continue
            check = self._compiled(self.domain.procedure.rules.expanded(_flipped(rule, single)))
            if check is not None and check(session, task.user_known):
                return ("not " if single.negated else "") + single.name
        return None

    def _compiled(self, rule: Expression | None) -> Check | None:
        return compile_rule(rule, self.domain.procedure.session, self.domain.procedure.system)

    def _opened(self, task: Task) -> tuple[Strict, Session]:
        procedure = self.domain.procedure
        system = procedure.open(_copied(task.initial_database))
        session = procedure.session(system, task.constraint_parameters, careful=True)
        target = self._compiled(decode(task.constraints))
        return Strict(session, {**self._table, task.user_goal: target}), session

    def _given(self, task: Task) -> dict[str, Any]:
        names = self.domain.procedure.system.parameters[task.user_goal]
        return {name: task.user_known[name] for name in names if name in task.user_known}

    def _established(self, strict: Strict, task: Task) -> bool:
        """Do what the linked conditions ask for: log in and authenticate with what the user knows."""
        rules, parameters = self.domain.procedure.rules, self.domain.procedure.system.parameters
        waiting = list(rules.links.values())
        for _ in rules.links:
            for action in list(waiting):
                given = {name: task.user_known[name] for name in parameters[action.name] if name in task.user_known}
                if len(given) == len(parameters[action.name]) and _succeeded(strict.call(action.name, _copied(given))):
                    waiting.remove(action)
        needed = {single.name for single in singles(decode(task.constraints))}
        return not any(name in needed and action in waiting for name, action in rules.links.items())


def _copied(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _succeeded(result: Any) -> bool:
    return bool(result[0] if isinstance(result, tuple) else result)


def _flipped(rule: Expression, single: Single) -> Expression:
    """Return the rule with one check inverted."""
    if isinstance(rule, Single):
        return inverse(rule) if rule == single else rule
    return Group(rule.kind, tuple(_flipped(child, single) for child in rule.children))


def _wish(wish: str, known: dict[str, Any]) -> str:
    return "You want to " + wish.format(**{name: _shown(value) for name, value in known.items()}) + "."


def _prompt(wish: str, known: dict[str, Any]) -> str:
    facts = "; ".join(f"{name} is {_shown(value)}" for name, value in known.items())
    return (
        "Hello, I would like to " + wish.format(**{k: _shown(v) for k, v in known.items()}) + f". What I know: {facts}."
    )


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list | bool) else str(value)
