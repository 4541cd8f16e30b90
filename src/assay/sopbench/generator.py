"""New tasks: a world, a request, and a rule that holds, or of which one chosen condition does not."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Any

import msgspec

from assay.canonical import derive_seed
from assay.errors import ConfigError, DataError
from assay.sopbench.domain import Domain
from assay.sopbench.expressions import Expression, Group, Single, encode, inverse, joined, singles
from assay.sopbench.graph import GraphBuilder
from assay.sopbench.planning import Planner
from assay.sopbench.rows import Task, TaskRow, task_text
from assay.sopbench.system import Check, Session, Strict, compile_rule, succeeded
from assay.sopbench.toolbox import offered_functions

_DRAWS = 150  # worlds drawn for one task before the next goal is tried
_ENOUGH = 8  # candidates among which a refused task is chosen
_KEEP_RATE = 0.75  # share of customizable conditions that a drawn rule keeps


@dataclass(frozen=True)
class _Ruled:
    """A drawn rule with everything that is made from it once."""

    rule: Expression | None
    expanded: Expression | None
    check: Check | None
    shown: Check | None  # the rule as the agent reads it, without dependencies
    graph: dict[str, object]
    links: tuple[str, ...]  # linked conditions that it names
    flips: tuple[tuple[str, Check], ...]  # condition -> the rule with that condition inverted


class TaskGenerator:
    """Draws tasks of one domain; the same seed gives the same tasks on every machine."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        procedure = domain.procedure
        self._builder = GraphBuilder(procedure.rules, procedure.system.parameters)
        self._planner = Planner(procedure, offered_functions(domain.toolbox))
        self._ruled = lru_cache(maxsize=None)(self._make_ruled)

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
            for number in range(count):
                task = next(found, None)
                if task is None:
                    kind = "succeed" if succeed else "be refused"
                    raise DataError(f"{self.domain.name} gives {number} tasks that should {kind}", expected=f"{count}")
                rows.append(self._row(task, len(rows)))
        return rows

    def _row(self, task: Task, index: int) -> TaskRow:
        return TaskRow.of(self.domain.name, index, task, self._planner.plan(task))

    def _distinct(self, seed: int, succeed: bool) -> Iterator[Task]:
        seen: set[str] = set()
        goals = list(self.domain.scenario.wishes)
        number = 0
        while goals:
            for goal in list(goals):
                draw = Random(derive_seed("sopbench-task", self.domain.name, seed, goal, succeed, number))
                task = self.task(draw, goal, succeed)
                if task is None:
                    goals.remove(goal)
                elif (identity := task_text(task)) not in seen:
                    seen.add(identity)
                    yield task
            number += 1

    def task(self, draw: Random, goal: str, succeed: bool) -> Task | None:
        """Draw one task of a goal, or None if none is found."""
        if not succeed and not self._ruled(self.domain.procedure.rules.default(goal), goal).flips:
            return None
        by_violation: dict[str, list[Task]] = {}
        for _ in range(_DRAWS):
            task, violated = self._drawn(draw, goal, succeed)
            if task is None:
                continue
            if succeed:
                if self._planner.plan(task) is not None:
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
        scenario, limits = self.domain.scenario, self.domain.procedure.rules.limits
        ruled = self._ruled(self._rule(draw, goal), goal)
        state = scenario.world(draw)
        known = scenario.request(draw, state, goal)
        violated = self._violated(ruled, goal, state, known)
        if violated is None or (violated == "") is not succeed:
            return None, ""
        task = Task(
            user_goal=goal,
            initial_database=state,
            constraint_parameters=dict(limits),
            user_known=known,
            constraints_original=encode(ruled.rule),  # type: ignore[arg-type]
            constraints=encode(ruled.expanded),  # type: ignore[arg-type]
            action_should_succeed=succeed,
            directed_action_graph=ruled.graph,
            user_instruction=f"You want to {_wish(scenario.wishes[goal], known)}.",
            user_prompt=_prompt(scenario.wishes[goal], known),
        )
        return task, violated

    def _rule(self, draw: Random, goal: str) -> Expression | None:
        """Draw a rule: all that is required, and each customizable condition three times out of four."""
        rules = self.domain.procedure.rules
        required = [rules.required[goal]] if goal in rules.required else []
        free = rules.customizable.get(goal)
        members = free.children if isinstance(free, Group) and free.kind == "and" else (free,) if free else ()
        return joined("and", [*required, *(member for member in members if draw.random() < _KEEP_RATE)])

    def _make_ruled(self, rule: Expression | None, goal: str) -> _Ruled:
        rules = self.domain.procedure.rules
        named = list(dict.fromkeys(singles(rule)))
        flips: list[tuple[str, Check]] = []
        for single in named:
            check = None
            if rule is not None and single.name not in rules.links:
                check = self._compiled(rules.expanded(_flipped(rule, single)))
            if check is not None:
                flips.append((("not " if single.negated else "") + single.name, check))
        expanded = rules.expanded(rule)
        links = tuple(sorted({single.name for single in named if single.name in rules.links}))
        graph = self._builder.build(goal, rule).encode()
        return _Ruled(rule, expanded, self._compiled(expanded), self._compiled(rule), graph, links, tuple(flips))

    def _compiled(self, rule: Expression | None) -> Check | None:
        return compile_rule(rule, self.domain.procedure.session, self.domain.procedure.system)

    def _violated(self, ruled: _Ruled, goal: str, state: dict[str, Any], known: dict[str, Any]) -> str | None:
        """Return the one condition whose truth value refuses the request, "" if it may be carried out, else None."""
        procedure = self.domain.procedure
        session = procedure.session(procedure.system.opened(_copied(state)), procedure.rules.limits, careful=True)
        strict = Strict(session, {**self._planner.defaults.table, goal: ruled.check})
        try:
            if not self._established(strict, ruled, known):
                return None
            if ruled.check is None or ruled.check(session, known):
                names = procedure.system.parameters[goal]
                done = strict.call(goal, _copied({name: known[name] for name in names if name in known}))
                return "" if succeeded(done) else None
            # What fails must be a condition that the agent is shown, not one that another depends on.
            if _holds(ruled.shown, session, known):
                return None
            return next((name for name, check in ruled.flips if check(session, known)), None)
        except Exception:  # noqa: BLE001 - a draw on which something raises is no clear task
            return None

    def _established(self, strict: Strict, ruled: _Ruled, known: dict[str, Any]) -> bool:
        """Do what the linked conditions ask for: log in and authenticate with what the user knows."""
        rules, parameters = self.domain.procedure.rules, self.domain.procedure.system.parameters
        waiting = {name: rules.links[name] for name in rules.links}
        for _ in rules.links:  # one may need another, as authenticating needs a login
            for name, action in list(waiting.items()):
                given = {parameter: known[parameter] for parameter in parameters[action.name] if parameter in known}
                if len(given) == len(parameters[action.name]) and succeeded(strict.call(action.name, _copied(given))):
                    del waiting[name]
        return not any(name in waiting for name in ruled.links)


def _copied(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _holds(check: Check | None, session: Session, known: dict[str, Any]) -> bool:
    """Return whether a rule holds; one that cannot be evaluated does not."""
    try:
        return check is None or check(session, known)
    except Exception:  # noqa: BLE001 - a condition on what does not exist does not hold
        return False


def _flipped(rule: Expression, single: Single) -> Expression:
    """Return the rule with one check inverted."""
    if isinstance(rule, Single):
        return inverse(rule) if rule == single else rule
    return Group(rule.kind, tuple(_flipped(child, single) for child in rule.children))


def _wish(wish: str, known: dict[str, Any]) -> str:
    try:
        return wish.format(**{name: _shown(value) for name, value in known.items()})
    except (KeyError, IndexError) as error:
        raise ConfigError(f"the wish {wish!r} names what the request does not draw", key=str(error)) from error


def _prompt(wish: str, known: dict[str, Any]) -> str:
    facts = "; ".join(f"{name} is {_shown(value)}" for name, value in known.items())
    return f"Hello, I would like to {_wish(wish, known)}. What I know: {facts}."


def _shown(value: Any) -> str:
    return msgspec.json.encode(value).decode() if isinstance(value, dict | list | bool) else str(value)
