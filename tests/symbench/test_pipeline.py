"""Jobs: what the pipeline asks for, what an edit of code or config moves, and what it refuses."""

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from assay.artifact.code import Source
from assay.artifact.environment import Declared
from assay.artifact.job import Job
from assay.artifact.recipe import Plan, Recipes
from assay.config.executions import TUNING, Executions
from assay.config.load import Configs, load_configs
from assay.errors import ConfigError, DataError, SandboxError
from assay.model.store import RowStore
from assay.records.jsonl import write_rows
from assay.records.step import Inputs, StepContext
from assay.sandbox.records import Request
from assay.steps import executing
from assay.symbench import metrics, pipeline, published_samples
from assay.symbench.pipeline import sandbox_section
from assay.symbench.rows import TaskRow
from assay.symbench.templates import BUILT_IN, fields

TASKS = ["game24", "letters"]


def project(root: Path, folder: Path, symbench: dict[str, Any] | None, **experiment: Any) -> Configs:
    """Return the configs of a project with the repository's own sections and one experiment."""
    (folder / "configs/experiments").mkdir(parents=True, exist_ok=True)
    for name in ("models", "symbench", "executions", "lock"):
        shutil.copy(root / f"configs/{name}.yaml", folder / f"configs/{name}.yaml")
    benchmarks = {"other": {}} if symbench is None else {"symbench": symbench}
    value = {"models": ["tiny-a"], "seeds": [0], "benchmarks": benchmarks, **experiment}
    (folder / "configs/experiments/one.yaml").write_text(json.dumps(value))
    (folder / "configs/experiment.yaml").write_text("use: one\n")
    return load_configs(folder)


def planned(configs: Configs) -> dict[str, Job]:
    return {job.name: job for job in pipeline.jobs(configs)}


def recipes(root: Path, configs: Configs, src: Path) -> Plan:
    return Recipes(Source(src, src / "code.json"), configs.lock, Declared.read(root)).plan(pipeline.jobs(configs))


def moved(before: Plan, after: Plan) -> set[str]:
    """Return the stages whose keys differ."""
    assert before.keys() == after.keys()
    return {name[0] for name in before if before[name].key != after[name].key}


