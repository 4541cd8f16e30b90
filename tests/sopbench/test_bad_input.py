"""Bad input, kind by kind: a verdict with a reason, or an error that names file and place."""

import contextlib
import json
import lzma
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.canonical import file_digest
from assay.cli.main import main
from assay.errors import DataError
from assay.sopbench import building
from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.judge import Judge
from assay.sopbench.rows import CallRow, Task, TaskRow, Verdict
from assay.sopbench.tasks import read_tasks
from assay.sopbench.tools import string, toolbox


@pytest.fixture
def task(generated: dict[str, list[TaskRow]]) -> TaskRow:
    """A bank task that should succeed."""
    return next(row for row in generated["bank"] if row.task.action_should_succeed)


def judged(row: TaskRow, *calls: CallRow, final: dict[str, Any] | None = None) -> Verdict:
    judge = Judge(PROCEDURES["bank"], "corrected")
    return judge.judge(judge.prepare(row.task), calls, final, n_sender_messages=3, dialect="tuple")


HUGE = "x" * 1_000_000


@pytest.mark.parametrize(
    "call",
    [
        CallRow("fly_to_the_moon", "{}", "Error: Tool fly_to_the_moon not found."),
        CallRow("", "{}", ""),
        CallRow("get_safety_box", "not json at all", "ValueError: no"),
        CallRow("get_safety_box", '{"username": ', "ValueError: no"),
        CallRow("get_safety_box", '{"username": NaN}', "NaN"),
        CallRow("get_safety_box", '{"username": Infinity}', "inf"),
        CallRow("get_safety_box", json.dumps({"username": HUGE}), HUGE),
        CallRow(HUGE, "{}", ""),
    ],
    ids=["unknown", "nameless", "no json", "cut off", "nan", "infinity", "long argument", "long name"],
)
def test_a_bad_call_gives_a_verdict_with_a_reason(task: TaskRow, call: CallRow) -> None:
    verdict = judged(task, call)
    assert not verdict.success
    assert verdict.reasons
    assert sum(map(len, verdict.reasons)) < 2_000


@pytest.mark.parametrize("final", [{}, {"accounts": None}, {"accounts": {}}])
def test_a_missing_final_state_is_a_mismatch(task: TaskRow, final: dict[str, Any]) -> None:
    verdict = judged(task, final=final)
    assert not verdict.database_match
    assert any("database_match" in reason for reason in verdict.reasons)


def tasks_file(folder: Path, task: Task, **changes: Any) -> Path:
    value = {**msgspec.to_builtins(task), **changes}
    path = folder / "bank_tasks.json"
    path.write_text(json.dumps({task.user_goal: [value]}))
    return path


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"initial_database": None}, "row 0.*initial_database"),
        ({"directed_action_graph": None}, "row 0.*directed_action_graph"),
        ({"action_should_succeed": "yes"}, "row 0.*action_should_succeed"),
    ],
)
def test_a_task_without_a_part_is_named(tmp_path: Path, task: TaskRow, changes: dict[str, Any], words: str) -> None:
    path = tasks_file(tmp_path, task.task, **changes)
    with pytest.raises(DataError, match=words) as caught:
        list(read_tasks(path, "bank"))
    assert caught.value.file == str(path)


def limits(**changed: Any) -> dict[str, Any]:
    return {"constraint_parameters": {**PROCEDURES["bank"].rules.limits, **changed}}


def test_thresholds_of_the_same_kind_are_read(task: TaskRow) -> None:
    judge = Judge(PROCEDURES["bank"])
    for value in (5, 5.5, "5", -1):  # published tasks hold numbers as texts, too
        changed = msgspec.structs.replace(task.task, **limits(maximum_deposit=value))
        assert judge.prepare(changed).task == changed


