"""Every way of running a model, through the real steps: tasks, prompts, rollouts, verdicts, metrics."""

import csv
import importlib.util
import json
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from assay.config.lock import read_lock, write_entry
from assay.config.models import read_registry
from assay.model.cache import Cache
from assay.model.identity import check_against_lock, lock_entry
from assay.plan import Project, open_project
from assay.records.jsonl import read_rows
from assay.records.rows import MetricRow, PromptRow
from assay.sopbench.parts import DOMAINS
from assay.sopbench.rows import RolloutRow, TaskRow, VerdictRow

FEW = {"tasks_per_domain": 2, "max_messages": 5, "max_calls": 3}
SAMPLED = {"method": "sampling", "temperature": 1.0, "top_p": 0.95, "max_new_tokens": 12}
SHORT = {"max_new_tokens": 12}
METHODS: dict[str, dict[str, Any]] = {
    # The whole list of tools is eleven thousand of the tiny tokenizer's bytes: one task, one turn.
    "fc-full": {
        "mode": "fc",
        "tool_list": "full",
        "decoding": SHORT,
        "domains": ["university"],
        "tasks_per_domain": 1,
        "max_messages": 3,
    },
    "fc-user": {
        **FEW,
        "mode": "fc",
        "tool_list": "oracle",
        "user": "wide-b",
        "decoding": SAMPLED,
        "user_decoding": SHORT,
        "attempts": 3,
        "domains": ["university"],
    },
    "react-distractors": {
        **FEW,
        "mode": "react",
        "tool_list": "oracle",
        "distractors": 2,
        "shuffle_seed": 1,
        "user": "adversarial",
        "decoding": SHORT,
        "domains": ["university"],
    },
    "act-program": {
        **FEW,
        "mode": "act-only",
        "environment": "program",
        "tool_list": "oracle",
        "decoding": SHORT,
        "domains": ["library"],
    },
}


def wide(root: Path, folder: Path, name: str) -> dict[str, Any]:
    """Copy a tiny random model with a context that holds these prompts; return its entry of the registry."""
    tiny = read_registry(root)[f"tiny-{name[-1]}"]
    source = check_against_lock(tiny, read_lock(root).entry(f"models/{tiny.name}"), Cache())
    place = folder / "weights" / name
    shutil.copytree(source, place)
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps({**config, "max_position_embeddings": 32_768}))
    about = {"title": name, "family": "tiny", "layers": 4, "width": 32, "licence": "Apache-2.0"}
    return {**about, "source": {"kind": "folder", "path": str(place)}}


def wide_project(root: Path, folder: Path, sopbench: dict[str, Any]) -> Project:
    """Return a project that evaluates one model of this kind, while another one may play the user."""
    (folder / "configs").mkdir(parents=True)
    models = {name: wide(root, folder, name) for name in ("wide-a", "wide-b")}
    (folder / "configs/models.yaml").write_text(json.dumps({"models": models}))
    (folder / "configs/lock.yaml").write_text("{}")
    for name in models:
        write_entry(folder, f"models/{name}", lock_entry(read_registry(folder)[name], Cache()))
    return small_project(root, folder, sopbench, "wide-a")


def small_project(root: Path, folder: Path, sopbench: dict[str, Any], *models: str) -> Project:
    """Return a project with the repository's configs and one experiment on generated tasks."""
    (folder / "configs/experiments").mkdir(parents=True, exist_ok=True)
    for path in (root / "configs").glob("*.yaml"):
        if not (folder / "configs" / path.name).exists():
            (folder / "configs" / path.name).write_text(path.read_text())
    default = yaml.safe_load((root / "configs/sopbench.yaml").read_text())
    (folder / "configs/sopbench.yaml").write_text(json.dumps({**default, "methods": {}}))
    (folder / "constraints.txt").write_text((root / "constraints.txt").read_text())
    section = {"generated": {"succeed": 2, "refuse": 2}, "domains": ["library", "university"], **sopbench}
    experiment = {"models": list(models), "seeds": [0], "benchmarks": {"sopbench": section}}
    (folder / "configs/experiments/one.yaml").write_text(json.dumps({**experiment, "allow_environment": True}))
    (folder / "configs/experiment.yaml").write_text("use: one\n")
    return open_project(folder)


def make(project: Project, *stages: str) -> dict[str, Path]:
    """Make the project's SOPBench artifacts in order; return their folders by stage and item."""
    folders = {}
    for planned in project.plan.values():
        if "sopbench" in planned.job.item and (not stages or planned.job.stage in stages):
            project.maker.make(planned)
            folders[f"{planned.job.stage}/{planned.job.item}"] = project.root / planned.folder
    return folders


def rows(folder: Path, name: str, kind: Any) -> list[Any]:
    return list(read_rows(folder / f"{name}.jsonl", kind))


