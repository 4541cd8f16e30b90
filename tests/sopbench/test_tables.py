"""The rule tables, graphs and tools of the seven domains against the reference tables and task files."""

import json
from itertools import product
from typing import Any

import pytest

from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.conformance import read_replays
from assay.sopbench.expressions import Expression, Group, Single, decode, singles
from assay.sopbench.graph import Call, Graph, GraphBuilder
from assay.sopbench.parts import DOMAINS
from assay.sopbench.system import compile_rule
from assay.sopbench.tasks import load_tasks

NAMES = sorted(PROCEDURES)


@pytest.mark.parametrize("name", NAMES)
def test_rule_tables(name: str, tables: dict[str, Any]) -> None:
    rules, table = PROCEDURES[name].rules, tables[name]
    for function in table["function_parameters"]:
        assert rules.innate.get(function) == decode(table["innate"].get(function))
        assert rules.required.get(function) == decode(table["required"].get(function))
        free = table["customizable"].get(function)
        listed = free is not None and not isinstance(free[0], str)
        expected = Group("and", tuple(e for e in map(decode, free) if e)) if listed else decode(free)
        assert rules.customizable.get(function) == expected
    for ours, theirs in ((rules.dependencies, "constraint_dependencies"), (rules.processes, "constraint_processes")):
        assert ours == {key: decode(value) for key, value in table[theirs].items() if value is not None}
    assert {key: [link.name, link.mapping] for key, link in rules.links.items()} == table["constraint_links"]
    assert rules.limits == table["default_parameters"]


@pytest.mark.parametrize("name", NAMES)
def test_published_default_rules(name: str, tables: dict[str, Any]) -> None:
    for function, expected in tables[name]["default_full_expanded"].items():
        assert PROCEDURES[name].rules.published_default(function) == decode(expected), function


@pytest.mark.parametrize("name", NAMES)
def test_implied_calls(name: str, tables: dict[str, Any]) -> None:
    procedure = PROCEDURES[name]
    for function, expected in tables[name]["implied_calls"].items():
        call = procedure.rules.implied(function, procedure.system.functions)
        got = {} if call is None else {call.name: [[p for p, _ in call.bindings], [[v for _, v in call.bindings]]]}
        assert got == expected, function


@pytest.mark.parametrize("name", NAMES)
def test_functions_parameters_and_tools(name: str, tables: dict[str, Any]) -> None:
    table, toolbox = tables[name], DOMAINS[name].toolbox
    assert {f: list(p) for f, p in PROCEDURES[name].system.parameters.items()} == table["function_parameters"]
    assert sorted(toolbox.hidden) == sorted(table["hidden_from_agent"])
    assert sorted(toolbox.unpublished) == sorted(table["functions_without_schema"])
    ours = {tool.name: bare(tool.parameters) for tool in toolbox.tools if tool.name not in toolbox.unpublished}
    assert ours == {tool["name"]: bare(tool["parameters"]) for tool in table["tools"]}


def bare(schema: Any) -> Any:
    """Return a schema without descriptions, order of names left out."""
    if isinstance(schema, dict):
        return {k: bare(v) for k, v in schema.items() if not (k == "description" and isinstance(v, str))}
    if isinstance(schema, list):
        return sorted(map(bare, schema), key=json.dumps)
    return schema


def test_counts_of_tools() -> None:
    """Stated per definition: with a published schema, visible, and described at all."""
    with_schema = [t.name for d in DOMAINS.values() for t in d.toolbox.tools if t.name not in d.toolbox.unpublished]
    assert len(with_schema) == 175
    assert sum(name.startswith("internal_") for name in with_schema) == 74
    assert sum(len(d.toolbox.tools) for d in DOMAINS.values()) == 178
    assert len(with_schema) - sum(len(d.toolbox.hidden) for d in DOMAINS.values()) == 169


def unfolded(graph: Graph, index: int = 0) -> Any:
    """Return what a graph means: calls and sets, same-kind nesting merged, numbering left out."""
    node = graph.nodes[index]
    children = [end for start, end in graph.connections if start == index]
    if isinstance(node, Call):
        assert len(children) <= 1
        return (node, *(unfolded(graph, child) for child in children))
    members: set[Any] = set()
    for child in children:
        inner = unfolded(graph, child)
        members |= inner[1] if inner[0] == node else {inner}
    return (node, frozenset(members))


