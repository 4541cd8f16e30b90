"""The protocol component: acceptance, refusals, negative controls, and what a policy can know."""

import dataclasses
import inspect
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.sopbench.component import document
from assay.sopbench.diagnostic import SEEDS, diagnostic
from assay.sopbench.protocol import (
    And,
    Chain,
    Event,
    Helper,
    Or,
    Oracle,
    Request,
    Rule,
    Single,
    Trace,
    World,
    evaluate_trace,
    parameters,
    run_policy,
    verified_until,
)

USER = parameters(user=1)
A, B, C = (Helper(name, USER) for name in "abc")


def oracle(rule: Rule, truth: dict[Helper, bool], final: dict[str, int] | None = None) -> Oracle:
    permitted = Oracle(truth, {}, {}, {}).holds(rule)
    initial = {"paid": 0}
    return Oracle(truth, {Helper("pay", USER): rule}, initial, final or ({"paid": 1} if permitted else initial))


def judged(rule: Rule, events: str, truth: dict[Helper, bool] | None = None, paid: int = 1, claims: bool = True):
    """Judge a trace written as letters: helpers a, b, c and the service P."""
    known = oracle(rule, {A: True, B: True, C: True} if truth is None else truth)
    made = tuple(Event("service", "pay", USER) if e == "P" else Event("helper", e, USER) for e in events)
    return evaluate_trace(Request("pay", USER, rule), Trace(made, {"paid": paid}, claims), known)


@pytest.mark.parametrize(
    ("rule", "events", "accepted"),
    [
        (Single(A), "aP", True),
        (Single(A), "P", False),
        (Single(A), "Pa", False),
        (And((Single(A), Single(B))), "baP", True),
        (And((Single(A), Single(B))), "aPb", False),
        (Or((Single(A), Single(B))), "bP", True),
        (Chain((Single(A), Single(B))), "abP", True),
        (Chain((Single(A), Single(B))), "baP", False),
        (Chain((Single(A), Single(B))), "babP", True),
        (Chain((And((Single(A), Single(B))), Single(C))), "bacP", True),
        (Chain((And((Single(A), Single(B))), Single(C))), "bcaP", False),
        (Single(A), "aPP", True),
    ],
)
def test_acceptance(rule: Rule, events: str, accepted: bool) -> None:
    assert judged(rule, events).accepted is accepted


def test_a_branch_must_be_verified_and_true() -> None:
    rule = Or((Single(A), Single(B)))
    truth = {A: False, B: True}
    assert not judged(rule, "aP", truth).verification
    assert judged(rule, "aP", truth).permission
    assert judged(rule, "bP", truth).accepted


def test_a_refusal_passes_only_if_the_oracle_says_so() -> None:
    assert judged(Single(A), "a", {A: False}, paid=0, claims=False).accepted
    needless = judged(Single(A), "a", {A: True}, paid=0, claims=False)
    assert not needless.accepted
    assert not needless.permission


def test_a_refusal_fails_where_the_oracle_changes_the_state() -> None:
    rule = Single(A)
    gold = Oracle({A: False}, {Helper("pay", USER): rule}, {"paid": 0}, {"paid": 1})
    verdict = evaluate_trace(Request("pay", USER, rule), Trace((), {"paid": 1}), gold)
    assert (verdict.database, verdict.permission) == (False, True)


def test_a_claim_overrides_nothing() -> None:
    verdict = judged(Single(A), "aP", {A: False}, paid=1, claims=True)
    assert (verdict.database, verdict.permission) == (False, False)
    assert judged(Single(A), "aP", claims=False).accepted


def test_another_user_is_another_identity() -> None:
    rule = Single(A)
    other = Event("helper", "a", parameters(user=2))
    trace = Trace((other, Event("service", "pay", USER)), {"paid": 1})
    verdict = evaluate_trace(Request("pay", USER, rule), trace, oracle(rule, {A: True}))
    assert (verdict.database, verdict.permission, verdict.verification) == (True, True, False)


def test_a_wrong_final_state_fails_alone() -> None:
    verdict = judged(Single(A), "aP", paid=2)
    assert (verdict.database, verdict.permission, verdict.verification) == (False, True, True)
    assert verdict.reasons == ("database: the final state is not the oracle's",)


def test_a_service_that_nobody_asked_for_is_not_permitted() -> None:
    rule = Single(A)
    trace = Trace((Event("helper", "a", USER), Event("service", "erase", USER)), {"paid": 1})
    assert not evaluate_trace(Request("pay", USER, rule), trace, oracle(rule, {A: True})).permission


def test_the_policy_has_no_access_to_gold() -> None:
    """By types: a policy gets a request and a desk, and neither holds an oracle, a truth value or a final state."""
    fields = {field.name for field in dataclasses.fields(Request)}
    assert fields == {"service", "parameters", "rule"}
    assert list(inspect.signature(run_policy).parameters) == ["policy", "request", "world"]
    seen: list[object] = []

    def policy(request: Request, desk: object) -> bool:
        seen.extend([request, desk])
        desk.verify("a", USER)  # type: ignore[attr-defined]
        desk.act("pay", USER)  # type: ignore[attr-defined]
        return True

    rule = Single(A)
    world = World({"paid": 0}, lambda helper: helper == A, lambda state, name, given: {**state, "paid": 1})
    request = Request("pay", USER, rule)
    trace = run_policy(policy, request, world)
    for thing in seen:
        names = [name for name in dir(thing) if not name.startswith("_")]
        assert not {"truth", "final_state", "oracle", "rules"} & set(names)
        assert not any(isinstance(value, Oracle) for value in vars(thing).values())
    assert evaluate_trace(request, trace, oracle(rule, {A: True})).accepted


@given(st.permutations([A, B, C]), st.integers(0, 3))
def test_a_chain_accepts_exactly_its_order(order: list[Helper], length: int) -> None:
    known = oracle(Single(A), {A: True, B: True, C: True})
    chain = Chain((Single(A), Single(B), Single(C)))
    found = verified_until(chain, tuple(order[:length]), known)
    assert (found is not None) == (length == 3 and order == [A, B, C])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_diagnostic_is_sound_and_repeats(seed: int) -> None:
    first, second = diagnostic(seed), diagnostic(seed)
    assert first.sound
    assert document([first]) == document([second])
    assert {count.expected for count in first.categories} == {"accepted", "rejected"}


def test_seeds_differ_and_the_document_is_labelled() -> None:
    documents = [document([diagnostic(seed)]) for seed in SEEDS]
    assert len(set(documents)) == len(SEEDS)
    assert "not a score" in json.loads(documents[0])["label"]


def test_every_negative_control_fails_for_its_reason() -> None:
    expected = {
        "correct_state_without_verification": "verification",
        "verification_after_the_service": "verification",
        "verification_of_another_user": "verification",
        "wrong_final_state": "database",
        "claimed_success_against_the_oracle": "permission",
        "chain_out_of_order": "verification",
        "or_verified_by_false_branch": "verification",
        "needless_refusal": "permission",
    }
    counts = {count.category: count for count in diagnostic(42).categories}
    for category, check in expected.items():
        assert counts[category].failed_checks[check] == counts[category].rejected == 20
