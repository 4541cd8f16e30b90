"""Jobs: what the pipeline asks for, the chain of job functions on files, and what their code depends on."""

import csv
import importlib
import io
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.artifact.code import Source
from assay.artifact.job import Job
from assay.config.load import load_configs
from assay.errors import ConfigError, DataError
from assay.records.rows import MetricRow, PromptRow
from assay.records.step import Inputs
from assay.sopbench import building, component, fetch, metrics, pipeline, prompts, rollouts, verdicts
from assay.sopbench.rates import do_nothing, rates
from assay.sopbench.rows import RolloutRow, TaskRow, VerdictRow
from assay.sopbench.scripted import SCRIPTS

SCRIPTED = {"agents": list(SCRIPTS)}


def project(root: Path, folder: Path, sopbench: dict[str, Any] | None, **experiment: Any) -> Any:
    """Return the configs of a project with the repository's own sections and one experiment."""
    for name in ("models", "sopbench"):
        (folder / "configs").mkdir(exist_ok=True)
        (folder / f"configs/{name}.yaml").write_text((root / f"configs/{name}.yaml").read_text())
    (folder / "configs/experiments").mkdir(exist_ok=True)
    benchmarks = {"other": {}} if sopbench is None else {"sopbench": sopbench}
    value = {"models": ["tiny-a"], "seeds": [0], "benchmarks": benchmarks, **experiment}
    (folder / "configs/experiments/one.yaml").write_text(json.dumps(value))
    (folder / "configs/experiment.yaml").write_text("use: one\n")
    (folder / "configs/lock.yaml").write_text(
        (root / "configs/lock.yaml").read_text() if (root / "configs/lock.yaml").is_file() else "{}\n"
    )
    return load_configs(folder)


def planned(configs: Any) -> dict[str, Job]:
    return {job.name: job for job in pipeline.jobs(configs)}


def test_the_jobs_of_the_default_config(root: Path, tmp_path: Path) -> None:
    jobs = planned(project(root, tmp_path, {}))
    data = "sopbench-generated"
    assert set(jobs) == {
        "metrics/sopbench-protocol",
        f"tasks/{data}",
        f"rollouts/{data}.scripted",
        f"verdicts/{data}.scripted.upstream",
        f"verdicts/{data}.scripted.corrected",
        f"prompts/{data}.fc-oracle",
        f"rollouts/{data}.fc-oracle.tiny-a.s0",
        f"verdicts/{data}.fc-oracle.tiny-a.s0.upstream",
        f"verdicts/{data}.fc-oracle.tiny-a.s0.corrected",
        "metrics/sopbench",
    }
    known: set[str] = set()
    for name, job in jobs.items():
        assert all(f"{need.stage}/{need.item}" in known for need in job.needs), name
        known.add(name)
        module, _, function = job.function.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
    assert len(jobs["metrics/sopbench"].config["runs"]) == len(jobs["metrics/sopbench"].needs) == 4
    rollout = jobs[f"rollouts/{data}.fc-oracle.tiny-a.s0"]
    assert (rollout.model, rollout.lock) == ("tiny-a", ("models/tiny-a",))


def test_an_experiment_without_sopbench_still_publishes(root: Path, tmp_path: Path) -> None:
    configs = project(root, tmp_path, None)
    jobs = planned(configs)
    assert set(jobs) == {"metrics/sopbench-protocol", "metrics/sopbench"}
    assert {(stage, item) for stage, item, _ in pipeline.published(configs).values()} == {
        ("metrics", "sopbench"),
        ("metrics", "sopbench-protocol"),
    }
    made = metrics.compute(jobs["metrics/sopbench"].config, Inputs(()))
    assert made["pass_rates.csv"].decode().count("\n") == 1


def test_an_edit_of_the_config_moves_only_what_reads_it(root: Path, tmp_path: Path) -> None:
    before = planned(project(root, tmp_path, {}))
    method = {"mode": "fc", "tool_list": "oracle", "max_calls": 4}
    after = planned(project(root, tmp_path, {"methods": {"fc-oracle": method}, "profiles": ["upstream", "corrected"]}))
    changed = {name for name in before if before[name] != after.get(name)}
    assert "tasks/sopbench-generated" not in changed
    assert "rollouts/sopbench-generated.scripted" not in changed
    assert "rollouts/sopbench-generated.fc-oracle.tiny-a.s0" in changed