@pytest.fixture(scope="module")
def copied(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package's source that a test may edit and must restore."""
    src = tmp_path_factory.mktemp("src")
    skipped = shutil.ignore_patterns("__pycache__", ".*cache")
    shutil.copytree(root / "src/assay", src / "assay", ignore=skipped)
    return src


def test_every_job_names_a_function_and_needs_what_stands_before_it(root: Path, tmp_path: Path) -> None:
    jobs = planned(project(root, tmp_path, {"tasks": TASKS}, models=["tiny-a", "tiny-b"]))
    known: set[str] = set()
    for name, job in jobs.items():
        assert all(f"{need.stage}/{need.item}" in known for need in job.needs), name
        known.add(name)
        module, _, function = job.function.partition(":")
        assert callable(getattr(importlib.import_module(module), function))
    kinds = set(BUILT_IN)
    assert {run["method"] for run in jobs["metrics/symbench"].config["runs"]} == kinds
    assert {name.split(".")[1] for name in jobs if name.startswith("rollouts/")} == kinds - set(pipeline.SINGLE_TURN)


@pytest.mark.parametrize("task", ["game24", "2048"])
def test_an_edit_of_one_verifier_moves_labels_and_what_is_below(
    root: Path, tmp_path: Path, copied: Path, task: str
) -> None:
    configs = project(root, tmp_path, {"tasks": TASKS})
    before = recipes(root, configs, copied)
    verifier = copied / f"assay/symbench/verifiers/{'task_2048' if task == '2048' else task}.py"
    text = verifier.read_text()
    try:
        verifier.write_text(text + "\n# Only a comment.\n")
        assert moved(before, recipes(root, configs, copied)) == set()
        verifier.write_text(text + "\nSTRICTER = True\n")
        assert moved(before, recipes(root, configs, copied)) == {"labels", "metrics"}
    finally:
        verifier.write_text(text)


@pytest.mark.parametrize(
    ("module", "stages"),
    [
        ("metrics", {"metrics"}),
        ("comparison", {"metrics"}),
        ("judging", {"labels", "metrics"}),
        ("executing", {"executions", "rollouts", "labels", "metrics"}),
        ("methods/codesteer", {"rollouts", "labels", "metrics"}),
        ("prompts", {"prompts", "generations", "executions", "rollouts", "labels", "metrics"}),
        ("templates", set()),
        ("pipeline", set()),
    ],
)
def test_an_edit_of_code_moves_what_it_decides(
    root: Path, tmp_path: Path, copied: Path, module: str, stages: set[str]
) -> None:
    configs = project(root, tmp_path, {"tasks": TASKS})
    before = recipes(root, configs, copied)
    path = copied / f"assay/symbench/{module}.py"
    text = path.read_text()
    try:
        path.write_text(text + "\nEDITED = True\n")
        assert moved(before, recipes(root, configs, copied)) == stages
    finally:
        path.write_text(text)


def test_an_edit_of_one_method_moves_its_own_rollouts_alone(root: Path, tmp_path: Path, copied: Path) -> None:
    configs = project(root, tmp_path, {"tasks": TASKS})
    before = recipes(root, configs, copied)
    path = copied / "assay/symbench/methods/interpreter.py"
    text = path.read_text()
    try:
        path.write_text(text + "\nEDITED = True\n")
        after = recipes(root, configs, copied)
    finally:
        path.write_text(text)
    changed = {name[1] for name in before if name[0] == "rollouts" and before[name].key != after[name].key}
    assert changed == {"symbench-generated.code_interpreter.tiny-a.s0"}


def test_no_answer_depends_on_how_it_is_judged(root: Path, tmp_path: Path, copied: Path) -> None:
    jobs = planned(project(root, tmp_path, {"tasks": TASKS}))
    judging = ("assay.symbench.verifiers", "assay.symbench.judging", "assay.symbench.labels", "assay.symbench.metrics")
    source = Source(copied, copied / "code.json")
    for job in jobs.values():
        closure = source.closure(f"assay.steps.{job.stage}", job.function.partition(":")[0])
        if job.stage in ("tasks", "prompts", "generations", "executions", "rollouts"):
            assert not [name for name in closure if name.startswith(judging)], job.name
        if job.stage == "labels":
            asked = (
                "assay.symbench.tasks",
                "assay.symbench.methods",
                "assay.symbench.prompts",
                "assay.symbench.metrics",
            )
            assert not [name for name in closure if name.startswith(asked)], job.name


def test_words_of_one_method_move_that_method_alone(root: Path, tmp_path: Path) -> None:
    before = planned(project(root, tmp_path, {"tasks": TASKS}))
    words = {"methods": {"all_text_cot": {"templates": {"instruction": "Think."}}}}
    after = planned(project(root, tmp_path, {"tasks": TASKS, **words}))
    assert {name for name in before if before[name] != after[name]} == {"prompts/symbench-generated.all_text_cot"}


def test_the_time_limit_moves_executions_and_rollouts_but_no_generation(root: Path, tmp_path: Path) -> None:
    before = planned(project(root, tmp_path, {"tasks": TASKS}))
    after = planned(project(root, tmp_path, {"tasks": TASKS, "limit_s": 15}))
    changed = {name for name in before if before[name] != after[name]}
    assert {name.partition("/")[0] for name in changed} == {"executions", "rollouts"}
    section = after["executions/symbench-generated.only_question.tiny-a.s0"].config["executions"]
    assert section["limits"]["time_s"] == 15
    assert "workers" not in section


TUNED = {"workers": 1, "check_every": 7, "recycle_after": 9, "interpreter": "python3"}


def test_how_the_sandbox_works_is_in_no_recipe_and_reaches_it(root: Path, tmp_path: Path, copied: Path) -> None:
    configs = project(root, tmp_path, {"tasks": TASKS})
    before = recipes(root, configs, copied)
    file = tmp_path / "configs/executions.yaml"
    section = yaml.safe_load(file.read_text())
    file.write_text(yaml.safe_dump(section | TUNED))
    tuned = load_configs(tmp_path)
    assert tuned.executions.workers == 1
    assert moved(before, recipes(root, tuned, copied)) == set()
    # What a snippet may do or see does move them.
    file.write_text(yaml.safe_dump(section | {"distributions": ["numpy"], "preload": ["numpy"]}))
    assert moved(before, recipes(root, load_configs(tmp_path), copied)) >= {"executions", "rollouts"}
    # So does how much is known of what varies: the table counts it.
    file.write_text(yaml.safe_dump(section | {"repeat_check_fraction": 0.5}))
    assert moved(before, recipes(root, load_configs(tmp_path), copied)) >= {"executions", "rollouts"}

    file.write_text(yaml.safe_dump(section | TUNED))
    made = executing.tuning(tmp_path)
    assert made == TUNED
    assert set(made) == set(TUNING) <= set(Executions.model_fields)
    assert executing.tuning(tmp_path / "elsewhere") == Executions().model_dump(include=set(TUNING))


def test_a_tuned_sandbox_gives_the_rows_of_any_other(root: Path, tmp_path: Path) -> None:
    """The step hands the project's tuning to the sandbox, and stored results are found again under another."""
    project(root, tmp_path, {"tasks": TASKS})
    file = tmp_path / "configs/executions.yaml"
    section = yaml.safe_load(file.read_text())
    config = sandbox_section(Executions(), 2.0)
    made = []
    for tuned in ({}, {"workers": 1, "check_every": 7}):
        file.write_text(yaml.safe_dump(section | tuned))
        context = StepContext("executions", "x", None, {}, Inputs(()), {}, tmp_path, tmp_path, tmp_path)
        with RowStore(context.store, job="x") as store, executing.executor_of(context, config, store) as executor:
            assert executor._settings.workers == tuned.get("workers")
            try:
                made.append(executor.execute([Request("print(6)", ("result",))]))
            except SandboxError as error:
                pytest.skip(f"no isolation here: {error}")
            made.append(context.facts["executions"]["made"])
    first, fresh, second, again = made
    assert (first, fresh, again) == (second, 1, 0)


def test_tuning_in_an_experiment_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no part of an experiment"):
        planned(project(root, tmp_path, {"tasks": TASKS}, executions={"workers": 2}))


def test_roles_of_other_models_are_locked_and_decide(root: Path, tmp_path: Path) -> None:
    jobs = planned(project(root, tmp_path, {"tasks": TASKS, "methods": {"codesteer": {"guide": "tiny-b"}}}))
    job = jobs["rollouts/symbench-generated.codesteer.tiny-a.s0"]
    assert job.lock == ("models/tiny-a", "models/tiny-b")
    assert job.config["guide_model"]["name"] == "tiny-b"
    assert job.config["checker_model"]["name"] == "tiny-a"
    assert job.model == "tiny-a"  # whose libraries every recipe of a model names
    assert {"numpy", "sympy"} <= set(job.libraries)


def test_executions_depend_on_what_the_listed_distributions_require(root: Path, tmp_path: Path) -> None:
    jobs = planned(project(root, tmp_path, {"tasks": TASKS}, executions={"distributions": ["sympy", "pandas"]}))
    seen = [set(job.libraries) for name, job in jobs.items() if name.startswith(("executions/", "rollouts/"))]
    assert seen
    assert all({"sympy", "mpmath", "pandas", "numpy", "python-dateutil", "six"} <= libraries for libraries in seen)


def test_an_experiment_without_symbench_still_publishes_headers(root: Path, tmp_path: Path) -> None:
    configs = project(root, tmp_path, None)
    jobs = planned(configs)
    assert set(jobs) == {"metrics/symbench"}
    assert {place[:2] for place in pipeline.published(configs).values()} == {("metrics", "symbench")}
    made = metrics.compute(jobs["metrics/symbench"].config, Inputs(()))
    assert [bytes(made[name]).count(b"\n") for name in ("avenorm.csv", "success_rates.csv")] == [1, 1]  # type: ignore[arg-type]
    assert made["metrics.jsonl"] == []


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"tasks": ["game25"]}, "tasks"),
        ({"use": ["nothing"]}, "use"),
        ({"use": []}, "use"),
        ({"methods": {"only_question": {"templates": {"instruction": "x"}}}}, "no text"),
        ({"methods": {"codesteer": {"templates": {"check": "no places"}}}}, "places in braces"),
        ({"methods": {"codesteer": {"guide": "nobody"}}}, "nobody"),
        ({"methods": {"only_question": {"guide": "tiny-b"}}}, "has no guide"),
        ({"methods": {"only_question": {"tasks": ["letters"]}}}, "lacks game24"),
        ({"tasks": []}, "tasks"),
        ({"methods": {"only_question": {"tasks": []}}}, "tasks"),
        ({"methods": {"only_question": {"tasks": ["pooling"]}}, "metrics": {"missing": "zero"}}, "none of the tasks"),
        ({"headline": "upstream/echo", "modes": ["corrected/marker"]}, "headline"),
        ({"samples": {"kind": "published", "per_task": 3}}, "per_task"),
    ],
)
def test_wrong_configs_are_refused(root: Path, tmp_path: Path, over: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        planned(project(root, tmp_path, {"tasks": TASKS, **over}))


def test_fewer_tasks_for_a_method_need_a_policy(root: Path, tmp_path: Path) -> None:
    over = {"methods": {"only_question": {"tasks": ["letters"]}}, "metrics": {"missing": "common"}}
    jobs = planned(project(root, tmp_path, {"tasks": TASKS, **over}))
    assert jobs["prompts/symbench-generated.only_question"].config["tasks"] == ["letters"]


def test_published_samples_are_those_of_the_lock(root: Path, tmp_path: Path) -> None:
    rows = [TaskRow(task="letters", sample_id=str(n), question="?", solution={}) for n in range(3)]
    write_rows(tmp_path / "letters.jsonl", rows)
    config = {"tasks": ["letters"], "folder": str(tmp_path), "selection": "full"}
    config["files"] = published_samples.lock_entry(tmp_path, ["letters"])["files"]
    assert list(published_samples.build(config, Inputs(()))["tasks.jsonl"]) == rows
    write_rows(tmp_path / "letters.jsonl", rows[:2])
    with pytest.raises(DataError, match="not the locked one"):
        list(published_samples.build(config, Inputs(()))["tasks.jsonl"])


def test_published_samples_need_a_lock_entry(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing is recorded"):
        planned(project(root, tmp_path, {"tasks": TASKS, "samples": {"kind": "published"}}))


def test_built_in_texts_have_the_places_that_methods_fill() -> None:
    filled = {
        "summarize": ["code_answer", "question", "text_answer"],
        "choose": ["question"],
        "result": ["output"],
        "decide": ["question"],
        "review": ["answer", "check", "complexity"],
        "check": ["answer", "question"],
        "check_failed": ["output"],
    }
    for texts in BUILT_IN.values():
        for name, text in texts.items():
            assert fields(text) == filled.get(name, []), name
