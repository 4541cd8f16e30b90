"""Rules in words, prompts, and what they may not miss."""

import re

import pytest

from assay.sopbench.expressions import parse
from assay.sopbench.parts import DOMAINS
from assay.sopbench.prompts import PromptSettings, build_prompt, selected
from assay.sopbench.rows import TaskRow
from assay.sopbench.toolbox import EXIT, offered_functions
from assay.sopbench.verbalise import rule_text

GOLDEN = """ALL of these must hold:
  - the user named by "username" is logged in
  - the time "schedule_time" is free for the test "test_type"
  - ANY ONE of these must hold:
      - ALL of these must hold:
          - "test_type" is the drive test
          - "username" has passed the knowledge test and has no drive test scheduled
      - ALL of these must hold:
          - "test_type" is not the drive test
          - "username" has not passed the knowledge test, or has a drive test scheduled or passed
  - "username" is at least 16 years old
  - "username" has tried the test "test_type" fewer than 3 times"""


def test_a_rule_in_words() -> None:
    domain = DOMAINS["dmv"]
    rules = domain.procedure.rules
    assert rule_text(rules.default("schedule_test"), domain.texts, rules.limits) == GOLDEN


def test_orders_names_and_limits() -> None:
    domain = DOMAINS["bank"]
    rule = parse(
        "chain[internal_check_username_exist(username=payee), gate[not logged_in_user(username), "
        "maximum_deposit_limit(amount, unit)]]"
    )
    assert rule_text(rule, domain.texts, {"maximum_deposit": 7}) == (
        "These must hold IN THIS ORDER:\n"
        '  1. an account of the name "payee" exists\n'
        "  2. ANY ONE of these must hold, looked at IN THIS ORDER:\n"
        '       1. nobody of the name "username" is logged in\n'
        '       2. "amount", in "unit", is at most 7 dollars'
    )
    assert rule_text(None, domain.texts, {}) == "no condition"
    assert "the limit maximum_deposit" in rule_text(rule, domain.texts, {})


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_every_default_rule_has_words_of_its_own(name: str) -> None:
    domain = DOMAINS[name]
    rules = domain.procedure.rules
    for function in domain.procedure.system.functions:
        text = rule_text(rules.default(function), domain.texts, rules.limits)
        assert "it is not so that" not in text
        assert "is true" not in text
        assert "{" not in text
        assert not re.search(r"the limit \w+_", text)


@pytest.mark.parametrize("mode", ["fc", "react", "act-only"])
def test_prompts_hold_what_the_mode_needs(mode: str, generated: dict[str, list[TaskRow]]) -> None:
    for name, rows in generated.items():
        prompt = build_prompt(rows[0], DOMAINS[name], PromptSettings(mode=mode))  # type: ignore[arg-type]
        system = prompt.messages[0].content or ""
        offered = [tool["function"]["name"] for tool in prompt.tools or []]
        assert offered == [*offered_functions(DOMAINS[name].toolbox), EXIT.name]
        assert ("Action Input" in system) == (mode != "fc")
        assert ("Thought:" in system) == (mode == "react")
        assert ('{"name": "exit_conversation"' in system) == (mode != "fc")
        assert rows[0].task.user_goal in system
        assert prompt.messages[1].content == rows[0].task.user_prompt


def test_the_oracle_list_shows_only_the_graph(generated: dict[str, list[TaskRow]]) -> None:
    row = generated["dmv"][0]
    prompt = build_prompt(row, DOMAINS["dmv"], PromptSettings(tool_list="oracle"))
    offered = {tool["function"]["name"] for tool in prompt.tools or []} - {EXIT.name}
    nodes = {node[0] for node in row.task.directed_action_graph["nodes"] if isinstance(node, list)}
    assert offered == nodes - {"internal_get_database"}
    rules = (prompt.messages[0].content or "").split("conditions:")[1]
    assert "transfer_title" not in rules or "transfer_title" in nodes


def test_program_mode_hides_helpers_and_rules(generated: dict[str, list[TaskRow]]) -> None:
    prompt = build_prompt(generated["bank"][0], DOMAINS["bank"], PromptSettings(environment="program"))
    names = [tool["function"]["name"] for tool in prompt.tools or []]
    assert not [name for name in names if name.startswith("internal_")]
    assert "must hold" not in (prompt.messages[0].content or "")


def test_users_distractors_shuffling(generated: dict[str, list[TaskRow]]) -> None:
    row, domain = generated["hotel"][0], DOMAINS["hotel"]
    plain = build_prompt(row, domain, PromptSettings())
    adversarial = build_prompt(row, domain, PromptSettings(user="adversarial"))
    assert adversarial.messages[1].content != plain.messages[1].content
    played = build_prompt(row, domain, PromptSettings(user="model"))
    assert EXIT.name not in [tool["function"]["name"] for tool in played.tools or []]
    more = build_prompt(row, domain, PromptSettings(distractors=5))
    names = [tool["function"]["name"] for tool in more.tools or []]
    assert len(names) == len(set(names)) == len(plain.tools or []) + 5
    orders = [build_prompt(row, domain, PromptSettings(shuffle_seed=seed)).tools for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(map(str, orders[0] or [])) == sorted(map(str, plain.tools or []))


def test_selection_takes_turns(generated: dict[str, list[TaskRow]]) -> None:
    rows = [row for part in generated.values() for row in part]
    settings = PromptSettings(domains=["bank", "hotel"], tasks_per_domain=5)
    chosen = list(selected(iter(rows), settings))
    assert [(row.domain, row.task.action_should_succeed) for row in chosen] == [
        (name, kind) for name in ("bank", "hotel") for kind in (True, True, True, False, False)
    ]


def test_the_threshold_of_the_task_is_shown(generated: dict[str, list[TaskRow]]) -> None:
    import msgspec

    row = next(row for row in generated["bank"] if row.task.user_goal == "get_loan")
    limits = {**row.task.constraint_parameters, "minimum_credit_score": 777}
    changed = TaskRow.of("bank", 0, msgspec.structs.replace(row.task, constraint_parameters=limits))
    prompt = build_prompt(changed, DOMAINS["bank"], PromptSettings())
    assert "777" in (prompt.messages[0].content or "")
