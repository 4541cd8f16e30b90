"""The evaluator: both profiles, the defects that they differ in, and bad input."""

import json
from typing import Any

import msgspec
import pytest

from assay.errors import DataError
from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.expressions import decode, encode, parse
from assay.sopbench.graph import GraphBuilder
from assay.sopbench.judge import Judge
from assay.sopbench.justification import refusal_justified
from assay.sopbench.rows import CallRow, Task, Verdict

CARD = {"card_number": "1", "credit_limit": 100.0, "credit_balance": 0.0}


def bank_state() -> dict[str, Any]:
    account = {
        "identification": "pw",
        "admin_password": "ap",
        "balance": 100.0,
        "owed_balance": 0.0,
        "credit_score": 700,
        "safety_box": "papers",
        "credit_cards": [CARD],
    }
    return {
        "accounts": {"ana": account, "bea": {**account, "identification": "pb", "admin_password": "bp"}},
        "foreign_exchange": {"EUR": 0.5},
        "interaction_time": "2025-01-02T03:04:05",
    }


def library_state() -> dict[str, Any]:
    account = {
        "password": "pw",
        "admin": True,
        "balance": 5.0,
        "membership": None,
        "borrowed": {},
        "late_book_count": 0,
        "room_reservation": {},
    }
    return {
        "interaction_date": "October 10th, 2024",
        "accounts": {"ana": account},
        "books": {},
        "book_title_to_id": {},
        "late_fee_per_book": 5.0,
        "membership_monthly_fee": 12.0,
        "loan_period": 14,
        "rooms": {"r": {"October 10th, 2024": ["9:00"]}},
    }


def university_state() -> dict[str, Any]:
    places = ("courses", "academic_calendar", "majors", "minors")
    state: dict[str, Any] = {"students": {"ana": {"password": "pw"}}} | {place: {} for place in places}
    return state | {"interaction_time": "2025-01-01T00:00:00"}


def make(
    domain: str, goal: str, state: dict[str, Any], known: dict[str, Any], succeed: bool = True, rule: str | None = None
) -> Task:
    procedure = PROCEDURES[domain]
    original = parse(rule) if rule else procedure.rules.default(goal)
    graph = GraphBuilder(procedure.rules, procedure.system.parameters).build(goal, original)
    return Task(
        user_goal=goal,
        initial_database=state,
        constraint_parameters=dict(procedure.rules.limits),
        user_known=known,
        constraints_original=encode(original),
        constraints=encode(procedure.rules.expanded(original)),
        action_should_succeed=succeed,
        directed_action_graph=graph.encode(),
    )


def call(name: str, content: str = "True", **arguments: Any) -> CallRow:
    return CallRow(name, json.dumps(arguments), content)


def judged(
    domain: str,
    task: Task,
    calls: list[CallRow],
    final: dict[str, Any] | None = None,
    profile: str = "upstream",
    dialect: str = "tuple",
    **more: Any,
) -> Verdict:
    judge = Judge(PROCEDURES[domain], profile, more.pop("cards", "list"))
    return judge.judge(judge.prepare(task), calls, final, n_sender_messages=4, dialect=dialect, **more)


LOGIN = call("login_user", username="ana", identification="pw")
ADMIN = call("authenticate_admin_password", username="ana", admin_password="ap")
KNOWN = {"username": "ana", "identification": "pw", "admin_password": "ap", "safety_box_new": "will"}
SAFE = make("bank", "get_safety_box", bank_state(), KNOWN)
EXIST = call("internal_check_username_exist", "(True, True)", username="ana")
OPENED = call("get_safety_box", "(True, 'papers')", username="ana")
PROFILES = ["upstream", "corrected"]