@pytest.fixture(scope="module")
def made(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All artifacts of the four methods and the tiny model."""
    config = {"methods": METHODS, "scripted": ["oracle"], "profiles": ["upstream", "corrected"]}
    return make(wide_project(root, tmp_path_factory.mktemp("steps") / "p", config))


@pytest.mark.parametrize("method", METHODS)
def test_every_conversation_is_recorded_judged_and_counted(made: dict[str, Path], method: str) -> None:
    item = f"sopbench-generated.{method}.wide-a.s0"
    asked = rows(made[f"prompts/sopbench-generated.{method}"], "prompts", PromptRow)
    played = rows(made[f"rollouts/{item}"], "rollouts", RolloutRow)
    attempts = METHODS[method].get("attempts", 1)
    assert len(asked) == METHODS[method]["tasks_per_domain"]
    assert Counter(row.task_id for row in played) == {prompt.query_id: attempts for prompt in asked}
    assert {row.ending for row in played} <= {"limit", "calls", "exit", "overflow"}
    assert all(row.row_keys for row in played if row.ending != "overflow")
    for profile in ("upstream", "corrected"):
        judged = rows(made[f"verdicts/{item}.{profile}"], "verdicts", VerdictRow)
        assert [row.row_id for row in judged] == [row.row_id for row in played]
    found = rows(made["metrics/sopbench"], "metrics", MetricRow)
    own = [r for r in found if f"method={method}" in r.setting and r.metric == "pass_rate" and not r.baseline]
    assert {(r.profile, r.n) for r in own} == {("upstream", len(asked)), ("corrected", len(asked))}


def test_most_conversations_of_the_tiny_model_go_on_to_a_limit(made: dict[str, Path]) -> None:
    """Else the tests above would say little."""
    endings = Counter(
        row.ending
        for name, folder in made.items()
        if name.startswith("rollouts/") and "wide" in name
        for row in rows(folder, "rollouts", RolloutRow)
    )
    assert endings["limit"] > endings.total() / 2


def test_attempts_differ_and_give_pass_at_k(made: dict[str, Path]) -> None:
    played = rows(made["rollouts/sopbench-generated.fc-user.wide-a.s0"], "rollouts", RolloutRow)
    by_task = {row.task_id: {r.messages[1].content for r in played if r.task_id == row.task_id} for row in played}
    assert all(len(texts) == 3 for texts in by_task.values())
    found = rows(made["metrics/sopbench"], "metrics", MetricRow)
    own = {r.metric for r in found if "method=fc-user" in r.setting and "domain=all" in r.setting}
    assert {"pass@2", "pass^2", "pass@3", "pass^3"} <= own
    lines = list(csv.DictReader((made["metrics/sopbench"] / "attempts.csv").open()))
    assert {line["metric"] for line in lines} == {"pass@2", "pass^2", "pass@3", "pass^3"}


def test_a_model_played_the_user(made: dict[str, Path]) -> None:
    played = rows(made["rollouts/sopbench-generated.fc-user.wide-a.s0"], "rollouts", RolloutRow)
    answers = [m.content for row in played for m in row.messages[1:] if m.role == "user"]
    assert answers
    assert not any("Here is all that I know" in (text or "") for text in answers)
    assert all("exit_conversation" not in row.offered for row in played)


def test_tool_lists_are_what_the_methods_say(made: dict[str, Path]) -> None:
    tasks = {row.task_id: row for row in rows(made["tasks/sopbench-generated"], "tasks", TaskRow)}

    def offered(method: str) -> list[tuple[TaskRow, list[str]]]:
        asked = rows(made[f"prompts/sopbench-generated.{method}"], "prompts", PromptRow)
        return [(tasks[p.query_id], [tool["function"]["name"] for tool in p.tools or []]) for p in asked]

    for row, names in offered("react-distractors"):
        graph = {node[0] for node in row.task.directed_action_graph["nodes"] if isinstance(node, list)}
        assert len(set(names) - graph - {"exit_conversation"}) == 2
        assert row.task.user_goal in names
    box = DOMAINS["university"].toolbox
    every = [tool.name for tool in box.tools if tool.name not in (*box.hidden, *box.unpublished)]
    assert all(names == [*every, "exit_conversation"] for _, names in offered("fc-full"))
    assert not any(name.startswith("internal_") for _, names in offered("act-program") for name in names)
    first = rows(made["prompts/sopbench-generated.react-distractors"], "prompts", PromptRow)[0]
    assert "in a hurry" in (first.messages[1].content or "")
    assert "Thought:" in (first.messages[0].content or "")


def test_a_second_project_computes_the_same_bytes(made: dict[str, Path], root: Path, tmp_path: Path) -> None:
    method = "act-program"
    config = {"methods": {method: METHODS[method]}, "scripted": ["oracle"]}
    again = make(wide_project(root, tmp_path / "p", config), "tasks", "prompts", "rollouts")
    for name, folder in again.items():
        assert folder.name == made[name].name
        for path in folder.glob("*.jsonl"):
            assert path.read_bytes() == (made[name] / path.name).read_bytes()


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Any]:
    """The loopback server of the model tests: a real tiny model behind the OpenAI protocol."""
    place = root / "tests/model/openai_server.py"
    spec = importlib.util.spec_from_file_location("openai_server", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    entry = read_registry(root)["tiny-a"]
    folder = check_against_lock(entry, read_lock(root).entry("models/tiny-a"), Cache())
    running = module.OpenAIServer(folder)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield running
    running.shutdown()
    running.server_close()


def remote_project(root: Path, folder: Path, url: str, method: dict[str, Any]) -> Project:
    """Return a project whose model is an endpoint."""
    (folder / "configs").mkdir()
    source = {"kind": "endpoint", "url": url, "served_name": "tiny", "attempts": 2, "concurrency": 1}
    model = {"remote": {"title": "remote", "family": "tiny", "licence": "none", "source": source}}
    (folder / "configs/models.yaml").write_text(json.dumps({"models": model}))
    write_entry(folder, "models/remote", lock_entry(read_registry(folder)["remote"], Cache(folder)))
    return small_project(root, folder, {"methods": {"remote": method}, "scripted": ["oracle"]}, "remote")


def test_an_endpoint_plays_the_agent(server: Any, root: Path, tmp_path: Path) -> None:
    method = {**FEW, "mode": "react", "tool_list": "oracle", "decoding": SHORT, "domains": ["university"]}
    folders = make(remote_project(root, tmp_path, server.url, method))
    played = rows(folders["rollouts/sopbench-generated.remote.remote.s0"], "rollouts", RolloutRow)
    assert [row.ending for row in played] == ["limit", "limit"]
    assert all(request["messages"][0]["role"] == "system" for request in server.requests[-2:])
    found = rows(folders["metrics/sopbench"], "metrics", MetricRow)
    assert {r.determinism for r in found if r.model == "remote"} == {"volatile"}
    assert {r.n for r in found if r.model == "remote" and r.metric == "pass_rate" and "domain=all" in r.setting} == {2}


def test_a_context_that_a_server_finds_full_is_a_counted_outcome(server: Any, root: Path, tmp_path: Path) -> None:
    method = {**FEW, "tool_list": "oracle", "decoding": SHORT, "domains": ["university"]}
    project = remote_project(root, tmp_path, server.url, method)
    check = {"role": "assistant", "content": "1"}
    answer = {"model": "tiny-v1", "choices": [{"index": 0, "finish_reason": "stop", "message": check}]}
    full = {"object": "error", "message": "This model's maximum context length is 4096 tokens. You requested 5000."}
    server.faults = [(200, {}, json.dumps({**answer, "system_fingerprint": "fp-1"}).encode())]
    server.faults += [(400, {}, json.dumps(full).encode())] * 2
    folders = make(project)
    played = rows(folders["rollouts/sopbench-generated.remote.remote.s0"], "rollouts", RolloutRow)
    assert [row.ending for row in played] == ["overflow", "overflow"]
    assert all("maximum context length" in (row.error or "") for row in played)
    found = rows(folders["metrics/sopbench"], "metrics", MetricRow)
    shown = {r.metric: (r.value, r.n, r.n_failed) for r in found if r.model == "remote" and "domain=all" in r.setting}
    assert shown["overflow_rate"] == (1.0, 2, 2)


def reply(name: str, arguments: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
    """Return an answer that holds one native tool call."""
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
    value = {"model": "tiny-v1", "system_fingerprint": "fp-1", "choices": [choice]}
    return 200, {}, json.dumps(value).encode()


def test_native_calls_of_an_endpoint_are_carried_out_and_pass(server: Any, root: Path, tmp_path: Path) -> None:
    method = {
        "mode": "fc",
        "tool_list": "oracle",
        "domains": ["library"],
        "tasks_per_domain": 1,
        "max_messages": 60,
        "decoding": SHORT,
    }
    project = remote_project(root, tmp_path, server.url, {**method, "max_calls": 40})
    tasks = rows(make(project, "tasks")["tasks/sopbench-generated"], "tasks", TaskRow)
    task = next(row for row in tasks if row.domain == "library" and row.task.action_should_succeed)
    check = json.dumps(
        {
            "model": "tiny-v1",
            "system_fingerprint": "fp-1",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "1"}}],
        }
    )
    # The first request is the check against the lock.
    server.faults = [(200, {}, check.encode()), *(reply(c.name, c.arguments) for c in task.plan or [])]
    server.faults.append(reply("exit_conversation", {}))
    folders = make(project)
    played = rows(folders["rollouts/sopbench-generated.remote.remote.s0"], "rollouts", RolloutRow)
    assert [(row.task_id, row.ending) for row in played] == [(task.task_id, "exit")]
    assert [call.name for call in played[0].calls] == [call.name for call in task.plan or []]
    for profile in ("upstream", "corrected"):
        judged = rows(folders[f"verdicts/sopbench-generated.remote.remote.s0.{profile}"], "verdicts", VerdictRow)
        assert [msgspec.to_builtins(row.verdict)["success"] for row in judged] == [True]
    assert server.requests[-1]["tools"]
    assert [m["role"] for m in server.requests[-1]["messages"][:4]] == ["system", "user", "assistant", "tool"]