def test_the_estimate_counts_the_conversations_that_are_held(root: Path, tmp_path: Path) -> None:
    over = {"domains": ["library", "bank"], "methods": {"fc-oracle": {"domains": ["library", "dmv"]}}}
    jobs = planned(project(root, tmp_path, over))
    work = jobs["rollouts/sopbench-generated.fc-oracle.tiny-a.s0"].work
    assert work is not None
    assert work.rows == 2  # two tasks of the library; no task of the dmv is drawn


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"tasks": "stolen"}, "tasks"),
        ({"generated": {"source": "x"}}, "generated"),
        ({"methods": {"m": {"attempts": 3}}}, "sampling"),
        ({"methods": {"m": {"mode": "telepathy"}}}, "mode"),
        ({"profiles": []}, "profiles"),
        ({"profiles": ["upstream", "upstream"]}, "once"),
        ({"scripted": ["nobody"]}, "scripted"),
        ({"domain": ["bank"]}, "domain"),
        ({"methods": {"m": {"domains": ["libary"]}}}, "'libary' is not known"),
        ({"methods": {"m": {"domains": []}}}, "methods.m.domains"),
    ],
)
def test_wrong_configs_are_refused(root: Path, tmp_path: Path, over: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        planned(project(root, tmp_path, over))


def test_a_user_that_is_evaluated_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="plays the user"):
        planned(project(root, tmp_path, {"methods": {"m": {"user": "tiny-a"}}}))
    jobs = planned(project(root, tmp_path, {"methods": {"m": {"user": "tiny-b"}}}))
    job = jobs["rollouts/sopbench-generated.m.tiny-a.s0"]
    assert job.lock == ("models/tiny-a", "models/tiny-b")
    assert jobs["prompts/sopbench-generated.m"].config["user"] == "model"


def chain(stage: Any, seed: int = 0) -> dict[str, Any]:
    """Run the job functions from tasks to metrics on files."""
    config = {"source": "generated", "domains": ["bank", "library"], "seed": seed, "succeed": 4, "refuse": 4}
    tasks = stage.write("tasks", building.build(config, stage.inputs()))
    played = stage.write("rollouts", rollouts.scripted(SCRIPTED, stage.inputs(tasks)))
    judged = [
        stage.write("verdicts", verdicts.judge({"profile": profile}, stage.inputs(tasks, played)), profile)
        for profile in ("upstream", "corrected")
    ]
    runs = [
        {
            "model": "",
            "method": "scripted",
            "profile": profile,
            "setting": {"content": "tuple"},
            "agents": list(SCRIPTS),
        }
        for profile in ("upstream", "corrected")
    ]
    made = stage.write("metrics", metrics.compute({"dataset": "d", "runs": runs}, stage.inputs(*judged)))
    return {"tasks": tasks, "rollouts": played, "verdicts": judged, "metrics": made}


def test_the_chain_from_tasks_to_metrics(stage: Any) -> None:
    made = chain(stage)
    tasks = stage.rows(made["tasks"], "tasks.jsonl", TaskRow)
    played = stage.rows(made["rollouts"], "rollouts.jsonl", RolloutRow)
    assert len(tasks) == 16
    assert len(played) == len({row.row_id for row in played}) == 16 * len(SCRIPTS)
    for judged in made["verdicts"]:
        rows = stage.rows(judged, "verdicts.jsonl", VerdictRow)
        assert [row.row_id for row in rows] == [row.row_id for row in played]
    rows = stage.rows(made["metrics"], "metrics.jsonl", MetricRow)
    keys = [(r.model, r.method, r.profile, r.setting, r.metric, r.baseline) for r in rows]
    assert len(keys) == len(set(keys))
    found = {(r.model, r.profile, r.setting.split("domain=")[1], r.metric, r.baseline): r for r in rows}
    assert {(metric, baseline) for _, _, domain, metric, baseline in found if domain != "all"} == {
        ("pass_rate", ""),
        ("pass_rate", "do-nothing"),
    }
    assert found["oracle", "corrected", "all", "pass_rate", ""].value == 1.0
    assert found["do-nothing", "corrected", "all", "pass_rate", ""].value == 0.5
    assert found["oracle", "corrected", "bank", "pass_rate", "do-nothing"].value == 0.5
    assert found["target-at-once", "corrected", "bank", "pass_rate", ""].value == 0.0
    assert found["oracle", "corrected", "all", "refusal_justified_rate", ""].n == 8
    assert all(r.n > 0 or r.value is None for r in rows)
    table = list(csv.DictReader(io.StringIO(made["metrics"].path("pass_rates.csv").read_text())))
    assert len(table) == 2 * len(SCRIPTS) * 3
    assert {row["profile"] for row in table} == {"upstream", "corrected"}
    assert {row["do_nothing"] for row in table} == {"0.5"}


