"""Agents, desks and conversations: modes of tool calling, limits, users, overflow, program mode, a real model."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.errors import DataError
from assay.model.engine import Decoding
from assay.records.rows import GenerationRow, Message, PromptRow
from assay.sopbench import model_rollouts, program_rollouts, prompts
from assay.sopbench.desk import Desk
from assay.sopbench.model_agents import END_OF_TALK
from assay.sopbench.rows import RolloutRow, TaskRow
from assay.sopbench.styles import read_request, written
from assay.sopbench.systems import SYSTEMS
from assay.sopbench.verdicts import verdict_rows

TOOLS = [{"type": "function", "function": {"name": "pay", "parameters": {"properties": {"user": {}, "amount": {}}}}}]


class Author:
    """A model that is written down: answers by the number of messages that it is shown. It keeps what it saw."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.seen: list[PromptRow] = []

    def complete_many(self, prompts: Sequence[PromptRow], decoding: Decoding, **more: Any) -> list[GenerationRow]:
        self.seen.extend(prompts)
        return [self._row(prompt, index) for prompt, index in zip(prompts, more["sample_indices"], strict=True)]

    def _row(self, prompt: PromptRow, index: int) -> GenerationRow:
        said = self.answer(prompt, index)
        text, finish, truncated = said if isinstance(said, tuple) else (said, "eos", False)
        return GenerationRow(
            row_id="r",
            query_id=prompt.query_id,
            sample_index=index,
            row_key="k",
            prompt_sha256=prompt.prompt_sha256,
            prompt_ids_sha256="x",
            n_prompt_tokens=7,
            truncated=truncated,
            text=text,
            n_new_tokens=3,
            finish_reason=finish,
            error="broke" if finish == "error" else None,
        )


class Services:
    """Models by role."""

    def __init__(self, **models: Any) -> None:
        self.models = models

    def model(self, role: str) -> Any:
        return self.models[role]


def written_call(mode: str, name: str, arguments: dict[str, Any]) -> str:
    if mode == "fc":
        return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"
    thought = "Thought: so it is.\n" if mode == "react" else ""
    return f"{thought}Action: {name}\nAction Input: {json.dumps(arguments)}\n"


def follower(rows: Sequence[TaskRow], mode: str) -> Any:
    """Return the answers of a model that follows each task's plan and then leaves."""
    plans = {row.task_id: row.plan or [] for row in rows}

    def answer(prompt: PromptRow, _index: int) -> str:
        made = sum(message.role == "assistant" for message in prompt.messages or [])
        plan = plans[prompt.query_id]
        if made < len(plan):
            return written_call(mode, plan[made].name, plan[made].arguments)
        return written_call(mode, "exit_conversation", {})

    return answer


def play(
    stage: Any,
    rows: Sequence[TaskRow],
    model: Any,
    played_by: Any = None,
    run: Any = model_rollouts.rollouts,
    prompt: Any = None,
    **settings: Any,
) -> tuple[list[RolloutRow], Any]:
    tasks = stage.write("tasks", {"tasks.jsonl": rows})
    config = {"mode": settings.get("mode", "fc"), "user": settings.get("user", "scripted"), **(prompt or {})}
    asked = stage.write("prompts", prompts.prompts(config, stage.inputs(tasks)))
    services = Services(assistant=model, user=played_by)
    values = {"agent": "m", "decoding": {"max_new_tokens": 64}, "limits": {"messages": 60, "calls": 30}, **settings}
    made = stage.write("rollouts", run(values, stage.inputs(tasks, asked), services))
    return stage.rows(made, "rollouts.jsonl", RolloutRow), made