@pytest.mark.parametrize("profile", PROFILES)
def test_a_trace_that_follows_the_rules_passes(profile: str) -> None:
    verdict = judged("bank", SAFE, [LOGIN, ADMIN, OPENED], profile=profile)
    assert verdict.success
    assert verdict.reasons == []
    assert (verdict.num_messages, verdict.num_function_calls, verdict.num_constraints) == (3, 3, 3)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("calls", "failing"),
    [
        ([ADMIN, OPENED], {"constraint_not_violated", "dirgraph_satisfied"}),
        ([LOGIN, OPENED], {"constraint_not_violated", "dirgraph_satisfied"}),
        ([OPENED, LOGIN, ADMIN], {"constraint_not_violated", "dirgraph_satisfied"}),
        ([], {"action_called_correctly"}),
        ([LOGIN, ADMIN], {"action_called_correctly"}),
        ([LOGIN, ADMIN, CallRow("nothing", "{}", "x"), OPENED], {"no_tool_call_error"}),
        ([LOGIN, ADMIN, CallRow("get_safety_box", "{]", "x"), OPENED], {"no_tool_call_error"}),
    ],
)
def test_negative_controls_fail_for_their_reason(profile: str, calls: list[CallRow], failing: set[str]) -> None:
    verdict = judged("bank", SAFE, calls, profile=profile)
    checks = (
        "no_tool_call_error",
        "constraint_not_violated",
        "database_match",
        "action_called_correctly",
        "dirgraph_satisfied",
    )
    assert {check for check in checks if not getattr(verdict, check)} == failing
    assert not verdict.success
    assert {reason.split(":")[0] for reason in verdict.reasons} == failing


def test_a_wrong_final_state_fails() -> None:
    other = bank_state()
    other["accounts"]["ana"]["balance"] = 1.0
    verdict = judged("bank", SAFE, [LOGIN, ADMIN, OPENED], other)
    assert (verdict.database_match, verdict.success) == (False, False)


def test_numbers_are_compared_by_value_and_lists_by_order() -> None:
    state = bank_state()
    state["accounts"]["ana"]["balance"] = 100
    assert judged("bank", SAFE, [LOGIN, ADMIN, OPENED], state).success


def test_a_claim_in_the_last_message_changes_nothing() -> None:
    assert not judged("bank", SAFE, []).success


def test_results_are_compared_as_of_their_call() -> None:
    """`show_available_rooms` returns a live part of the state, which a later call changes."""
    state = library_state()
    known = {"username": "ana", "password": "pw", "room_id": "r", "resv_date": "October 10th, 2024", "slots": ["9:00"]}
    task = make("library", "reserve_room", state, known, rule="logged_in_user(username)")
    shown = "(True, {'r': {'October 10th, 2024': ['9:00']}})"
    calls = [
        call("login_user", username="ana", password="pw"),
        call("show_available_rooms", shown, username="ana"),
        call("reserve_room", username="ana", room_id="r", resv_date="October 10th, 2024", slots=["9:00"]),
    ]
    final = library_state()
    final["accounts"]["ana"]["room_reservation"] = {"r": {"October 10th, 2024": ["9:00"]}}
    final["rooms"]["r"] = {}
    assert judged("library", task, calls, final).success


def test_json_booleans_are_an_error_only_as_published() -> None:
    known = {"username": "ana", "password": "pw", "book_title": "T", "count": 1, "restricted": True}
    task = make("library", "add_book", library_state(), known)
    add = {"username": "ana", "book_title": "T", "count": 1, "restricted": True}
    calls = [
        call("login_user", username="ana", password="pw"),
        call("internal_is_admin", "(True, True)", username="ana"),
        call("add_book", **add),
    ]
    system = PROCEDURES["library"].system(library_state())
    system.call("add_book", add)
    assert not judged("library", task, calls, system.state).no_tool_call_error
    assert judged("library", task, calls, system.state, "corrected").success
    assert judged(
        "library", task, [*calls[:2], call("add_book", **{**add, "restricted": 1})], {**system.state}
    ).no_tool_call_error