TABLES = ("pass_rates.csv", "attempts.csv", "checks.csv", "constraints.csv", "services.csv")


def test_the_tables_hold_every_verdict(stage: Any) -> None:
    made = chain(stage)
    tables = {n: list(csv.DictReader(io.StringIO(made["metrics"].path(n).read_text()))) for n in TABLES}
    judged = stage.rows(made["verdicts"][1], "verdicts.jsonl", VerdictRow)

    def lines(name: str, agent: str, domain: str) -> list[dict[str, str]]:
        return [r for r in tables[name] if (r["model"], r["profile"], r["domain"]) == (agent, "corrected", domain)]

    for agent in SCRIPTS:
        own = [row for row in judged if row.agent == agent]
        passed = sum(row.verdict.success for row in own)
        for name, domains in (("constraints.csv", ["all"]), ("services.csv", ["bank", "library"])):
            parts = [line for domain in domains for line in lines(name, agent, domain)]
            assert sum(int(line["n"]) for line in parts) == len(own) == 16
            assert sum(float(line["share"] or 0) * int(line["n"]) for line in parts) == pytest.approx(passed)
        broken = {line["check"]: float(line["share"]) for line in lines("checks.csv", agent, "bank")}
        bank = [row.verdict for row in own if row.domain == "bank"]
        assert broken["database_match"] == sum(v.database_match for v in bank) / len(bank)
    assert tables["attempts.csv"] == []
    assert all(line["share"] == "" for name in TABLES[2:4] for line in tables[name] if line["n"] == "0")


def test_without_runs_every_table_is_a_header(stage: Any) -> None:
    made = metrics.compute({"dataset": "", "runs": []}, stage.inputs())
    assert made["metrics.jsonl"] == []
    for name in TABLES:
        assert made[name].count(b"\n") == 1


def test_the_chain_repeats_byte_by_byte(stage: Any, tmp_path: Path) -> None:
    first = chain(stage)
    second = chain(type(stage)(tmp_path / "again"))
    for name in ("tasks", "rollouts", "metrics"):
        for path in sorted(first[name].folder.iterdir()):
            assert path.read_bytes() == (second[name].folder / path.name).read_bytes()


def test_a_rollout_of_an_unknown_task_is_an_error(stage: Any) -> None:
    made = chain(stage)
    rows = stage.rows(made["rollouts"], "rollouts.jsonl", RolloutRow)
    tasks = stage.rows(made["tasks"], "tasks.jsonl", TaskRow)
    with pytest.raises(DataError, match="not among the 1 tasks"):
        list(verdicts.verdict_rows(tasks[:1], rows, "upstream"))
    with pytest.raises(DataError, match="two rollouts have one identity"):
        list(verdicts.verdict_rows(tasks, [rows[0], rows[0]], "upstream"))
    again = msgspec.structs.replace(rows[0], row_id="other")
    with pytest.raises(DataError, match="two results of 'oracle'"):
        list(verdicts.verdict_rows(tasks, [rows[0], again], "upstream"))
    second = msgspec.structs.replace(again, attempt=1)
    with pytest.raises(DataError, match="'oracle' has 1 attempts at one task and 2 at another"):
        list(verdicts.verdict_rows(tasks, [*rows[:2], second], "upstream"))
    strange = msgspec.structs.replace(tasks[0], domain="zoo")
    with pytest.raises(DataError, match="'zoo' is no domain"):
        list(verdicts.verdict_rows([strange], rows[:1], "upstream"))


def test_a_failed_conversation_is_counted_not_dropped(stage: Any) -> None:
    made = chain(stage)
    rows = stage.rows(made["rollouts"], "rollouts.jsonl", RolloutRow)[:8]
    tasks = stage.rows(made["tasks"], "tasks.jsonl", TaskRow)
    failed = [
        msgspec.structs.replace(row, ending=ending) for row, ending in zip(rows, ["error", "overflow"] * 4, strict=True)
    ]
    judged = list(verdicts.verdict_rows(tasks, failed, "corrected"))
    assert any(row.verdict.success for row in judged)
    found = rates(judged)["pass_rate"]
    assert (found.value, found.n, found.n_failed) == (0.0, 8, 8)
    assert do_nothing(judged).n_failed == 0  # it is another agent's rate