@pytest.mark.parametrize("mode", ["fc", "react", "act-only"])
def test_a_model_that_follows_the_plan_passes(mode: str, stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = [row for part in generated.values() for row in part[:3] + part[8:10]]
    played, _ = play(stage, rows, Author(follower(rows, mode)), mode=mode)
    assert [row.ending for row in played] == ["exit"] * len(rows)
    failed = [
        (v.verdict.user_goal, v.verdict.reasons)
        for v in verdict_rows(rows, played, "corrected")
        if not v.verdict.success
    ]
    assert failed == []
    assert all(row.tokens.written == 3 * len(row.row_keys) for row in played)
    assert played[0].n_sender_messages == 1 + len(rows[0].plan or []) + 1


@pytest.mark.parametrize(
    ("mode", "text", "name", "arguments"),
    [
        ("fc", '<tool_call>{"name": "pay", "arguments": {"amount": true}}</tool_call>', "pay", {"amount": True}),
        ("fc", 'I will pay(user="ana", amount=5).', "pay", {"user": "ana", "amount": 5}),
        ("fc", "I cannot do that.", None, None),
        ("react", 'Thought: x\nAction: pay\nAction Input: {"user": "ana"}\nEnd Action', "pay", {"user": "ana"}),
        ("react", '**Action:** pay\n**Action Input:** {"user": "ana"}\nObservation: done', "pay", {"user": "ana"}),
        ("fc", '{"name": "pay", "arguments": "all"}', "pay", '{"name": "pay", "arguments": "all"}'),
        ("react", 'Action: pay\nAction Input: {"user": "a"}\n\nThought: y\nAction: exit', "pay", {"user": "a"}),
        ("react", "**Action:** pay\n**Action Input:** {}\n**Action:** exit\n**Action Input:** {}", "pay", {}),
        ("react", 'Action: pay\nAction Input:\n{"user":\n"Thought: of"}\nEnd Action', "pay", {"user": "Thought: of"}),
        ("react", "Thought: I answer.", None, None),
        ("react", "Action: pay", None, None),
        ("react", "<think>\nAction: exit\nAction Input: {}</think>\nAction: pay\nAction Input: {}", "pay", {}),
        ("act-only", "Action: exit\nAction Input: {}\n</think>\nI cannot do that.", None, None),
        ("act-only", 'Action: pay\nAction Input: ```json\n{"user": "ana"}\n```', "pay", {"user": "ana"}),
        ("act-only", "Action: exit_conversation\nAction Input: None", "exit_conversation", {}),
    ],
)
def test_reading_of_calls(mode: str, text: str, name: str | None, arguments: Any) -> None:
    found = read_request(mode, text, TOOLS)  # type: ignore[arg-type]
    assert (None if found is None else found.name) == name
    if found is not None:
        assert json.loads(found.arguments) == arguments


def test_results_come_back_as_user_messages_without_native_calls() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    history = [
        Message("user", "hello"),
        Message("assistant", "Action: pay", tool_calls=[call]),
        Message("tool", "True"),
        Message("user", "more"),
    ]
    assert written("fc", history) == history
    shown = written("react", history)
    assert [message.role for message in shown] == ["user", "assistant", "user"]
    assert shown[2].content == "Call: pay with {}\nObservation: True\n\nmore"


def bank(rows: dict[str, list[TaskRow]]) -> list[TaskRow]:
    return rows["bank"][:2]


def test_an_answer_without_a_call_is_answered_by_the_user(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = bank(generated)
    author = Author(lambda prompt, index: "Let me think.")
    played, _ = play(stage, rows, author, limits={"messages": 7, "calls": 10})
    assert [row.ending for row in played] == ["limit", "limit"]
    assert len(played[0].messages) == 7
    known = played[0].messages[2].content or ""
    assert json.dumps(rows[0].task.user_known) in known


def test_limits_of_calls(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = bank(generated)
    author = Author(lambda prompt, index: written_call("fc", "internal_check_username_exist", {"username": "nobody"}))
    played, _ = play(stage, rows, author, limits={"messages": 100, "calls": 3})
    assert [(row.ending, len(row.calls)) for row in played] == [("calls", 3)] * 2
    assert played[0].calls[0].content == "(True, False)"


def test_overflow_and_failures_are_counted_outcomes(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = bank(generated)
    played, _ = play(stage, rows, Author(lambda prompt, index: ("half an answer", "eos", True)))
    assert {row.ending for row in played} == {"overflow"}
    played, _ = play(stage, rows, Author(lambda prompt, index: ("", "error", False)))
    assert {(row.ending, row.error) for row in played} == {("error", "broke")}
    assert len(played) == len(rows)


def test_attempts_are_all_recorded(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = bank(generated)
    lucky = follower(rows, "fc")
    author = Author(
        lambda prompt, index: lucky(prompt, index) if index == 1 else written_call("fc", "exit_conversation", {})
    )
    decoding = {"method": "sampling", "temperature": 0.7, "max_new_tokens": 64}
    played, _ = play(stage, rows, author, decoding=decoding, attempts=3)
    assert [(row.task_id, row.attempt) for row in played] == [(row.task_id, n) for row in rows for n in range(3)]
    assert len({row.row_id for row in played}) == 6
    judged = list(verdict_rows(rows, played, "corrected"))
    from assay.sopbench.rates import rates

    found = rates(judged)
    assert found["pass_rate"].value == 0.0
    assert found["pass@2"].value == pytest.approx(2 / 3)
    assert found["pass@3"].value == 1.0
    assert found["pass^2"].value == found["pass^3"].value == 0.0
    broken = [msgspec.structs.replace(row, ending="error") if row.attempt else row for row in judged]
    assert (rates(broken)["pass@3"].value, rates(broken)["pass@3"].n, rates(broken)["pass@3"].n_failed) == (0.0, 2, 2)
    with pytest.raises(DataError, match="attempts is 3"):
        play(stage, rows, author, attempts=3)


def test_a_model_plays_the_user(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = bank(generated)
    user = Author(lambda prompt, index: "Yes." if len(prompt.messages or []) < 6 else END_OF_TALK)
    played, _ = play(stage, rows, Author(lambda prompt, index: "Are you sure?"), user, user="model")
    assert [row.ending for row in played] == ["exit", "exit"]
    system = user.seen[0].messages[0].content or ""
    assert rows[0].task.user_instruction in system
    # Seen from the user, roles are exchanged, and no call or result is shown.
    assert [message.role for message in user.seen[0].messages or []][1:4] == ["user", "assistant", "user"]


def test_a_user_without_room_is_a_counted_overflow(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    user = Author(lambda prompt, index: ("half an answer", "eos", True))
    played, _ = play(stage, bank(generated), Author(lambda prompt, index: "Are you sure?"), user, user="model")
    assert {(row.ending, row.error) for row in played} == {
        ("overflow", "the user's model has no room for the conversation")
    }


def test_a_length_that_only_the_answer_tells_counts_too(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    for longest, ending in ((6, "overflow"), (7, "limit")):
        author = Author(lambda prompt, index: "Are you sure?")  # says that it read 7 tokens
        played, _ = play(stage, bank(generated), author, max_prompt_tokens=longest, limits={"messages": 3, "calls": 1})
        assert {row.ending for row in played} == {ending}


def test_the_desk(generated: dict[str, list[TaskRow]]) -> None:
    state = json.loads(json.dumps(generated["library"][0].task.initial_database))
    desk = Desk(
        SYSTEMS["library"](state), ["internal_get_membership_fee", "internal_is_admin", "borrow_book"], "unwrapped"
    )
    assert desk.call("internal_get_membership_fee", "").content == str(state["membership_monthly_fee"])
    assert desk.call("remove_book", "{}").content == "Error: Tool remove_book not found."
    assert desk.call("internal_is_admin", '{"who": 1}').content.startswith("TypeError: ")
    assert desk.call("internal_is_admin", "{]").content.startswith("ValueError: the arguments are not JSON")
    assert desk.call("internal_is_admin", "[]").content.startswith("TypeError: ")
    assert desk.call("internal_is_admin", '{"username": NaN}').outcome == "raised"
    assert desk.call("borrow_book", '{"username": "nobody", "book_title": "x"}').content.startswith("KeyError: ")


def test_sums_beyond_all_numbers_are_recorded_and_judged(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    """JSON has no word for infinity: the conversation must still be written, read and judged."""
    row = next(
        row for row in bank(generated) if row.task.user_known["username"] in row.task.initial_database["accounts"]
    )
    given = {"username": row.task.user_known["username"], "amount": 1e308, "unit": "dollar", "deposit_form": "cash"}
    played, _ = play(stage, [row], Author(lambda prompt, index: written_call("fc", "deposit_funds", given)))
    assert [call.content for call in played[0].calls[:2]] == ["True", "True"]
    assert "inf" in json.dumps(played[0].final_database)
    for profile in ("upstream", "corrected"):
        (found,) = verdict_rows([row], played, profile)  # type: ignore[arg-type]
        assert not found.verdict.success


@pytest.mark.parametrize(
    ("name", "function", "given"),
    [
        ("hotel", "register_loyalty_member", {"guest_name": None}),
        ("library", "add_book", {"username": "x", "book_title": None, "count": 1, "restricted": False}),
    ],
)
def test_identifiers_drawn_from_null_repeat(
    name: str, function: str, given: dict[str, Any], generated: dict[str, list[TaskRow]]
) -> None:
    """Models do write null; the database must come out the same in every process, and behind the rules."""
    states = [json.loads(json.dumps(generated[name][0].task.initial_database)) for _ in range(3)]
    for state in states:
        assert Desk(SYSTEMS[name](state), [function], "tuple").call(function, json.dumps(given)).outcome == "returned"
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("environment", ["prompt", "program"])
def test_a_distractor_is_not_found(environment: str, stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    """Tools of other domains are offered and do not exist; that is an error, but no tool that was not offered."""
    author = Author(lambda prompt, index: written_call("fc", "book_room", {"guest_name": "Ana Ito"}))
    prompt = {"environment": environment, "distractors": 200}
    run = program_rollouts.rollouts if environment == "program" else model_rollouts.rollouts
    played, _ = play(stage, bank(generated)[:1], author, run=run, prompt=prompt)
    assert "book_room" in played[0].offered
    assert {call.content for call in played[0].calls} == {"Error: Tool book_room not found."}
    (found,) = verdict_rows(bank(generated), played, "corrected")
    assert (found.verdict.no_tool_call_error, found.verdict.n_unoffered) == (False, 0)


def test_recorded_results_do_not_change_later(generated: dict[str, list[TaskRow]]) -> None:
    state = json.loads(json.dumps(generated["library"][0].task.initial_database))
    system = SYSTEMS["library"](state)
    desk = Desk(system, ["show_available_rooms"], "tuple")
    shown = desk.call("show_available_rooms", '{"username": "x"}')
    before = json.dumps(shown.value)
    state["rooms"].clear()
    assert json.dumps(shown.value) == before != "[true, {}]"


def test_program_mode_enforces_the_rules(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    row = next(row for row in generated["bank"] if row.task.action_should_succeed and len(row.plan or []) > 2)
    goal = next(call for call in row.plan or [] if call.name == row.task.user_goal)

    def answer(prompt: PromptRow, _index: int) -> str:
        made = sum(message.role == "assistant" for message in prompt.messages or [])
        return (
            written_call("fc", goal.name, goal.arguments) if not made else written_call("fc", "exit_conversation", {})
        )

    prompt = {"environment": "program"}
    played, _ = play(stage, [row], Author(answer), run=program_rollouts.rollouts, prompt=prompt)
    assert played[0].calls[0].content == "False"
    assert played[0].final_database is None
    assert not [name for name in played[0].offered if name.startswith("internal_")]


@pytest.mark.parametrize("name", ["bank", "hotel", "university"])
def test_a_plan_without_look_ups_passes_in_program_mode(
    name: str, stage: Any, generated: dict[str, list[TaskRow]]
) -> None:
    """No look-ups are offered there, so that none may be asked for; as published, the graph still does."""
    rows = [row for row in generated[name] if row.task.action_should_succeed]
    kept = [[call for call in row.plan or [] if not call.name.startswith("internal_")] for row in rows]
    plans = [msgspec.structs.replace(row, plan=plan) for row, plan in zip(rows, kept, strict=True)]
    author = Author(follower(plans, "fc"))
    prompt = {"environment": "program", "unpublished_tools": True}
    played, _ = play(stage, rows, author, run=program_rollouts.rollouts, prompt=prompt)
    assert all(row.enforced for row in played)
    assert [row.verdict.reasons for row in verdict_rows(rows, played, "corrected")] == [[]] * len(rows)
    upstream = [row.verdict.dirgraph_satisfied for row in verdict_rows(rows, played, "upstream")]
    assert not all(upstream)
    # At once is still too early where a call that was offered, as a login, must come before.
    at_once = [msgspec.structs.replace(row, plan=(row.plan or [])[-1:]) for row in plans]
    played, _ = play(stage, rows, Author(follower(at_once, "fc")), run=program_rollouts.rollouts, prompt=prompt)
    passed = [row.verdict.success for row in verdict_rows(rows, played, "corrected")]
    assert not all(passed)


def test_a_prompt_about_an_unknown_task_is_an_error(stage: Any, generated: dict[str, list[TaskRow]]) -> None:
    rows = bank(generated)
    tasks = stage.write("tasks", {"tasks.jsonl": rows})
    asked = stage.write("prompts", prompts.prompts({}, stage.inputs(tasks)))
    fewer = stage.write("tasks", {"tasks.jsonl": rows[:1]}, "fewer")
    config = {"agent": "m", "decoding": {"max_new_tokens": 4}}
    with pytest.raises(DataError, match="1 prompts ask about unknown tasks"):
        model_rollouts.rollouts(config, stage.inputs(fewer, asked), Services())


def test_a_real_model_holds_conversations(
    root: Path, stage: Any, tmp_path: Path, generated: dict[str, list[TaskRow]]
) -> None:
    """The tiny random model through the model layer: every conversation ends, and a second run computes nothing."""
    from assay.config.lock import read_lock
    from assay.config.models import read_registry
    from assay.model.generate import ModelSession
    from assay.model.store import RowStore

    entry = read_registry(root)["tiny-a"]
    locked = msgspec.to_builtins(read_lock(root).entry("models/tiny-a"))
    rows = bank(generated)
    results = []
    for _ in range(2):
        with (
            RowStore(tmp_path / "store", job="rollouts.test") as store,
            ModelSession(entry, store=store, locked=locked) as model,
        ):
            settings = {"decoding": {"max_new_tokens": 12}, "limits": {"messages": 5, "calls": 3}}
            played, made = play(stage, rows, model, prompt={"tool_list": "oracle"}, **settings)
            results.append((made.path("rollouts.jsonl").read_bytes(), model.facts()))
    assert [row.ending for row in played] == ["limit"] * 2 or {row.ending for row in played} <= {"limit", "overflow"}
    assert results[0][0] == results[1][0]
    assert all(row.row_keys for row in played)