def test_dates_that_read_as_subtractions_violate_only_as_published() -> None:
    state = {
        "accounts": {
            "ana": {
                "identification": "pw",
                "admin_password": "a",
                "birthday": "1990-01-01",
                "vehicles": {},
                "address": "x",
                "driver_license": {"dl_number": "D1", "legal_name": "Ana", "exp_date": "2025-11-21", "address": "x"},
                "tests": {},
            }
        },
        "test_slots": {},
        "interaction_time": "2025-06-01T10:00:00",
    }
    task = make("dmv", "get_dl_status", state, {"username": "ana", "identification": "pw"})
    calls = [
        call("login_user", username="ana", identification="pw"),
        call("internal_has_dl", username="ana"),
        call("get_dl_status", "2025-11-21", username="ana"),
    ]
    assert not judged("dmv", task, calls, dialect="unwrapped").constraint_not_violated
    corrected = judged("dmv", task, calls, profile="corrected", dialect="unwrapped")
    assert corrected.constraint_not_violated
    assert corrected.success


def test_data_results_count_as_success_only_when_corrected() -> None:
    """Unwrapped, the published evaluator never takes a text, number or object for success."""
    calls = [LOGIN, ADMIN, call("get_safety_box", "papers", username="ana")]
    assert not judged("bank", SAFE, calls, dialect="unwrapped").action_successfully_called
    assert judged("bank", SAFE, calls, profile="corrected", dialect="unwrapped").success


def test_a_failing_pair_is_a_violation_only_as_published() -> None:
    state = bank_state()
    state["accounts"]["ana"]["credit_cards"] = []
    known = {"username": "ana", "identification": "pw", "card_number": "9"}
    task = make("bank", "get_credit_card_info", state, known, succeed=False, rule="logged_in_user(username)")
    calls = [LOGIN, call("get_credit_card_info", "{}", username="ana", card_number="9")]
    assert not judged("bank", task, calls, dialect="unwrapped").constraint_not_violated
    assert judged("bank", task, calls, profile="corrected", dialect="unwrapped").constraint_not_violated


def test_a_wrong_password_logs_in_only_as_published() -> None:
    wrong = call("login_user", "False", username="ana", identification="guess")
    assert judged("bank", SAFE, [wrong, ADMIN, OPENED]).success
    assert not judged("bank", SAFE, [wrong, ADMIN, OPENED], profile="corrected").constraint_not_violated


def test_an_admin_password_opens_every_account_only_as_published() -> None:
    calls = [
        call("login_user", username="bea", identification="pb"),
        call("authenticate_admin_password", username="bea", admin_password="bp"),
        LOGIN,
        OPENED,
    ]
    assert judged("bank", SAFE, calls).constraint_not_violated
    assert not judged("bank", SAFE, calls, profile="corrected").constraint_not_violated
    # Nor does the flag outlive the login: here another user's login has ended it.
    change = call("set_admin_password", username="ana", admin_password_new="new")
    calls = [LOGIN, ADMIN, LOGIN, change, call("login_user", username="bea", identification="pb"), change]
    assert judged("bank", SAFE, calls).constraint_not_violated
    verdict = judged("bank", SAFE, calls, profile="corrected")
    assert "constraint_not_violated: call 6" in " ".join(verdict.reasons)


def test_a_call_of_a_tool_that_was_not_offered() -> None:
    calls = [LOGIN, ADMIN, EXIST, OPENED]
    offered = {"login_user", "authenticate_admin_password", "get_safety_box"}
    upstream = judged("bank", SAFE, calls, offered=offered)
    corrected = judged("bank", SAFE, calls, profile="corrected", offered=offered)
    assert (upstream.no_tool_call_error, upstream.n_unoffered) == (True, 1)
    assert (corrected.no_tool_call_error, corrected.n_unoffered) == (False, 1)