@pytest.mark.parametrize("name", NAMES)
def test_default_graphs(name: str, tables: dict[str, Any]) -> None:
    procedure = PROCEDURES[name]
    builder = GraphBuilder(procedure.rules, procedure.system.parameters)
    for function, expected in tables[name]["default_graphs"].items():
        assert unfolded(builder.default(function)) == unfolded(Graph.decode(expected)), function


@pytest.mark.parametrize("name", NAMES)
def test_task_graphs(name: str, vectors: Any) -> None:
    procedure = PROCEDURES[name]
    builder = GraphBuilder(procedure.rules, procedure.system.parameters)
    for row in load_tasks(vectors / "tasks", name):
        built = builder.build(row.task.user_goal, decode(row.task.constraints_original))
        assert unfolded(built) == unfolded(Graph.decode(row.task.directed_action_graph)), row.index


def test_all_tasks_load(vectors: Any) -> None:
    rows = {name: load_tasks(vectors / "tasks", name) for name in NAMES}
    everything = [row for part in rows.values() for row in part]
    assert len(everything) == 903
    assert sum(row.task.action_should_succeed for row in everything) == 321
    assert len({row.task.user_goal for row in rows["bank"]}) == 23
    assert len({(row.domain, row.task.user_goal) for row in everything}) == 103


def equal_truth(first: Expression | None, second: Expression | None) -> bool:
    """Compare two rules as boolean functions of their checks."""
    atoms = sorted({(s.name, s.bindings) for rule in (first, second) for s in singles(rule)})
    if len(atoms) > 14:
        return first == second or all(
            truth(first, values) == truth(second, values) for values in some_assignments(atoms)
        )
    combinations = (dict(zip(atoms, values, strict=True)) for values in product((True, False), repeat=len(atoms)))
    return all(truth(first, values) == truth(second, values) for values in combinations)


def some_assignments(atoms: list[Any]) -> Any:
    """Yield all assignments with at most three false, and with at most two true."""
    from itertools import combinations

    for base, most in ((True, 3), (False, 2)):
        for count in range(most + 1):
            for changed in combinations(atoms, count):
                yield {atom: (not base if atom in changed else base) for atom in atoms}


def truth(rule: Expression | None, values: dict[Any, bool]) -> bool:
    if rule is None:
        return True
    if isinstance(rule, Single):
        return values[rule.name, rule.bindings] is not rule.negated
    results = [truth(child, values) for child in rule.children]
    return all(results) if rule.kind in ("and", "chain") else any(results)


def test_task_constraints_are_the_expansion(vectors: Any) -> None:
    """Equal in 872 tasks; 31 of the library also hold the existence checks of a helper that they use."""
    different = []
    known: dict[str, bool] = {}  # many tasks share their rules
    for name in NAMES:
        for row in load_tasks(vectors / "tasks", name):
            rules = json.dumps([name, row.task.constraints_original, row.task.constraints])
            ours = PROCEDURES[name].rules.expanded(decode(row.task.constraints_original))
            if rules not in known:
                known[rules] = equal_truth(ours, decode(row.task.constraints))
            if not known[rules]:
                different.append((name, row.task.user_goal))
    assert len(different) == 31
    assert {goal for _, goal in different} == {"add_book", "borrow_book", "remove_book", "reserve_room"}


@pytest.mark.parametrize("name", NAMES)
def test_functions_check_the_innate_rule_that_the_table_declares(name: str, vectors: Any) -> None:
    """Where the declared rule is false, the function refuses and the state stays; seen on all constructed calls."""
    procedure = PROCEDURES[name]
    tasks = [row.task for row in load_tasks(vectors / "tasks", name)]
    refused = 0
    for row in read_replays(vectors / "constructed_traces.jsonl.xz"):
        if row.domain != name or row.task_index % 3:
            continue
        task = tasks[row.task_index]
        for call in row.calls:
            rule = procedure.rules.innate.get(call["name"])
            try:
                arguments = json.loads(call["arguments"])
                state = json.loads(json.dumps(task.initial_database))
                system = procedure.system(state)
                check = compile_rule(rule, procedure.session, procedure.system)
                holds = check is None or check(procedure.session(system, task.constraint_parameters), arguments)
                result = system.call(call["name"], arguments)
            except Exception:  # noqa: BLE001 - calls on what does not exist raise; they show nothing here
                continue
            if not holds and not (name == "healthcare" and call["name"] == "login_user"):
                refused += 1
                assert result is False or (isinstance(result, tuple) and result[0] is False), call
                assert state == task.initial_database
    assert refused > 0