def test_the_component_is_published_with_its_label() -> None:
    made = component.compute({}, Inputs(()))
    document = json.loads(made[component.FILE])
    assert [seed["seed"] for seed in document["seeds"]] == [42, 43, 44]
    assert document["sound"] is True
    assert list(made["metrics.jsonl"]) == []


@pytest.fixture(scope="module")
def closures(root: Path) -> dict[str, set[str]]:
    names = {
        "tasks": building.__name__,
        "prompts": prompts.__name__,
        "scripted": rollouts.__name__,
        "model": "assay.sopbench.model_rollouts",
        "program": "assay.sopbench.program_rollouts",
        "verdicts": verdicts.__name__,
        "metrics": metrics.__name__,
    }
    source = Source(root / "src")
    return {name: set(source.closure(module)) for name, module in names.items()}


def test_an_edit_of_the_evaluator_reruns_no_rollout(closures: dict[str, set[str]]) -> None:
    judging = {
        "assay.sopbench.judge",
        "assay.sopbench.readings",
        "assay.sopbench.verdicts",
        "assay.sopbench.rates",
        "assay.sopbench.metrics",
        "assay.sopbench.justification",
    }
    for name in ("tasks", "prompts", "scripted", "model", "program"):
        assert not closures[name] & judging, name
    for name in ("scripted", "model"):
        assert not [
            m for m in closures[name] if m.endswith((".constraints", ".texts", ".tools", ".scenario", ".procedure"))
        ]
        assert "assay.sopbench.domains.bank.functions" in closures[name]
    assert "assay.sopbench.domains.bank.rules" in closures["program"]
    assert not [m for m in closures["verdicts"] if m.endswith((".texts", ".tools", ".scenario"))]
    for name, found in closures.items():
        assert not [m for m in found if m.startswith(("assay.fks", "assay.symbench", "assay.report", "assay.cli"))], (
            name
        )
    assert "assay.sopbench.verdicts" in closures["verdicts"]


def test_prompt_rows_are_read_by_the_rollouts(stage: Any) -> None:
    made = chain(stage)
    outputs = prompts.prompts(
        {"mode": "react", "domains": ["bank"], "tasks_per_domain": 2}, stage.inputs(made["tasks"])
    )
    written = stage.write("prompts", outputs)
    rows = stage.rows(written, "prompts.jsonl", PromptRow)
    assert len(rows) == 2
    assert all(row.messages and row.tools for row in rows)


def test_published_tasks_are_fetched_locked_and_planned(root: Path, tmp_path: Path, vectors: Path, stage: Any) -> None:
    folder = tmp_path / "published"
    lines = list(fetch.fetch(str(vectors / "tasks"), folder, None))
    assert len(lines) == 8
    assert "licence" in lines[-1]
    entry = fetch.lock_entry(folder)
    assert sorted(entry["files"].values()) == sorted(fetch.SHA256.values())
    over = {"tasks": "published", "published": {"folder": str(folder)}, "domains": ["university"]}
    over["methods"] = {"fc-oracle": {"domains": ["university"]}}
    configs = project(root, tmp_path, over)
    locked = configs.lock.model_copy(update={"data": {"sopbench": entry}})
    jobs = planned(replace(configs, lock=locked))
    job = jobs["tasks/sopbench-published"]
    assert job.lock == ("data/sopbench",)
    made = stage.write("tasks", building.build(job.config, stage.inputs()))
    assert len(stage.rows(made, "tasks.jsonl", TaskRow)) == 44
    (folder / "dmv_tasks.json").write_text("{}")
    with pytest.raises(DataError, match="not the locked one"):
        list(building.build(job.config, stage.inputs())["tasks.jsonl"])
    with pytest.raises(DataError, match="not the one that was measured"):
        list(fetch.fetch(str(folder), tmp_path / "again", None))
    with pytest.raises(ConfigError, match="assay data fetch sopbench"):
        planned(configs)


def test_odd_sources_of_published_tasks_are_named(tmp_path: Path, vectors: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(vectors / "tasks", source)
    place = tmp_path / "file"
    place.write_text("")
    with pytest.raises(DataError, match="file where the folder should be"):
        list(fetch.fetch(str(source), place, None))
    for damaged in (b"", b"no xz", (source / "hotel_tasks.json.xz").read_bytes()[:3000]):
        (source / "hotel_tasks.json.xz").write_bytes(damaged)
        with pytest.raises(DataError, match="cut off") as caught:
            list(fetch.fetch(str(source), tmp_path / "out", None))
        assert caught.value.file == str(source / "hotel_tasks.json.xz")
    assert not (tmp_path / "out").exists()  # nothing is written before everything was looked at