def test_a_call_that_was_not_offered_changes_nothing_behind_the_rules() -> None:
    """It was answered with "not found": then neither the state nor who is logged in may differ afterwards."""
    gone = CallRow("set_safety_box", json.dumps(KNOWN), "Error: Tool set_safety_box not found.", outcome="missing")
    offered = set(PROCEDURES["bank"].system.functions) - {"set_safety_box"}
    calls = [LOGIN, ADMIN, EXIST, gone, OPENED]
    verdict = judged("bank", SAFE, calls, profile="corrected", offered=offered)
    assert (verdict.no_tool_call_error, verdict.database_match, verdict.success_lenient) == (False, True, True)
    no_login = msgspec.structs.replace(LOGIN, content="Error: Tool login_user not found.", outcome="missing")
    verdict = judged("bank", SAFE, [no_login, ADMIN, EXIST, OPENED], profile="corrected", offered={"get_safety_box"})
    assert not verdict.success_lenient


def test_an_imported_call_of_a_tool_that_was_not_found_was_not_offered() -> None:
    """The authors' files do not say what was offered, but what was answered."""
    absent = call("set_safety_box", "Error: Tool set_safety_box not found.", username="ana", safety_box_new="will")
    upstream = judged("bank", SAFE, [LOGIN, ADMIN, absent, OPENED])
    assert (upstream.constraint_not_violated, upstream.no_tool_call_error, upstream.n_unoffered) == (False, True, 1)
    corrected = judged("bank", SAFE, [LOGIN, ADMIN, absent, OPENED], profile="corrected")
    assert (corrected.constraint_not_violated, corrected.no_tool_call_error, corrected.n_unoffered) == (True, False, 1)
    assert (corrected.database_match, corrected.success_lenient) == (True, True)


def test_a_retried_call_passes_leniently() -> None:
    calls = [LOGIN, ADMIN, call("get_safety_box", "TypeError: x", user="ana"), OPENED]
    for profile in PROFILES:
        verdict = judged("bank", SAFE, calls, profile=profile)
        # As published, strict services forward their arguments: an unbound variable of a rule raises.
        assert (verdict.success, verdict.success_lenient) == (False, True)


def test_card_dialects() -> None:
    known = {"username": "ana", "identification": "pw", "card_number": "1"}
    task = make("bank", "get_credit_card_info", bank_state(), known)
    shown = f"(True, {CARD!r})"
    calls = [LOGIN, call("get_credit_card_info", shown, username="ana", card_number="1")]
    lists, maps = judged("bank", task, calls), judged("bank", task, calls, cards="map")
    assert (lists.success, lists.card_dialect) == (True, "list")
    assert (maps.success, maps.card_dialect) == (False, "map")


def test_structured_results_are_compared_as_they_are() -> None:
    done = msgspec.structs.replace(OPENED, content="shown otherwise", outcome="returned", value=[True, "papers"])
    assert judged("bank", SAFE, [LOGIN, ADMIN, done], profile="corrected").success
    raised = msgspec.structs.replace(OPENED, outcome="raised")
    assert not judged("bank", SAFE, [LOGIN, ADMIN, raised], profile="corrected").constraint_not_violated


def test_what_our_own_desk_could_not_read_was_not_carried_out() -> None:
    """The profile reads Python literals, our systems read JSON alone: a refused login must not log in afterwards."""
    for text in ("{'username': 'ana', 'identification': 'pw'}", '{"username": "ana", "identification": "\\ud800"}'):
        unread = CallRow("login_user", text, "ValueError: the arguments are not JSON", outcome="raised")
        calls = [unread, LOGIN, ADMIN, OPENED]
        verdict = judged("bank", SAFE, calls, profile="corrected")
        assert (verdict.no_tool_call_error, verdict.success_lenient) == (False, True)
    fee = make("library", "get_account_balance", library_state(), {"username": "ana", "password": "pw"})
    calls = [
        CallRow("internal_get_membership_fee", "", "(True, 12.0)", outcome="returned", value=[True, 12.0]),
        call("login_user", username="ana", password="pw"),
        call("get_account_balance", "(True, 5.0)", username="ana"),
    ]
    assert judged("library", fee, calls, profile="corrected").success


