"""Expressions, evaluation and pruning."""

from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import DataError
from assay.sopbench.expressions import (
    Expression,
    Group,
    Single,
    decode,
    encode,
    inverse,
    joined,
    parse,
    renamed,
    singles,
    variables,
)
from assay.sopbench.parts import DOMAINS
from assay.sopbench.pruning import pruned, pruned_as_published
from assay.sopbench.system import Session, System, compile_rule

NAMES = ("a", "b", "c", "d")


class Atoms(System):
    """A system without functions."""


class AtomSession(Session):
    """Conditions whose truth values, or raising, are the limits."""

    def _value(self, name: str) -> bool:
        self.seen.append(name)
        value = self.limits[name]
        if value is None:
            raise LookupError(name)
        return bool(value)

    @property
    def seen(self) -> list[str]:
        return self.state["seen"]

    def a(self) -> bool:
        return self._value("a")

    def b(self) -> bool:
        return self._value("b")

    def c(self) -> bool:
        return self._value("c")

    def d(self) -> bool:
        return self._value("d")


def outcome(rule: Expression | None, values: dict[str, Any]) -> bool | str:
    """Evaluate by the compiled rule: a truth value, or the name of the check that raised."""
    check = compile_rule(rule, AtomSession, Atoms)
    session = AtomSession(Atoms({"seen": []}), values)
    try:
        return True if check is None else check(session, {})
    except LookupError as error:
        return str(error)


def by_hand(rule: Expression, values: dict[str, Any]) -> bool | str:
    """Evaluate by the definition: left to right, the first deciding child ends a group."""
    if isinstance(rule, Single):
        value = values[rule.name]
        return rule.name if value is None else bool(value) is not rule.negated
    stop = rule.kind in ("or", "gate")
    for child in rule.children:
        value = by_hand(child, values)
        if isinstance(value, str) or value is stop:
            return value
    return not stop


atoms = st.builds(Single, st.sampled_from(NAMES), st.just(()), st.booleans())
rules = st.recursive(
    atoms,
    lambda inner: st.builds(
        Group, st.sampled_from(["and", "or", "chain", "gate"]), st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=7,
)
ASSIGNMENTS = [dict(zip(NAMES, values, strict=True)) for values in product((True, False, None), repeat=4)]
SOUND = [values for values in ASSIGNMENTS if None not in values.values()]


@given(rules)
def test_evaluation_equals_the_truth_table(rule: Expression) -> None:
    for values in ASSIGNMENTS:
        assert outcome(rule, values) == by_hand(rule, values)


@given(rules)
def test_pruning_keeps_truth_and_raising(rule: Expression) -> None:
    less = pruned(rule)
    assert len(list(singles(less))) <= len(list(singles(rule)))
    for values in ASSIGNMENTS:
        assert by_hand(less, values) == by_hand(rule, values)


def checked(rule: Expression) -> set[tuple[Any, ...]]:
    return {(single.name, single.bindings) for single in singles(rule)}


def truth(rule: Expression, values: dict[tuple[Any, ...], bool]) -> bool:
    if isinstance(rule, Single):
        return values[rule.name, rule.bindings] is not rule.negated
    found = [truth(child, values) for child in rule.children]
    return any(found) if rule.kind in ("or", "gate") else all(found)


@pytest.mark.parametrize("name", DOMAINS)
def test_published_pruning_keeps_the_truth_of_the_published_rules(name: str) -> None:
    rules, random = DOMAINS[name].procedure.rules, Random(0)
    for function in sorted({*rules.required, *rules.customizable}):
        default, less = rules.default(function), rules.published_default(function)
        assert default is not None
        assert less is not None
        whole = rules._inserted(default, ())
        checks = sorted(checked(whole))
        assert checked(less) <= set(checks)
        for _ in range(200):
            values = {check: random.random() < 0.7 for check in checks}
            assert truth(less, values) == truth(whole, values), function


def test_published_pruning_does_not_keep_the_truth_of_every_rule() -> None:
    """A group that what stands around it guarantees is dropped from an "or", which it would make true."""
    rule = parse("and[a(), or[b(), and[a(), a()]]]")
    values = {"a": True, "b": False}
    assert by_hand(rule, values) is True
    assert by_hand(pruned_as_published(rule), values) is False
    assert by_hand(pruned(rule), values) is True


@given(rules)
def test_inverse_is_the_negation_and_undoes_itself(rule: Expression) -> None:
    assert inverse(inverse(rule)) == rule
    for values in SOUND:
        assert by_hand(inverse(rule), values) is not by_hand(rule, values)


@given(rules)
def test_list_form_reads_back(rule: Expression) -> None:
    assert decode(encode(rule)) == rule


def test_published_pruning_does_not_keep_raising() -> None:
    """The guard of the first member is dropped because a later one has it too, so that the first may raise."""
    rule = parse("and[chain[and[a(), b()], c()], chain[b(), d()]]")
    values = {"a": True, "b": False, "c": None, "d": True}
    assert by_hand(rule, values) is False
    assert by_hand(pruned_as_published(rule), values) == "c"
    assert by_hand(pruned(rule), values) is False


def test_notation() -> None:
    rule = parse("and[known(user), not or_not(user=guest, x), chain[a(), gate[b(), c()]]]")
    assert encode(rule) == [
        "and",
        [
            ["single", "known", {"user": "user"}],
            ["single", "not or_not", {"user": "guest", "x": "x"}],
            ["chain", [["single", "a", None], ["gate", [["single", "b", None], ["single", "c", None]]]]],
        ],
    ]
    assert variables(rule) == ["guest", "user", "x"]


@pytest.mark.parametrize("text", ["", "and[a()", "a()]", "a() b()", "a(", "xor[a()]"])
def test_wrong_notation_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        parse(text)


@pytest.mark.parametrize("value", [5, ["xor", []], ["single"], ["single", "a", ["b"]], ["and", [["or"]]], {"and": []}])
def test_wrong_list_forms_are_refused(value: object) -> None:
    with pytest.raises(DataError, match="no rule expression"):
        decode(value)


def test_variables_are_renamed_and_groups_joined() -> None:
    rule = renamed(parse("and[a(p), b(q=r)]"), {"p": "s", "r": "t"})
    assert rule == parse("and[a(p=s), b(q=t)]")
    assert joined("and", [parse("a()"), parse("and[b(), and[c()]]")]) == parse("and[a(), b(), c()]")
    assert joined("or", [parse("a()")]) == parse("a()")
    assert joined("or", []) is None


def test_an_unknown_check_is_named() -> None:
    with pytest.raises(DataError, match="'nothing'"):
        compile_rule(parse("nothing()"), AtomSession, Atoms)


def test_a_missing_variable_raises() -> None:
    class Bound(AtomSession):
        def same(self, x: int) -> bool:
            return x == 1

    check = compile_rule(parse("same(x=y)"), Bound, Atoms)
    assert check is not None
    assert check(Bound(Atoms({}), {}), {"y": 1})
    with pytest.raises(KeyError):
        check(Bound(Atoms({}), {}), {"x": 1})