@pytest.mark.parametrize(
    ("value", "fits"),
    [("14:30", True), ("7:05", True), ("24:00", False), ("noon", False), (15, False), (None, False)],
)
def test_a_threshold_that_is_no_time_of_day_is_named(
    generated: dict[str, list[TaskRow]], value: Any, fits: bool
) -> None:
    row = generated["hotel"][0]
    task = msgspec.structs.replace(
        row.task, constraint_parameters={**row.task.constraint_parameters, "check_in_time": value}
    )
    with contextlib.nullcontext() if fits else pytest.raises(DataError, match="'check_in_time' is "):
        Judge(PROCEDURES["hotel"]).prepare(task)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"initial_database": {}}, "initial_database.*none of Bank"),
        ({"constraints": ["single", "was_once_a_rule", None]}, "was_once_a_rule"),
        ({"constraints": ["single", "logged_in_user", {"user": "username"}]}, "binds user of 'logged_in_user'"),
        ({"constraints": ["single", "logged_in_user", None]}, "binds nothing of 'logged_in_user'"),
        ({"constraints": ["single", "logged_in_user", {"username": "user"}]}, "reads 'user', which .* does not take"),
        ({"constraints": ["single", "logged_in_user", {"username": 5}]}, "bound to 5"),
        ({"constraints": ["single", "logged_in_user", {"username": "value 'ana'"}]}, "name of a variable"),
        ({"constraints_original": ["single", "logged_in_user", None]}, "binds nothing of 'logged_in_user'"),
        ({"constraints_original": ["single", "was_once_a_rule", None]}, "was_once_a_rule"),
        ({"constraint_parameters": {}}, "no threshold 'maximum_deposit'"),
        (limits(maximum_deposit=None), "'maximum_deposit' is 'None'.*kind of 10000"),
        (limits(maximum_deposit="a lot"), "'maximum_deposit' is 'a lot'"),
        (limits(maximum_deposit=True), "'maximum_deposit' is 'True'"),
        (limits(maximum_deposit=[10000]), "'maximum_deposit' is "),
        ({"user_goal": "was_once_a_service"}, "was_once_a_service"),
        ({"directed_action_graph": {"nodes": [["was_once", {}]], "connections": []}}, "graph names 'was_once'"),
    ],
)
def test_a_task_of_another_version_is_named(tmp_path: Path, task: TaskRow, changes: dict[str, Any], words: str) -> None:
    path = tasks_file(tmp_path, task.task, **changes)
    files = {path.name: file_digest(path)}
    settings = building.TaskSettings("published", ["bank"], folder=str(tmp_path), files=files)
    with pytest.raises(DataError, match=words):
        list(building.task_rows(settings))
    with pytest.raises(DataError, match=words):
        Judge(PROCEDURES["bank"]).prepare(msgspec.structs.replace(task.task, **changes))


def test_a_file_in_front_of_the_locked_one_is_not_read(tmp_path: Path, task: TaskRow) -> None:
    path = tasks_file(tmp_path, task.task)
    packed = path.with_name(f"{path.name}.xz")
    packed.write_bytes(lzma.compress(path.read_bytes()))
    files = {packed.name: file_digest(packed)}
    settings = building.TaskSettings("published", ["bank"], folder=str(tmp_path), files=files)
    with pytest.raises(DataError, match=r"bank_tasks\.json: the lock does not name this file"):
        list(building.task_rows(settings))
    path.unlink()
    assert len(list(building.task_rows(settings))) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [("[", "bank_tasks.json"), ("[1]", "object"), ('{"a": {}}', "bank_tasks.json"), ("", "bank_tasks.json")],
)
def test_a_task_file_of_another_form_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bank_tasks.json"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        list(read_tasks(path, "bank"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["pass-rates", "--data", "nowhere"],
        ["import", "nowhere"],
        ["tasks", "--domain", "zoo"],
        ["tasks", "--domain", "bank", "--succeed", "-1"],
    ],
)
def test_the_command_line_ends_with_a_sentence(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sopbench", *arguments]) in (3, 4)
    said = capsys.readouterr().err
    assert said.startswith("assay")
    assert "Traceback" not in said


@pytest.mark.parametrize("benchmark", ["sopbench", "symbench"])
@pytest.mark.parametrize("action", ["fetch", "lock"])
def test_options_of_another_benchmark_are_refused(
    action: str, benchmark: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["data", action, benchmark, "--dataset", "other"]) == 3
    assert f"{benchmark} has no --dataset" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("signature", "words"),
    [("pay", "no signature"), ("pay(user", "no signature"), ("pay(nobody)", "'nobody'"), ("pay(user=no)", "'no'")],
)
def test_a_wrong_signature_is_refused(signature: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        toolbox({"user": string("Who.")}, {signature: "Pay."})


def test_signatures() -> None:
    made = toolbox(
        {"user": string("Who."), "sum_new": string("How much.")},
        {"pay(user, sum=sum_new?, ...)": "Pay.", "leave()": "Leave."},
    )
    pay, leave = made.tools
    assert pay.parameters["required"] == ["user"]
    assert list(pay.parameters["properties"]) == ["user", "sum"]
    assert (pay.parameters["additionalProperties"], leave.parameters["additionalProperties"]) == (True, False)
