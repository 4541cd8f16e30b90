"""Rules as expressions: checks joined by and, or, chain and gate.

`chain` is an ordered `and`, `gate` an ordered `or` (the De Morgan dual of `chain`). Evaluated against one call,
all four go through their children from left to right and stop at the first that decides.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from assay.errors import DataError

Kind = Literal["and", "or", "chain", "gate"]
KINDS: tuple[Kind, ...] = ("and", "or", "chain", "gate")
DUAL: dict[Kind, Kind] = {"and": "or", "or": "and", "chain": "gate", "gate": "chain"}


@dataclass(frozen=True, slots=True)
class Single:
    """One check: a constraint or a helper function, with its parameters bound to variables.

    `bindings` are (parameter, variable) pairs sorted by parameter; `negated` inverts the truth value.
    """

    name: str
    bindings: tuple[tuple[str, str], ...] = ()
    negated: bool = False

    @property
    def mapping(self) -> dict[str, str]:
        """The bindings as parameter -> variable."""
        return dict(self.bindings)


@dataclass(frozen=True, slots=True)
class Group:
    """Several expressions joined by one kind."""

    kind: Kind
    children: "tuple[Expression, ...]"


Expression: TypeAlias = Single | Group


def bound(mapping: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Return a mapping as sorted bindings.

    Raises
    ------
    DataError
        For anything but names of variables: literals, which the format knows and no published task uses, are not read.
    """
    for parameter, variable in mapping.items():
        if not isinstance(variable, str) or variable.startswith("value "):
            raise DataError(f"parameter {parameter!r} is bound to {variable!r}", expected="the name of a variable")
    return tuple(sorted(mapping.items()))


def decode(value: object) -> Expression | None:
    """Read an expression from its list form, as task files write it.

    Raises
    ------
    DataError
        For anything but null, ``["single", name, mapping]`` and ``[kind, [children]]``.
    """
    match value:
        case None:
            return None
        case ["single", str(name), None] | ["single", str(name)]:
            return Single(name.removeprefix("not "), (), name.startswith("not "))
        case ["single", str(name), dict(mapping)]:
            return Single(name.removeprefix("not "), bound(mapping), name.startswith("not "))
        case ["and" | "or" | "chain" | "gate" as kind, [*children]]:
            return Group(kind, tuple(child for child in map(decode, children) if child is not None))
    shown = str(value)
    raise DataError(
        f"{shown[:80]!r} is no rule expression",
        expected='null, ["single", name, mapping] or [and|or|chain|gate, [children]]',
    )


def encode(expression: Expression | None) -> object:
    """Return the list form that `decode` reads."""
    match expression:
        case None:
            return None
        case Single(name, bindings, negated):
            return ["single", f"not {name}" if negated else name, dict(bindings) if bindings else None]
        case Group(kind, children):
            return [kind, [encode(child) for child in children]]


_TOKEN = re.compile(r"\s*(?:(and|or|chain|gate)\s*\[|(not\s+)?(\w+)\s*\(([^()]*)\)|([\],]))")


def parse(text: str) -> Expression:
    """Read the notation of the rule tables.

    ``f(p)`` binds parameter p to the variable of the same name, ``f(p=v)`` binds it to v, ``not f(p)`` negates.

    Examples
    --------
    >>> parse("and[known(user), not banned(user=guest)]").children[1]
    Single(name='banned', bindings=(('user', 'guest'),), negated=True)
    """
    stack: list[tuple[Kind, list[Expression]]] = []
    position = 0
    done: Expression | None = None
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or done is not None:
            raise DataError(f"rule {text!r} cannot be read at column {position + 1}")
        position = token.end()
        kind, negation, name, arguments, mark = token.groups()
        if kind:
            stack.append((cast("Kind", kind), []))
            continue
        if mark == ",":
            continue
        if mark == "]" and not stack:
            raise DataError(f"rule {text!r} closes a bracket that it did not open")
        item: Expression
        if mark == "]":
            closed, children = stack.pop()
            item = Group(closed, tuple(children))
        else:
            item = Single(name, _bindings(arguments), bool(negation))
        if stack:
            stack[-1][1].append(item)
        else:
            done = item
    if done is None:
        raise DataError(f"rule {text!r} is not complete")
    return done


def _bindings(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [part.strip().partition("=") for part in text.split(",") if part.strip()]
    return bound({parameter: variable or parameter for parameter, _, variable in pairs})


def singles(expression: Expression | None) -> Iterator[Single]:
    """Yield the checks of an expression, left to right, repeated ones repeatedly."""
    match expression:
        case Single():
            yield expression
        case Group(_, children):
            for child in children:
                yield from singles(child)


def variables(expression: Expression | None) -> list[str]:
    """Return the variables that an expression reads, sorted."""
    return sorted({variable for single in singles(expression) for _, variable in single.bindings})


def inverse(expression: Expression) -> Expression:
    """Return the negation by De Morgan; `chain` and `gate` change places like `and` and `or`."""
    if isinstance(expression, Single):
        return Single(expression.name, expression.bindings, not expression.negated)
    return Group(DUAL[expression.kind], tuple(inverse(child) for child in expression.children))


def renamed(expression: Expression, mapping: Mapping[str, str]) -> Expression:
    """Replace each variable by its image; a variable without one keeps its name."""
    if isinstance(expression, Single):
        bindings = tuple((parameter, mapping.get(variable, variable)) for parameter, variable in expression.bindings)
        return Single(expression.name, bindings, expression.negated)
    return Group(expression.kind, tuple(renamed(child, mapping) for child in expression.children))


def joined(kind: Kind, parts: "list[Expression]") -> Expression | None:
    """Join expressions under one kind: members of the same kind are taken over, a single part stays itself."""
    flat = list(_flat(kind, parts))
    if not flat:
        return None
    return flat[0] if len(flat) == 1 else Group(kind, tuple(flat))


def _flat(kind: Kind, parts: Iterable[Expression]) -> Iterator[Expression]:
    for part in parts:
        if isinstance(part, Group) and part.kind == kind:
            yield from _flat(kind, part.children)
        else:
            yield part
