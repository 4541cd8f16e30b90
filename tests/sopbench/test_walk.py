"""Graphs and the walk over the calls of a trajectory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import DataError
from assay.sopbench.expressions import parse
from assay.sopbench.graph import Call, Graph, GraphBuilder
from assay.sopbench.rules import Rules
from assay.sopbench.walk import Plan, Walk, frozen, match_by_variable, match_upstream, plans_of

USER = (("user", "user"),)


def graph(edges: dict[int, list[int]], count: int) -> Graph:
    """Return a graph of `count` functions in which each requires all of its edges, and a target that requires all."""
    nodes: list[Call | str] = [Call("target", USER), *(Call(f"f{number}", USER) for number in range(count))]
    connections: list[tuple[int, int]] = []
    for start, ends in {
        **{number + 1: [e + 1 for e in edges.get(number, [])] for number in range(count)},
        0: list(range(1, count + 1)),
    }.items():
        if len(ends) == 1:
            connections.append((start, ends[0]))
        elif ends:
            nodes.append("and")
            connections.append((start, len(nodes) - 1))
            connections += [(len(nodes) - 1, end) for end in ends]
    return Graph(tuple(nodes), tuple(connections))  # type: ignore[arg-type]


def accepted(made: Graph, order: list[int]) -> bool:
    walk = Walk(plans_of(made), {}, {})
    steps = [walk.step(f"f{number}", {"user": "ana"}) for number in order]
    return all([*steps, walk.step("target", {"user": "ana"})])


@given(st.data())
def test_the_graph_accepts_exactly_the_linear_extensions(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 5))
    edges = {
        number: data.draw(st.lists(st.integers(0, number - 1), unique=True)) if number else []
        for number in range(count)
    }
    order = data.draw(st.permutations(range(count)))
    extension = all(
        order.index(before) < order.index(number) for number, befores in edges.items() for before in befores
    )
    made = graph(edges, count)
    assert accepted(made, list(order)) is extension
    for left_out in range(count):
        assert not accepted(made, [number for number in order if number != left_out])


def test_an_or_needs_one_of_its_calls() -> None:
    made = Graph.decode(
        {
            "nodes": [["t", {"user": "user"}], "or", ["a", {}], ["b", {"user": "user"}]],
            "connections": [[0, 1], [1, 2], [1, 3]],
        }
    )
    for calls, fine in (([], False), (["a"], True), (["b"], True)):
        walk = Walk(plans_of(made), {}, {})
        for name in calls:
            walk.step(name, {"user": "ana"})
        assert walk.step("t", {"user": "ana"}) is fine


def test_another_value_does_not_count() -> None:
    made = graph({}, 1)
    walk = Walk(plans_of(made), {}, {})
    walk.step("f0", {"user": "bea"})
    assert not walk.step("target", {"user": "ana"})


def test_falsy_values_are_wildcards_only_as_published() -> None:
    need = Call("f", (("amount", "amount"), ("user", "user")))
    stored = {(5, "ana")}
    values = {"user": "ana", "amount": 0}
    assert match_upstream(need, values, ("amount", "user"), stored)
    assert not match_by_variable(need, values, ("amount", "user"), stored)
    assert match_by_variable(need, {"user": "ana"}, ("amount", "user"), stored)


def test_renamed_parameters_match_by_variable_only_when_corrected() -> None:
    """As published, a parameter whose own name is no variable matches any value."""
    need = Call("info", (("major", "new_major"),))
    assert match_upstream(need, {"new_major": "Music"}, ("major",), {("Physics",)})
    assert not match_by_variable(need, {"new_major": "Music"}, ("major",), {("Physics",)})
    assert match_by_variable(need, {"new_major": "Music"}, ("major",), {("Music",)})


def test_implied_calls_count_when_their_arguments_are_there() -> None:
    rules = Rules.of(
        innate={"details": "exists(user)", "exists": "known(user)"},
        required={},
        customizable={},
        links={},
        dependencies={},
        processes={},
        limits={},
    )
    functions = {"details", "exists", "known"}
    implied = rules.implied("details", functions)
    assert implied is not None
    assert implied.name == "known"
    made = Graph.decode({"nodes": [["t", {"user": "user"}], ["known", {"user": "user"}]], "connections": [[0, 1]]})
    plans = {**plans_of(made), "details": Plan(Call("details", USER), None, ("user",))}
    walk = Walk(plans, {}, {"details": implied})
    assert walk.step("details", {"user": "ana"})
    assert walk.step("t", {"user": "ana"})


def test_the_builder_links_processes_and_precedes() -> None:
    rules = Rules.of(
        innate={},
        required={"pay": "and[logged_in(user), rich(user)]", "admin": "logged_in(user)"},
        customizable={"pay": "confirmed(user)"},
        links={"logged_in": "login(user)", "confirmed": "admin(user)"},
        dependencies={},
        processes={"rich": "or[balance(user), dump()]"},
        limits={},
    )
    parameters = {"pay": ("user",), "login": ("password", "user"), "balance": ("user",), "dump": (), "admin": ("user",)}
    made = GraphBuilder(rules, parameters).default("pay")
    assert made.nodes[0] == Call("pay", USER)
    assert made.functions() == ["admin", "balance", "dump", "login", "pay"]
    login = made.nodes.index(Call("login", (("password", "password"), ("user", "user"))))
    assert (made.nodes.index(Call("admin", USER)), login) in made.connections
    assert Graph.decode(made.encode()) == made
    assert GraphBuilder(rules, parameters).build("login", None).connections == ()


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"nodes": [], "connections": []},
        {"nodes": ["and"], "connections": []},
        {"nodes": [["a", {}]], "connections": [[0, 4]]},
        {"nodes": [["a", {}], 5], "connections": []},
        {"nodes": [["a", {}], ["b", {}]], "connections": [[0, float("inf")]]},
        {"nodes": [["a", {}], ["b", {}]], "connections": [[0, 1.5]]},
        {"nodes": [["a", {}], ["b", {}]], "connections": [[0, "1"]]},
    ],
)
def test_wrong_graphs_are_refused(value: dict[str, object]) -> None:
    with pytest.raises(DataError, match="graph"):
        Graph.decode(value)


def test_a_circle_of_groups_is_refused() -> None:
    made = Graph.decode({"nodes": [["a", {}], "and", "or"], "connections": [[0, 1], [1, 2], [2, 1]]})
    with pytest.raises(DataError, match="circle"):
        plans_of(made)


def test_containers_are_compared_by_value() -> None:
    assert frozen({"b": [1], "a": {"c": 2}}) == frozen({"a": {"c": 2}, "b": [1]})
    assert frozen([{"n": "x"}]) == (("n", "x"),)


def test_rules_expand_with_renamed_dependencies() -> None:
    rules = Rules.of(
        innate={},
        required={"f": "not rich(user=other)"},
        customizable={},
        links={},
        dependencies={"rich": "known(user)"},
        processes={},
        limits={},
    )
    assert rules.expanded(rules.default("f")) == parse("gate[not known(user=other), not rich(user=other)]")