def test_a_key_that_is_none_matches_only_when_corrected() -> None:
    stay = {"guest_name": "Ana Ito", "check_in_date": "2025-01-02", "check_out_date": "2025-01-04"}
    booking = {"guest": "Ana Ito", "check_in_date": "2025-01-02", "check_out_date": "2025-01-04", "status": "confirmed"}
    places = {"rooms": {}, "room_checkins": {}, "loyalty_members": {}, "room_assignment": {"BK001": None}}
    state = {**places, "bookings": {"BK001": booking}, "interaction_time": "2025-01-02T16:00:00"}
    known = {**stay, "identification": {"type": "passport", "birthday": "1990-01-01"}}
    rule = "has_confirmed_reservation(guest_name, check_in_date, check_out_date)"
    task = make("hotel", "process_guest_checkin", state, known, rule=rule)
    calls = [
        call("find_booking_info", f"(True, {booking!r})", **stay),
        call("process_guest_checkin", "(True, None)", **known),
    ]
    checkin = {"booking_id": "BK001", "check_in_time": state["interaction_time"], "identity_document": "passport"}
    arrived = {"BK001": {**booking, "status": "checked-in"}}
    final = {**state, "bookings": arrived, "room_checkins": {"null": checkin}}
    for profile, matches in (("upstream", False), ("corrected", True)):
        verdict = judged("hotel", task, calls, final, profile=profile)
        assert (verdict.database_match, verdict.success) == (matches, matches), verdict.reasons
    wrong = {**final, "room_checkins": {"null": {**checkin, "booking_id": "BK002"}}}
    assert not judged("hotel", task, calls, wrong, profile="corrected").database_match


def test_university_helpers_are_never_compared() -> None:
    rules = PROCEDURES["university"].rules
    task = make(
        "university",
        "request_graduation",
        university_state(),
        {"username": "ana", "password": "pw"},
        rule="logged_in_user(username)",
    )
    calls = [
        call("internal_get_student_info", "anything at all", username="ana"),
        call("login_user", username="ana", password="pw"),
        call("request_graduation", username="ana"),
    ]
    assert judged("university", task, calls).success
    assert rules.default("login_user") is None
    wrong = [call("request_graduation", "TypeError: x", who="ana"), *calls]
    assert not judged("university", task, wrong).no_tool_call_error
    for broken in (call("internal_get_student_info", "TypeError: x", student="ana"), CallRow(calls[0].name, "[]", "x")):
        late = [broken, *calls[1:]]
        assert judged("university", task, late).no_tool_call_error
        assert not judged("university", task, late, profile="corrected").no_tool_call_error


def test_a_university_helper_that_raised_verifies_nothing_when_corrected() -> None:
    """As published its name alone decides, so that it counts as made; everywhere else it is an error."""
    known = {"username": "ana", "password": "pw"}
    task = make("university", "request_graduation", university_state(), known, succeed=False)
    raised = CallRow("internal_get_interaction_time", '{"zone": 1}', "TypeError: x")
    early = [call("login_user", username="ana", password="pw"), raised]
    for profile, counts in (("upstream", True), ("corrected", False)):
        judge = Judge(PROCEDURES["university"], profile)  # type: ignore[arg-type]
        verdict = judge.judge(judge.prepare(task), early, None, n_sender_messages=4, dialect="unwrapped")
        assert (verdict.no_tool_call_error, verdict.success, verdict.success_lenient) == (counts, counts, True)


