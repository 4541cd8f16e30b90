"""Directed action graphs: which calls must come before which.

Node 0 is the target. A node is a function with its parameters bound to variables, or one of the words "and" and
"or"; a connection (from, to) means that the first requires the second.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.errors import DataError
from assay.sopbench.expressions import Expression, Single, bound
from assay.sopbench.rules import Rules


@dataclass(frozen=True, slots=True)
class Call:
    """A function node: `bindings` are (parameter, variable) pairs sorted by parameter."""

    name: str
    bindings: tuple[tuple[str, str], ...]


Node: TypeAlias = Call | Literal["and", "or"]


@dataclass(frozen=True)
class Graph:
    """Nodes and connections, as task files write them."""

    nodes: tuple[Node, ...]
    connections: tuple[tuple[int, int], ...]

    @classmethod
    def decode(cls, value: Mapping[str, object]) -> "Graph":
        """Read the object form ``{"nodes": [...], "connections": [...]}``."""
        try:
            nodes = tuple(_node(node) for node in value["nodes"])  # type: ignore[attr-defined]
            connections = tuple((_end(a), _end(b)) for a, b in value["connections"])  # type: ignore[attr-defined]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                "the directed action graph cannot be read",
                key="directed_action_graph",
                expected='{"nodes": ["and" | "or" | [function, mapping], ...], "connections": [[from, to], ...]}',
            ) from error
        if (
            not nodes
            or isinstance(nodes[0], str)
            or any(not 0 <= end < len(nodes) for pair in connections for end in pair)
        ):
            raise DataError("the directed action graph has no target node or points outside of itself")
        return cls(nodes, connections)

    def encode(self) -> dict[str, object]:
        """Return the object form."""
        nodes = [node if isinstance(node, str) else [node.name, dict(node.bindings)] for node in self.nodes]
        return {"nodes": nodes, "connections": [list(pair) for pair in self.connections]}

    def functions(self) -> list[str]:
        """Return the names of the function nodes, sorted, each once."""
        return sorted({node.name for node in self.nodes if isinstance(node, Call)})


def _end(value: object) -> int:
    if type(value) is int:
        return value
    raise ValueError(value)


def _node(value: object) -> Node:
    match value:
        case "and":
            return "and"
        case "or":
            return "or"
        case [str(name), dict(mapping)]:
            return Call(name, bound(mapping))
        case [str(name), None]:
            return Call(name, ())
    raise ValueError(value)


@dataclass(frozen=True, slots=True)
class Need:
    """What must have been called before: one call, or all / any of several needs."""

    call: Call | None
    any_of: bool = False
    children: "tuple[Need, ...]" = ()


def need_of(graph: Graph, index: int) -> Need | None:
    """Return what node `index` requires; None without a connection. Only the first connection is used."""
    first = next((end for start, end in graph.connections if start == index), None)
    return None if first is None else _need(graph, first, ())


def _need(graph: Graph, index: int, above: tuple[int, ...]) -> Need:
    node = graph.nodes[index]
    if isinstance(node, Call):
        return Need(node)
    if index in above:
        raise DataError("the directed action graph has a circle of groups")
    children = [end for start, end in graph.connections if start == index]
    return Need(None, node == "or", tuple(_need(graph, child, (*above, index)) for child in children))


@dataclass(frozen=True, slots=True)
class _Step:
    """A function node with its requirement, before numbering."""

    call: Call
    needs: "_Step | _Either | None"


@dataclass(frozen=True, slots=True)
class _Either:
    kind: Literal["and", "or"]
    children: "tuple[_Step | _Either, ...]"


_Part: TypeAlias = _Step | _Either


class GraphBuilder:
    """Builds graphs from the unexpanded rules of a domain.

    A linked constraint becomes the action that establishes it, any other the calls that verify it; negation is
    ignored. Every function node is preceded by the graph of its own default rule, with the variables renamed through
    the node's bindings. Innate rules are not part of a graph.
    """

    def __init__(self, rules: Rules, parameters: Mapping[str, tuple[str, ...]]) -> None:
        self._rules = rules
        self._parameters = parameters

    def default(self, function: str) -> Graph:
        """Return the graph of a function's default rule."""
        return self.build(function, self._rules.default(function))

    def build(self, function: str, rule: Expression | None) -> Graph:
        """Return the graph of a target under a rule that uses the target's own parameter names as variables."""
        target = Call(function, tuple((name, name) for name in self._parameters[function]))
        return _numbered(_Step(target, self._part(rule, {}, (function,))))

    def _part(self, rule: Expression | None, names: Mapping[str, str], above: tuple[str, ...]) -> _Part | None:
        if rule is None:
            return None
        if isinstance(rule, Single):
            return self._verification(rule, names, above)
        kind: Literal["and", "or"] = "and" if rule.kind in ("and", "chain") else "or"
        return _group(kind, [self._part(child, names, above) for child in rule.children])

    def _verification(self, check: Single, names: Mapping[str, str], above: tuple[str, ...]) -> _Part | None:
        inner = {parameter: names.get(variable, variable) for parameter, variable in check.bindings}
        action = self._rules.links.get(check.name)
        if action is not None:
            return self._step(action, inner, above)
        return self._process(self._rules.processes.get(check.name), inner, above)

    def _process(self, process: Expression | None, names: Mapping[str, str], above: tuple[str, ...]) -> _Part | None:
        if process is None:
            return None
        if isinstance(process, Single):
            return self._step(process, names, above)
        kind: Literal["and", "or"] = "and" if process.kind in ("and", "chain") else "or"
        return _group(kind, [self._process(child, names, above) for child in process.children])

    def _step(self, action: Single, names: Mapping[str, str], above: tuple[str, ...]) -> _Step:
        given = action.mapping
        variables = {
            parameter: names.get(given[parameter], given[parameter]) if parameter in given else parameter
            for parameter in self._parameters[action.name]
        }
        call = Call(action.name, bound(variables))
        if action.name in above:
            return _Step(call, None)  # a procedure that verifies itself: its node is already above
        return _Step(call, self._part(self._rules.default(action.name), variables, (*above, action.name)))


def _group(kind: Literal["and", "or"], parts: list[_Part | None]) -> _Part | None:
    flat: list[_Part] = []
    for part in parts:
        for member in part.children if isinstance(part, _Either) and part.kind == kind else (part,):
            if member is not None and member not in flat:
                flat.append(member)
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else _Either(kind, tuple(flat))


def _numbered(root: _Step) -> Graph:
    """Give each part a number, breadth-first; equal calls and equal groups share one node."""
    nodes: list[Node] = [root.call]
    connections: list[tuple[int, int]] = []
    index: dict[object, int] = {root.call: 0}
    queue: list[_Part] = [root]
    while queue:
        part = queue.pop(0)
        start = index[part.call if isinstance(part, _Step) else part]
        below = ([part.needs] if part.needs else []) if isinstance(part, _Step) else list(part.children)
        for child in below:
            key: object = child.call if isinstance(child, _Step) else child
            if key not in index:
                index[key] = len(nodes)
                nodes.append(child.call if isinstance(child, _Step) else child.kind)
                queue.append(child)
            if (start, index[key]) not in connections:
                connections.append((start, index[key]))
    return Graph(tuple(nodes), tuple(connections))
