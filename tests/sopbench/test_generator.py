"""New tasks: determinism, oracle plans, violations, mutations, controls."""

import contextlib
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import msgspec
import mutations
import pytest

from assay.canonical import digest
from assay.errors import DataError
from assay.sopbench.building import planned
from assay.sopbench.expressions import decode
from assay.sopbench.generator import TaskGenerator
from assay.sopbench.judge import Judge
from assay.sopbench.parts import DOMAINS
from assay.sopbench.rollouts import ScriptedSettings, scripted_rollout
from assay.sopbench.rows import RolloutRow, TaskRow, Verdict, task_identity
from assay.sopbench.system import compile_rule, opened_session
from assay.sopbench.tasks import load_tasks

SETTINGS = ScriptedSettings(["oracle"])
NAMES = sorted(DOMAINS)


def verdict_of(row: TaskRow, rollout: RolloutRow, profile: str = "corrected") -> Verdict:
    judge = Judge(DOMAINS[row.domain].procedure, profile)  # type: ignore[arg-type]
    return judge.judge(
        judge.prepare(row.task),
        rollout.calls,
        rollout.final_database,
        n_sender_messages=rollout.n_sender_messages,
        dialect=rollout.content_dialect,
        offered=rollout.offered,
    )


@pytest.mark.parametrize("name", NAMES)
def test_oracle_plans_are_accepted(name: str, generated: dict[str, list[TaskRow]]) -> None:
    for row in generated[name]:
        assert row.plan is not None
        rollout = scripted_rollout(row, "oracle", SETTINGS)
        verdict = verdict_of(row, rollout)
        assert verdict.success, (row.task.user_goal, verdict.reasons)
        # As published, a boolean argument cannot be read.
        if not any(isinstance(value, bool) for call in row.plan for value in call.arguments.values()):
            assert verdict_of(row, rollout, "upstream").success


@pytest.mark.parametrize("name", NAMES)
def test_controls_fail_on_tasks_that_should_succeed(name: str, generated: dict[str, list[TaskRow]]) -> None:
    for row in generated[name]:
        if not row.task.action_should_succeed:
            assert verdict_of(row, scripted_rollout(row, "do-nothing", SETTINGS)).success
            assert not verdict_of(row, scripted_rollout(row, "target-at-once", SETTINGS)).success
            continue
        assert not verdict_of(row, scripted_rollout(row, "do-nothing", SETTINGS)).success
        if len(row.plan or []) > 1:
            assert not verdict_of(row, scripted_rollout(row, "target-at-once", SETTINGS)).success
            assert not verdict_of(row, scripted_rollout(row, "wrong-order", SETTINGS)).success


@pytest.mark.parametrize("name", NAMES)
def test_tasks_are_different_and_of_the_wanted_kind(name: str, generated: dict[str, list[TaskRow]]) -> None:
    rows = generated[name]
    assert [row.task.action_should_succeed for row in rows] == [True] * 8 + [False] * 8
    assert len({row.task_id for row in rows}) == 16
    assert all(row.task_id == task_identity(name, row.text) for row in rows)
    assert [row.index for row in rows] == list(range(16))
    assert len({row.task.user_goal for row in rows}) >= 5


def test_a_task_to_refuse_breaks_a_rule_that_the_agent_is_shown() -> None:
    """Else an agent that follows every condition it reads would be expected to refuse."""
    procedure = DOMAINS["hotel"].procedure  # nobody logs in there
    for seed in (2, 5):
        for row in TaskGenerator(DOMAINS["hotel"]).tasks(seed, 0, 15):
            task = row.task
            session = opened_session(
                procedure.system, procedure.session, task.initial_database, task.constraint_parameters, careful=True
            )
            shown = compile_rule(decode(task.constraints_original), procedure.session, procedure.system)
            assert shown is not None
            with contextlib.suppress(KeyError, StopIteration, TypeError):  # a condition on what does not exist
                assert not shown(session, task.user_known), (seed, row.index, task.user_goal)


def test_seeds_share_no_task(generated: dict[str, list[TaskRow]]) -> None:
    other = TaskGenerator(DOMAINS["dmv"]).tasks(1, 8, 8)
    assert not {row.task_id for row in other} & {row.task_id for row in generated["dmv"]}


def test_the_same_seed_gives_the_same_tasks_in_another_process(generated: dict[str, list[TaskRow]]) -> None:
    code = (
        "import msgspec; from assay.canonical import digest; from assay.sopbench.generator import TaskGenerator;"
        "from assay.sopbench.parts import DOMAINS;"
        "print(digest('t', msgspec.to_builtins(TaskGenerator(DOMAINS['hotel']).tasks(0, 8, 8))))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == digest("t", msgspec.to_builtins(generated["hotel"]))


def test_tasks_are_the_ones_of_the_last_release(generated: dict[str, list[TaskRow]]) -> None:
    """A change here means: other tasks for everybody. The draws are the same in Python 3.9 to 3.13."""
    assert digest("t", [row.task_id for rows in generated.values() for row in rows]) == GOLDEN_TASKS


GOLDEN_TASKS = "abdcd4221b07238e72a5d78e4c2da23dbb88598e9e871e1d001af9a6a3da1789"


def test_more_tasks_than_a_domain_gives_is_an_error() -> None:
    only_reading = dict.fromkeys(["logout_user"], "leave")
    domain = replace(DOMAINS["university"], scenario=replace(DOMAINS["university"].scenario, wishes=only_reading))
    with pytest.raises(DataError, match="gives 0 tasks that should be refused"):
        TaskGenerator(domain).tasks(0, 0, 1)


def test_single_mutations_fail(capsys: pytest.CaptureFixture[str]) -> None:
    """At least 90 % of single mutations of oracle plans fail, and each that passes is of a listed kind."""
    made: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    excuses: Counter[str] = Counter()
    for name in NAMES:
        for row in TaskGenerator(DOMAINS[name]).tasks(0, 6, 0):
            for kind, number, plan in mutations.mutations(row):
                made[kind] += 1
                if succeeds(row, plan):
                    passed[kind] += 1
                    excuse = mutations.excuse(row, kind, number, plan)
                    assert excuse is not None, (name, row.task.user_goal, kind, number)
                    excuses[excuse] += 1
            for kind, number, plan in mutations.neighbours(row):
                if succeeds(row, plan):
                    assert mutations.excuse(row, kind, number, plan) == "unordered siblings"
    with capsys.disabled():
        shares = ", ".join(
            f"{kind} {100 * (1 - passed[kind] / made[kind]):.1f} % of {made[kind]} fail" for kind in made
        )
        print(f"\nmutations: {shares}; passing: {dict(excuses)}")
    assert passed.total() <= 0.1 * made.total()
    assert passed["drop"] == passed["swap with the target"] == 0


def succeeds(row: TaskRow, plan: list) -> bool:
    changed = msgspec.structs.replace(row, plan=plan)
    return verdict_of(row, scripted_rollout(changed, "oracle", SETTINGS)).success


def test_published_tasks_get_plans(vectors: Path) -> None:
    """No plan exists for 17 of 321: no schema, a hidden tool, or a user without a credential."""
    without = []
    for name in NAMES:
        for row in planned(DOMAINS[name], load_tasks(vectors / "tasks", name)):
            if not row.solvable:
                without.append((name, row.task.user_goal))
            elif row.plan and row.index % 4 == 0:
                assert verdict_of(row, scripted_rollout(row, "oracle", SETTINGS)).success
    assert len(without) == 17
    assert {name for name, _ in without} == {"bank"}
