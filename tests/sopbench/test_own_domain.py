"""A domain that a user writes goes through every stage, with the evaluator, generator and agents as they are."""

import dataclasses
import random
from typing import Any

import bikes
import msgspec
import pytest

from assay.errors import ConfigError, DataError
from assay.records.rows import MetricRow, PromptRow
from assay.sopbench import building, catalogue, metrics, parts, prompts, rollouts, systems, verdicts
from assay.sopbench.domain import Scenario, Texts
from assay.sopbench.generator import TaskGenerator
from assay.sopbench.graph import Graph
from assay.sopbench.judge import Judge
from assay.sopbench.rows import RolloutRow, TaskRow, VerdictRow
from assay.sopbench.rules import Rules
from assay.sopbench.scripted import SCRIPTS
from assay.sopbench.system import Strict, default_table
from assay.sopbench.tools import string, toolbox


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do what the three lines in `systems`, `catalogue` and `parts` do."""
    monkeypatch.setitem(systems.SYSTEMS, "bikes", bikes.Bikes)
    monkeypatch.setitem(catalogue.PROCEDURES, "bikes", bikes.BIKES.procedure)
    monkeypatch.setitem(parts.DOMAINS, "bikes", bikes.BIKES)


@pytest.mark.usefixtures("registered")
def test_the_chain_from_tasks_to_metrics(stage: Any) -> None:
    config = {"source": "generated", "domains": ["bikes"], "seed": 3, "succeed": 9, "refuse": 9}
    tasks = stage.write("tasks", building.build(config, stage.inputs()))
    rows = stage.rows(tasks, "tasks.jsonl", TaskRow)
    assert {row.task.user_goal for row in rows} == {"lend_bike", "take_back", "pay_deposit"}
    assert [row.task.action_should_succeed for row in rows] == [True] * 9 + [False] * 9
    asked = stage.rows(stage.write("prompts", prompts.prompts({}, stage.inputs(tasks))), "prompts.jsonl", PromptRow)
    shown = (asked[0].messages or [])[0].content or ""
    assert "at least 15 dollars" in shown
    assert "internal_who_has" in shown
    played = stage.write("rollouts", rollouts.scripted({"agents": list(SCRIPTS)}, stage.inputs(tasks)))
    assert len(stage.rows(played, "rollouts.jsonl", RolloutRow)) == 18 * len(SCRIPTS)
    judged = stage.write("verdicts", verdicts.judge({"profile": "corrected"}, stage.inputs(tasks, played)))
    run = {"model": "", "method": "scripted", "profile": "corrected", "setting": {}, "agents": list(SCRIPTS)}
    made = stage.write("metrics", metrics.compute({"dataset": "d", "runs": [run]}, stage.inputs(judged)))
    found = {
        (r.model, r.metric): r.value
        for r in stage.rows(made, "metrics.jsonl", MetricRow)
        if r.setting == "domain=all" and not r.baseline
    }
    assert found["oracle", "pass_rate"] == 1.0
    assert found["do-nothing", "pass_rate"] == 0.5
    assert found["oracle", "refusal_justified_rate"] == 1.0
    assert found["target-at-once", "pass_rate_should_succeed"] == 0.0
    assert found["wrong-user", "pass_rate_should_succeed"] == 0.0
    reasons = [r.verdict.reasons for r in stage.rows(judged, "verdicts.jsonl", VerdictRow) if not r.verdict.success]
    assert all(reasons)


@pytest.mark.usefixtures("registered")
def test_its_rules_are_enforced_in_program_mode() -> None:
    from assay.sopbench.program_rollouts import open_strict

    row = next(r for r in building.TaskGenerator(bikes.BIKES).tasks(0, 3, 0) if r.task.user_goal == "lend_bike")
    talk = open_strict(row, "m", 0, "tuple", "list", sorted(bikes.Bikes.functions))
    known = row.task.user_known
    target = msgspec.json.encode({"rider": known["rider"], "bike": known["bike"]}).decode()
    assert talk.desk.call("lend_bike", target).content == "False"
    login = msgspec.json.encode({"rider": known["rider"], "pin": known["pin"]}).decode()
    assert talk.desk.call("login_user", login).content == "True"
    assert talk.desk.call("lend_bike", target).content == "True"


def test_every_condition_has_words_and_every_function_a_tool() -> None:
    procedure = bikes.BIKES.procedure
    names = {tool.name for tool in bikes.TOOLBOX.tools}
    assert names == set(procedure.system.functions)
    constraints = set(procedure.session.constraints) - {"logged_in_user"}
    assert constraints <= set(bikes.TEXTS.conditions)


def test_a_drawn_violation_is_the_only_thing_wrong() -> None:
    """Mending the one condition makes the task one that should succeed."""
    rows = building.TaskGenerator(bikes.BIKES).tasks(5, 0, 12)
    judge = Judge(bikes.BIKES.procedure, "corrected")
    poor = [r for r in rows if r.task.user_goal == "lend_bike" and _deposit(r.task) < 15]
    assert poor
    for row in poor:
        state = msgspec.json.decode(msgspec.json.encode(row.task.initial_database))
        state["accounts"][row.task.user_known["rider"]]["deposit"] = 100
        mended = msgspec.structs.replace(row.task, initial_database=state, action_should_succeed=True)
        if state["bikes"].get(mended.user_known["bike"], {"rider": 1})["rider"] is None:
            planned = next(iter(building.planned(bikes.BIKES, [TaskRow.of("bikes", 0, mended)])))
            assert planned.plan is not None
            assert planned.plan[-1].name == "lend_bike"
    assert Graph.decode(poor[0].task.directed_action_graph).functions()
    assert judge.prepare(poor[0].task).n_constraints > 0


def _deposit(task: Any) -> float:
    return task.initial_database["accounts"][task.user_known["rider"]]["deposit"]


def test_worlds_are_drawn_from_the_seed_alone() -> None:
    assert bikes.world(random.Random(1)) == bikes.world(random.Random(1))


def test_an_unregistered_domain_is_refused() -> None:
    with pytest.raises(ConfigError, match="'bikes' is no domain"):
        building.domain_named("bikes")


@pytest.mark.parametrize(("pin", "lent"), [("77", True), ("78", False)])
def test_a_login_that_answers_with_a_pair_logs_in_on_success_only(pin: str, lent: bool) -> None:
    class Talkative(bikes.Bikes):  # type: ignore[name-defined,misc]
        def login_user(self, rider: str, pin: str) -> tuple[bool, str]:
            right = super().login_user(rider, pin)
            return right, "welcome" if right else "wrong"

    state = {"accounts": {"ana": {"pin": "77", "deposit": 20}}, "bikes": {"b1": {"rider": None}}}
    procedure = bikes.BIKES.procedure
    table = default_table(procedure.rules, procedure.session, Talkative)
    strict = Strict(procedure.session(Talkative(state), {"minimum_deposit": 15}, careful=True), table)
    strict.call("login_user", {"rider": "ana", "pin": pin})
    assert strict.call("lend_bike", {"rider": "ana", "bike": "b1"}) is lent


def _tables(**tables: dict[str, str]) -> Rules:
    """The rules of the bikes, with entries of some tables put in or replaced."""
    empty: dict[str, dict[str, str]] = {
        name: {} for name in ("innate", "required", "customizable", "links", "dependencies", "processes")
    }
    added = Rules.of(**{**empty, **tables}, limits={})
    changes = {name: {**getattr(bikes.RULES, name), **getattr(added, name)} for name in tables}
    return dataclasses.replace(bikes.RULES, **changes)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"required": {"lend_bkie": "logged_in(rider)"}}, "required.lend_bkie.*'lend_bkie' is no function"),
        ({"customizable": {"lend_bike": "enuf(rider)"}}, "customizable.lend_bike.*'enuf'"),
        ({"required": {"lend_bike": "logged_in(user=rider)"}}, "required.lend_bike.*binds user of 'logged_in'"),
        (
            {"required": {"take_back": "logged_in(rider=user)"}},
            "required.take_back.*'user' is no parameter",
        ),
        ({"links": {"logged_inn": "login_user(rider)"}}, "links.logged_inn.*no constraint or function"),
        ({"links": {"logged_in": "log_in(rider)"}}, "links.logged_in.*'log_in' is no function"),
        ({"processes": {"has_bike": "internal_who_has(bkie)"}}, "processes.has_bike.*no parameter of internal_who_has"),
        ({"dependencies": {"bike_free": "internal_bike_exists(bkie)"}}, "dependencies.bike_free.*binds bkie"),
    ],
)
def test_a_misspelled_name_in_a_table_is_named(tables: dict[str, dict[str, str]], words: str) -> None:
    """Otherwise it would read as "no rule", and everything would be permitted."""
    with pytest.raises(ConfigError, match=words):
        dataclasses.replace(bikes.BIKES.procedure, rules=_tables(**tables))


def test_a_wish_names_what_is_drawn() -> None:
    scenario = Scenario(bikes.world, bikes.request, {"lend_bike": "borrow {bkie}"})
    with pytest.raises(ConfigError, match=r"'borrow \{bkie\}' names what the request does not draw"):
        TaskGenerator(dataclasses.replace(bikes.BIKES, scenario=scenario)).tasks(0, 1, 0)


def test_a_link_is_one_call() -> None:
    with pytest.raises(DataError, match="a link is one call"):
        _tables(links={"logged_in": "and[login_user(rider), take_back(rider)]"})


@pytest.mark.parametrize(
    ("part", "value", "words"),
    [
        ("texts", Texts("x", {"bike_fre": "y"}), "conditions.*'bike_fre'"),
        ("texts", Texts("x", {"bike_free": "nobody has {bkie}"}), "conditions.bike_free.*'bkie' is no parameter"),
        ("texts", Texts("x", {"bike_free": ("{bike}", "{limits[x]}")}), "conditions.bike_free.*limits\\[x\\]"),
        ("scenario", Scenario(bikes.world, bikes.request, {"lend": "x"}), "wishes.*'lend' is no function"),
        ("toolbox", toolbox({"a": string("x")}, {"lend_bkie(a)": "x"}), "tools.lend_bkie"),
        ("toolbox", toolbox({"a": string("x")}, {"lend_bike(a)": "x"}), "'a' is no parameter of lend_bike"),
        ("toolbox", toolbox({}, {}, hidden=("lend_bike",)), "'lend_bike' is no tool"),
    ],
)
def test_a_misspelled_name_around_the_rules_is_named(part: str, value: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        dataclasses.replace(bikes.BIKES, **{part: value})
