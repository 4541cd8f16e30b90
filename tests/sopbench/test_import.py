"""Import of the authors' trajectory files, written here in their form, and the command line."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.cli.main import main
from assay.errors import DataError
from assay.records.jsonl import read_rows
from assay.sopbench.importing import extract_calls, extract_every_call, find_files, read_file
from assay.sopbench.reports import Importer
from assay.sopbench.rollouts import ScriptedSettings, scripted_rollout
from assay.sopbench.rows import TaskRow, VerdictRow

NAME = "ast_some-model-mode_fc-dep_full-fmt_structured-tool_full-shuffle_False.json"


def record(row: TaskRow, agent: str = "oracle", content: str = "tuple") -> dict[str, Any]:
    """Return a record in the authors' form: a conversation of a scripted agent about a task."""
    rollout = scripted_rollout(row, agent, ScriptedSettings([agent], content=content))  # type: ignore[arg-type]
    messages: list[dict[str, Any]] = [{"role": "user", "content": row.task.user_prompt, "sender": "user"}]
    for call in rollout.calls:
        function = {"name": call.name, "arguments": call.arguments}
        messages.append(
            {
                "role": "assistant",
                "content": None,
                "sender": "assistant",
                "tool_calls": [{"id": "1", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": "1", "tool_name": call.name, "content": call.content})
    done = {"id": "2", "function": {"name": "exit_conversation", "arguments": "{}"}}
    messages.append({"role": "assistant", "content": None, "sender": "assistant", "tool_calls": [done]})
    final = rollout.final_database or row.task.initial_database
    task = msgspec.to_builtins(row.task)
    return {
        "domain": row.domain,
        "setup": {},
        "task": task,
        "interactions": [{"interaction": messages, "database": final}],
    }


def write(folder: Path, domain: str, value: Any, name: str = NAME) -> Path:
    path = folder / domain / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


@pytest.fixture
def output(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> Path:
    """A folder of trajectory files: two domains, one file with records without a run, an empty one, one with null."""
    write(tmp_path, "bank", [record(row) for row in generated["bank"][:6]])
    write(
        tmp_path,
        "hotel",
        [
            *(record(row, "do-nothing") for row in generated["hotel"]),
            {**record(generated["hotel"][0]), "interactions": []},
        ],
    )
    write(tmp_path, "dmv", "[]")
    write(tmp_path, "library", "null")
    return tmp_path


def test_files_are_scored_under_both_profiles(output: Path) -> None:
    importer = Importer()
    files = {file.domain: file for file in importer.files(output)}
    assert (files["bank"].n, files["bank"].percent) == (6, {"upstream": 100.0, "corrected": 100.0})
    assert (files["hotel"].n, files["hotel"].n_without, files["hotel"].percent["upstream"]) == (16, 1, 50.0)
    assert files["dmv"].percent == files["library"].percent == {"upstream": None, "corrected": None}
    assert (files["bank"].model, files["bank"].mode, files["bank"].tool_list, files["bank"].user) == (
        "some-model",
        "fc",
        "full",
        "",
    )
    assert len(importer.verdicts) == len({(v.row_id, v.verdict.profile) for v in importer.verdicts}) == 2 * (6 + 16)


def test_stored_evaluations_are_compared(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> None:
    fine, wrong = record(generated["bank"][0]), record(generated["bank"][1])
    fine["evaluations"], wrong["evaluations"] = [{"success": True}], [{"success": False}]
    write(tmp_path, "bank", [fine, wrong, record(generated["bank"][2])])
    file = next(iter(Importer().files(tmp_path)))
    assert (file.n_stored, file.n_differing) == (2, 1)


def test_two_runs_of_a_record_count_once(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> None:
    first, second = record(generated["bank"][0]), record(generated["bank"][0], "do-nothing")
    first["interactions"] += second["interactions"]
    write(tmp_path, "bank", [first])
    file = next(iter(Importer().files(tmp_path)))
    assert (file.n, file.n_runs, file.percent["upstream"]) == (1, 2, 100.0)


def test_records_about_one_task_are_counted_and_told(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> None:
    first, other = generated["bank"][:2]
    write(tmp_path, "bank", [record(first), record(other), record(first, "do-nothing")])
    importer = Importer()
    file = next(iter(importer.files(tmp_path)))
    assert (file.n, file.n_repeated, file.percent["upstream"]) == (3, 1, 66.67)
    assert len({verdict.row_id for verdict in importer.verdicts}) == 3


def test_a_cut_off_conversation_is_known_as_such(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> None:
    whole, cut = record(generated["bank"][0]), record(generated["bank"][1])
    del cut["interactions"][0]["interaction"][-1]
    write(tmp_path, "bank", [whole, cut])
    importer = Importer()
    list(importer.files(tmp_path))
    assert [row.ending for row in importer.verdicts] == ["exit", "exit", "limit", "limit"]


def test_names_and_dialects(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> None:
    name = "usr_gpt-4o-ast_gpt-4.1-mini-mode_act-only-dep_full-fmt_structured-tool_test-shuffle_False.json"
    write(tmp_path, "bank", [record(generated["bank"][1], content="unwrapped")], name)
    file = find_files(tmp_path)[0]
    assert (file.user, file.model, file.mode, file.tool_list) == ("gpt-4o", "gpt-4.1-mini", "act-only", "oracle")
    assert read_file(file).dialect == "unwrapped"


def test_extraction() -> None:
    def asked(*names: str) -> dict[str, Any]:
        return {
            "sender": "assistant",
            "tool_calls": [{"function": {"name": name, "arguments": "{}"}} for name in names],
        }

    messages = [
        {"sender": "user"},
        asked("N/A"),
        {"sender": "user"},
        asked("none", "pay", "fly"),
        {"tool_name": "pay_more", "content": "True"},
        {"sender": "assistant", "tool_calls": None},
        asked("exit_conversation"),
    ]
    calls = extract_calls(messages)
    assert [(call.called, call.content) for call in calls] == [("pay_more", "True")]


def test_parallel_calls_are_all_judged_only_when_corrected() -> None:
    def asked(*names: str) -> dict[str, Any]:
        calls = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in names]
        return {"sender": "assistant", "tool_calls": calls}

    def told(name: str, content: str, **more: Any) -> dict[str, Any]:
        return {"tool_name": name, "content": content, **more}

    messages = [
        {"sender": "user"},
        asked("look", "pay", "none"),
        told("pay", "paid", tool_call_id="pay"),
        told("look", "seen", tool_call_id="look"),
        asked("wait"),
        told("wait", "waited"),
        asked("look", "exit_conversation"),
        asked("exit_conversation"),
    ]
    assert [(c.called, c.content) for c in extract_calls(messages)] == [
        ("pay", "paid"),
        ("wait", "waited"),
        ("look", ""),
    ]
    assert [(c.called, c.content) for c in extract_every_call(messages)] == [
        ("look", "seen"),
        ("pay", "paid"),
        ("wait", "waited"),
        ("look", ""),
    ]


def with_message(record: dict[str, Any], message: Any) -> dict[str, Any]:
    run = record["interactions"][0]
    return {**run, "interaction": [message, *run["interaction"]]}


def without_goal(given: dict[str, Any], nodes: list[Any]) -> dict[str, Any]:
    return {**given, "task": {**given["task"], "user_goal": "", "directed_action_graph": {"nodes": nodes}}}


def calling(name: Any) -> dict[str, Any]:
    return {"sender": "assistant", "tool_calls": [{"function": {"name": name, "arguments": "{}"}}]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda records: json.dumps(records)[:-30], "cut off"),
        (lambda records: {"a": 1}, "list of records"),
        (lambda records: [{**records[0], "task": None}], "row 0.*task"),
        (lambda records: [records[0], {**records[1], "task": {"user_goal": 5}}], "row 1.*task"),
        (lambda records: [{**records[0], "interactions": [{"interaction": []}]}], "final database"),
        (lambda records: [{**records[0], "interactions": [{"database": {}}]}], "no messages"),
        (
            lambda records: [
                {**records[0], "task": {**records[0]["task"], "constraints": ["single", "old_rule", None]}}
            ],
            "row 0.*old_rule",
        ),
        (
            lambda records: [{**records[0], "task": {**records[0]["task"], "user_goal": "old_service"}}],
            "row 0.*old_service",
        ),
        (lambda records: [5], "row 0.*no task"),
        (lambda records: [{**records[0], "interactions": 3}], "row 0.*lists"),
        (lambda records: [{**records[0], "interactions": [with_message(records[0], "said")]}], "run 0.*authors' form"),
        (
            lambda records: [{**records[0], "interactions": [with_message(records[0], {"tool_calls": [{}]})]}],
            "run 0.*KeyError",
        ),
        (lambda records: [without_goal(records[0], [])], "row 0.*user_goal"),
        (lambda records: [without_goal(records[0], [[["pay"], {}]])], "row 0.*user_goal"),
        (
            lambda records: [
                records[0],
                {**records[1], "task": {**records[1]["task"], "constraint_parameters": {"minimum_credit_score": 600}}},
            ],
            "row 1.*no threshold",
        ),
        (
            lambda records: [{**records[0], "interactions": [with_message(records[0], calling(["pay"]))]}],
            "run 0.*named \\['pay'\\]",
        ),
        (
            lambda records: [{**records[0], "task": {**records[0]["task"], "user_known": {"a": "\ud800"}}}],
            "row 0.*surrogate",
        ),
        (
            lambda records: [{**records[0], "task": {**records[0]["task"], "constraints": "\ud800"}}],
            "row 0.*a task of SOPBench",
        ),
        (lambda records: json.dumps(records).replace('"balance": ', '"balance": NaN, "was": ', 1), "row 0.*NaN"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, generated: dict[str, list[TaskRow]], change: Any, words: str) -> None:
    write(tmp_path, "bank", change([record(row) for row in generated["bank"][:2]]))
    with pytest.raises(DataError, match=words) as caught:
        list(Importer().files(tmp_path))
    assert caught.value.file is not None


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, generated: dict[str, list[TaskRow]]) -> None:
    write(tmp_path, "bank", [record(generated["bank"][0])])
    find_files(tmp_path)[0].path.unlink()
    folder = tmp_path / "bank" / "ast_m-mode_fc-dep_full-fmt_structured-tool_full-shuffle_False.json"
    folder.mkdir(parents=True)
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(Importer().files(tmp_path))


def test_a_folder_without_files_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no trajectory file"):
        find_files(tmp_path)
    write(tmp_path, "zoo", "[]")
    with pytest.raises(DataError, match="'zoo' is no domain"):
        list(Importer().files(tmp_path))


def test_the_import_command(output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    verdicts = tmp_path / "verdicts.jsonl"
    (output / "bank/ast_some-model-mode_telepathy.json").write_text("[]")
    assert main(["sopbench", "import", str(output), "--verdicts", str(verdicts)]) == 0
    said = capsys.readouterr()
    assert "left out, not named like trajectories: " in said.err
    assert "mode_telepathy.json" in said.err
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [(row["domain"], row["n"], row["upstream_percent"]) for row in rows] == [
        ("bank", "6", "100.0"),
        ("dmv", "0", ""),
        ("hotel", "16", "50.0"),
        ("library", "0", ""),
    ]
    assert len(list(read_rows(verdicts, VerdictRow))) == 44


def test_the_diagnostic_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sopbench", "diagnostic", "--seed", "42"]) == 0
    first = capsys.readouterr().out
    assert "not a score of any model" in first
    assert main(["sopbench", "diagnostic", "--seed", "42", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["sound"] is True


def test_the_tasks_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sopbench", "tasks", "--domain", "dmv", "--succeed", "1", "--refuse", "1"]) == 0
    rows = [msgspec.json.decode(line, type=TaskRow) for line in capsys.readouterr().out.splitlines()]
    assert [row.task.action_should_succeed for row in rows] == [True, False]
    assert main(["sopbench", "tasks", "--domain", "zoo"]) == 3
    assert "'zoo' is no domain" in capsys.readouterr().err


def test_the_conformance_and_pass_rate_commands(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = vectors / "replays_university.jsonl.xz"
    assert main(["conformance", "sopbench-replays", str(path)]) == 0
    assert "1718 passed, 0 failed, 0 skipped" in capsys.readouterr().out
    (tmp_path / "pass_rates.csv").write_bytes((vectors / "pass_rates.csv").read_bytes())
    assert main(["sopbench", "pass-rates", "--data", str(tmp_path)]) == 4
    assert "there are no replays" in capsys.readouterr().err