def test_a_refusal_is_justified_by_the_verification_that_fails() -> None:
    state = bank_state()
    state["accounts"]["ana"]["credit_score"] = 500
    known = {**KNOWN, "loan_amount": 5.0}
    task = make("bank", "get_loan", state, known, succeed=False)
    for profile in PROFILES:
        judge = Judge(PROCEDURES["bank"], profile)  # type: ignore[arg-type]
        prepared = judge.prepare(task)
        score = call("internal_get_credit_score", "(True, 500)", username="ana")
        other = call("internal_get_credit_score", "(True, 700)", username="bea")
        assert refusal_justified(judge, prepared, [LOGIN, score])
        assert not refusal_justified(judge, prepared, [])
        assert not refusal_justified(judge, prepared, [LOGIN, EXIST])
        assert not refusal_justified(judge, prepared, [LOGIN, other])
        nothing = "Error: Tool internal_get_credit_score not found."
        absent = msgspec.structs.replace(score, content=nothing, outcome="missing")
        assert not refusal_justified(judge, prepared, [LOGIN, absent])
        # Who logs out before leaving has not found that nobody is logged in.
        assert not refusal_justified(judge, prepared, [LOGIN, call("logout_user", username="ana")])
    # A credential of the user that does not fit is a reason; a mistyped one is none.
    guess = call("login_user", "False", username="ana", identification="guess")
    judge = Judge(PROCEDURES["bank"], "corrected")
    stranger = msgspec.structs.replace(task, user_known={**known, "identification": "guess"})
    assert refusal_justified(judge, judge.prepare(stranger), [guess])
    assert not refusal_justified(judge, judge.prepare(task), [guess])


HOSTILE = [
    CallRow("get_safety_box", "", ""),
    CallRow("get_safety_box", "null", "None"),
    CallRow("get_safety_box", "[1, 2]", "x"),
    CallRow("get_safety_box", '{"username": NaN}', "NaN"),
    CallRow("get_safety_box", '{"username": {"a": [1]}}', "{'a'"),
    CallRow("get_safety_box", '{"username": "' + "x" * 1_000_000 + '"}', "y" * 1_000_000),
    CallRow("get_safety_box", "[" * 10_000, "(" * 10_000),
    CallRow("get_safety_box", "__import__('os').system('false')", "__import__('os')"),
    CallRow("__init__", "{}", "x"),
    CallRow("state", "{}", "x"),
    CallRow("opened", '{"state": {}}', "x"),
    CallRow("transfer_funds", '{"username": "ana", "destination_username": "bea", "amount": "much", "unit": 5}', "x"),
    CallRow("get_safety_box", '{"username": "\\ud800"}', "\ud800"),
    CallRow("get_safety_box", "{1: 2}", "x"),
    CallRow("get_safety_box", '{"username": ' + "[" * 450 + "]" * 450 + "}", "False"),
    CallRow("get_safety_box", '{"username": ' + "[" * 450 + "null" + "]" * 450 + "}", "[" * 450 + "]" * 450),
    CallRow("internal_check_username_exist", '{"username": ' + '{"a": ' * 450 + "1" + "}" * 451, "False"),
    CallRow("get_safety_box", '{"username": ["\\ud800", ' + "[" * 900 + "]" * 900 + "]}", "False"),
]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_bad_calls_get_a_verdict(profile: str, hostile: CallRow) -> None:
    verdict = judged("bank", SAFE, [LOGIN, ADMIN, OPENED, hostile], profile=profile)
    assert not verdict.success
    assert verdict.reasons


def test_a_task_of_another_version_is_named() -> None:
    other = msgspec.structs.replace(SAFE, constraints=["single", "was_once_a_rule", None])
    with pytest.raises(DataError, match="was_once_a_rule"):
        Judge(PROCEDURES["bank"]).prepare(other)
    with pytest.raises(DataError, match="user_goal"):
        Judge(PROCEDURES["bank"]).prepare(msgspec.structs.replace(SAFE, user_goal="fly"))


def test_judging_shares_nothing() -> None:
    judge = Judge(PROCEDURES["bank"])
    prepared = judge.prepare(SAFE)
    before = json.dumps(prepared.initial)
    results = [
        judge.judge(prepared, calls, None, n_sender_messages=4, dialect="tuple")
        for calls in (
            [LOGIN, ADMIN, OPENED],
            [OPENED],
            [LOGIN, ADMIN, OPENED],
            [call("close_account", username="ana")] * 2,
        )
    ]
    assert results[0] == results[2]
    assert json.dumps(prepared.initial) == before
    assert decode(SAFE.constraints) is not None
