"""Pruning of expanded rules, in two ways.

`pruned` never changes what an evaluation returns or raises. `pruned_as_published` yields the very rules of the
published code, which also drops a check whose truth another part of the rule guarantees only later: where an entity
does not exist, that part may then raise instead of being false. The published evaluation depends on it. It keeps the
truth of the published rules, not of every rule: a group inside an "or" that what stands around it guarantees is
dropped, as if it were false.
"""

from typing import Literal, TypeAlias

from assay.sopbench.expressions import Expression, Group, Single, inverse, joined

Base: TypeAlias = Literal["and", "or"]
_Known: TypeAlias = tuple[list[Expression], list[Expression]]  # guaranteed under "and", excluded under "or"


def pruned(expression: Expression) -> Expression:
    """Remove what cannot change the outcome; truth value and raising behaviour stay for every assignment.

    A check that is reached only after it was found true (false) in the same evaluation is known: in a conjunction a
    known truth, in a disjunction a known falsehood is dropped. Duplicates, single-child groups and same-kind nesting
    go with it. Nothing is moved, because a check that raises may only be reached where it was reached before.
    """
    result = _simplified(expression, frozenset())
    return expression if isinstance(result, bool) else result


def _simplified(expression: Expression, known: frozenset[Single]) -> Expression | bool:
    if isinstance(expression, Single):
        if expression in known:
            return True
        return False if inverse(expression) in known else expression
    conjunctive = expression.kind in ("and", "chain")
    kept: list[Expression] = []
    for child in expression.children:
        simple = _simplified(child, known)
        if isinstance(simple, bool):
            if simple is conjunctive:
                continue
            if not kept:
                return simple
            # The group is decided here, but only after its earlier members were looked at.
            kept.append(child)
            break
        if isinstance(simple, Group) and simple.kind == expression.kind:
            kept.extend(simple.children)
        else:
            kept.append(simple)
        known |= _established(simple, conjunctive)
    if not kept:
        return conjunctive
    return kept[0] if len(kept) == 1 else Group(expression.kind, tuple(kept))


def _established(expression: Expression, outcome: bool) -> frozenset[Single]:
    """Return checks (negated where false) that were certainly evaluated if the expression came out as `outcome`."""
    if isinstance(expression, Single):
        single = expression if outcome else inverse(expression)
        return frozenset((single,)) if isinstance(single, Single) else frozenset()
    if (expression.kind in ("and", "chain")) is not outcome:
        return frozenset()  # one member decided, and which one is open
    return frozenset().union(*(_established(child, outcome) for child in expression.children))


def pruned_as_published(expression: Expression) -> Expression:
    """Prune as the published code does, repeated until nothing changes.

    In an unordered group, a check goes if an ordered group beside it contains it. Of an unordered group inside an
    ordered one, the members go that stand in a group beside or around it, and the whole group goes if one beside it
    contains all of it. The parts of a group are treated one after the other, each seeing what is left of the others.
    """
    while True:
        result = _published(expression, ([], []))
        if result is None or result == expression:
            return expression
        expression = result


def _published(expression: Expression, known: _Known) -> Expression | None:
    if isinstance(expression, Single):
        return expression
    flat = _members(expression)
    base = _base(expression)
    if expression.kind == base:
        return joined(base, _unordered(flat, base, known))
    around = known[base == "or"]
    kept: list[Expression] = []
    for part in flat:
        reduced: Expression | None = part
        if isinstance(part, Group) and part.kind == base:
            reduced = joined(base, [member for member in part.children if member not in around])
            if reduced is None or _contained(reduced, base, around):
                continue
        if reduced is not None and (reduced := _published(reduced, known)) is not None:
            kept.append(reduced)
    return joined(expression.kind, kept)


def _unordered(parts: list[Expression], base: Base, known: _Known) -> list[Expression]:
    ordered = "chain" if base == "and" else "gate"
    around = known[base == "or"]
    index = 0
    while index < len(parts):
        part, beside = parts[index], parts[:index] + parts[index + 1 :]
        remaining: Expression | None
        if isinstance(part, Single):
            held = [member for other in beside if _is(other, ordered) for member in _members(other)]
            remaining = None if part in around or part in held else part
        else:
            seen = around + [m for o in beside for m in (_members(o) if _is(o, base) or _is(o, ordered) else [o])]
            remaining = _published(part, (seen, known[1]) if base == "and" else (known[0], seen))
        parts[index : index + 1] = [] if remaining is None else [remaining]
        index += remaining is not None
    return parts


def _base(group: Group) -> Base:
    return "and" if group.kind in ("and", "chain") else "or"


def _is(expression: Expression, kind: str) -> bool:
    return isinstance(expression, Group) and expression.kind == kind


def _members(expression: Expression) -> list[Expression]:
    """Return the children of a group without repetitions, same-kind nesting resolved."""
    if isinstance(expression, Single):
        return [expression]
    flat: list[Expression] = []
    for child in expression.children:
        for member in child.children if isinstance(child, Group) and child.kind == expression.kind else (child,):
            if member not in flat:
                flat.append(member)
    return flat


def _contained(expression: Expression, base: Base, around: list[Expression]) -> bool:
    if not (isinstance(expression, Group) and expression.kind == base):
        return False
    return any(
        isinstance(other, Group) and other.kind == base and set(expression.children) <= set(other.children)
        for other in around
    )
