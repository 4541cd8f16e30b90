"""The FKS config: what it refuses, and which jobs it plans."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
import yaml

from assay.config.files import read_yaml, validate
from assay.config.fks import FksConfig
from assay.config.load import load_configs
from assay.errors import ConfigError, DataError
from assay.fks import pipeline
from assay.fks.builder import BuildSettings, build
from assay.fks.catalogue import read_catalogue
from assay.fks.conditions import FAMILIES, MAIN_FAMILIES
from assay.fks.datasets import fetch_published, lock_entries
from assay.fks.judge import JudgeSettings
from assay.fks.loader import LoadSettings
from assay.fks.metric_settings import MetricSettings
from assay.fks.prompts import PromptSettings, build_prompts
from assay.fks.qualification import QualificationSettings
from assay.fks.scoring import LabelSettings
from assay.fks.state_prompts import main_forward
from assay.records.jsonl import read_rows, write_rows
from assay.records.rows import PromptRow
from assay.records.step import Input, Inputs

SETTINGS = {
    "assay.fks.builder:build": BuildSettings,
    "assay.fks.loader:load": LoadSettings,
    "assay.fks.metrics:compute": MetricSettings,
    "assay.fks.prompts:build_prompts": PromptSettings,
    "assay.fks.scoring:label_rows": LabelSettings,
    "assay.fks.qualification:keep_qualified": QualificationSettings,
}


@pytest.fixture
def project(tmp_path, root):
    """A project folder with the real configs; returns a function that plans with changed keys."""
    (tmp_path / "configs/experiments").mkdir(parents=True)
    for name in ("fks.yaml", "models.yaml"):
        shutil.copy(root / "configs" / name, tmp_path / "configs" / name)
    (tmp_path / "configs/experiment.yaml").write_text("use: here\n")

    def configs(models=("tiny-a", "tiny-b"), lock=None, **fks):
        experiment = {"models": list(models), "benchmarks": {"fks": fks}}
        (tmp_path / "configs/experiments/here.yaml").write_text(yaml.safe_dump(experiment))
        if lock:
            (tmp_path / "configs/lock.yaml").write_text(yaml.safe_dump({"data": lock}))
        return load_configs(tmp_path)

    configs.root = tmp_path
    return configs


def plan(configs):
    jobs = list(pipeline.jobs(configs))
    return {job.name: job for job in jobs}


def test_the_file_holds_the_defaults(root):
    config = validate(FksConfig, read_yaml(root / "configs/fks.yaml"), "configs/fks.yaml")
    default = FksConfig(datasets=config.datasets)
    assert config.metrics == default.metrics
    assert config.prompt == default.prompt
    assert config.decoding == default.decoding
    assert config.metrics.main_families == list(MAIN_FAMILIES)


def test_what_metrics_and_judge_take_by_default_is_what_the_config_says():
    told = FksConfig().metrics.model_dump(mode="json")
    assert msgspec.convert({"dataset": "d", "model": "m", **told}, MetricSettings) == MetricSettings(
        dataset="d", model="m"
    )
    assert JudgeSettings().template == FksConfig().judge.template


def test_the_prompt_is_that_of_the_cases(shared):
    config = FksConfig()
    settings = PromptSettings(**config.prompt.model_dump())
    from assay.fks.prompts import prompt_text

    for line in (shared / "data/fks/prompt_cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        assert prompt_text(settings, case["condition_family"], case["query"]) == case["expected_prompt"]


def test_families_and_flags_stand_in_one_table():
    assert list(FAMILIES) == [
        "anchor",
        "paraphrase",
        "format",
        "context",
        "multilingual",
        "reverse",
        "reverse_illposed",
        "recognition",
    ]
    assert MAIN_FAMILIES == ("anchor", "paraphrase", "format", "context", "multilingual")
    assert FAMILIES["reverse_illposed"].flag is None


@pytest.mark.parametrize(
    ("fks", "key"),
    [
        ({"datset": "embedded"}, "datset"),
        ({"cap_per_relation": 0}, "cap_per_relation"),
        ({"queries_per_family": {"anchors": 1}}, "queries_per_family"),
        ({"queries_per_family": {"anchor": 0}}, ""),
        ({"dataset": "mine"}, ""),
        ({"prompt": {"anchor": "no slot"}}, "prompt.anchor"),
        ({"metrics": {"primary_tau": 0.75}}, "metrics"),
        ({"metrics": {"taus": [0.8, 0.8]}}, "metrics.taus"),
        ({"metrics": {"coverage_modes": ["full_set", "full_set"]}}, "metrics.coverage_modes"),
        ({"metrics": {"internal": {"transports": ["raw", "raw"]}}}, "metrics.internal.transports"),
        ({"metrics": {"internal": {"iss_whitening": []}}}, "metrics.internal.iss_whitening"),
        ({"metrics": {"internal": {"iss_whitening": ["zca"]}}}, "metrics.internal"),
        ({"metrics": {"bootstrap": {"level": 1.0}}}, "metrics.bootstrap.level"),
        ({"judge": {"kind": "model"}}, "judge"),
        ({"qualification": {"enabled": True}}, "qualification"),
        ({"datasets": {"mine": {"kind": "csv", "file": "/etc/facts.csv"}}}, "datasets"),
        ({"relations": ["capital", "capital"]}, ""),
        ({"metrics": {"internal": {"transports": ["jlens"]}}}, ""),
    ],
)
def test_a_wrong_key_is_an_error_that_names_it(project, fks, key):
    with pytest.raises(ConfigError) as caught:
        project(**fks).fks  # noqa: B018
    assert (caught.value.key or "").startswith(f"benchmarks.fks.{key}")


def test_instances_do_not_change(project):
    with pytest.raises(ValueError, match="frozen"):
        project().fks.cap_per_relation = 3


def test_every_model_gets_its_chain_and_all_share_prompts(project):
    jobs = plan(project())
    assert list(jobs) == [
        "queries/fks-embedded",
        "prompts/fks-embedded",
        "prompts/fks-embedded.states",
        *(
            name
            for model in ("tiny-a", "tiny-b")
            for name in (
                f"hidden/fks-embedded.{model}",
                *(f"{s}/fks-embedded.{model}.s0" for s in ("generations", "labels", "clusters", "metrics")),
            )
        ),
        "table/fks",
    ]


def test_inputs_stand_before_what_needs_them(project):
    judged = {"kind": "model", "model": "qwen2.5-coder-0.5b"}
    seen = set()
    for job in plan(project(judge=judged, states={"enabled": True})).values():
        assert {(need.stage, need.item) for need in job.needs} <= seen
        seen.add((job.stage, job.item))


def arrived(config, taken):
    """Whether every value of a config is in what was read from it; what a config leaves out has a default there."""
    if isinstance(config, dict):
        return all(key in taken and arrived(value, taken[key]) for key, value in config.items())
    return config == taken


def test_every_config_is_what_its_function_takes(project):
    import msgspec

    fks = {"states": {"enabled": True}, "qualification": {"enabled": True, "filter_models": ["tiny-a"]}}
    card = {"fks-card": {"kind": "fks-card", "files": {"facts.jsonl": "0" * 64}}}
    jobs = [*plan(project(**fks)).values(), *plan(project(dataset="card", lock=card)).values()]
    checked = set()
    for job in jobs:
        if job.function in SETTINGS:
            taken = json.loads(msgspec.json.encode(msgspec.convert(job.config, SETTINGS[job.function])))
            assert arrived(job.config, taken), job.function
            checked.add(job.function)
    assert checked == set(SETTINGS)


def test_a_selection_reaches_only_the_queries(project):
    before, after = plan(project()), plan(project(cap_per_relation=3))
    changed = [name for name in before if before[name].config != after[name].config]
    assert changed == ["queries/fks-embedded"]


def test_a_threshold_reaches_only_the_metrics(project):
    before, after = plan(project()), plan(project(metrics={"primary_tau": 0.9}))
    changed = [name.partition("/")[0] for name in before if before[name].config != after[name].config]
    assert changed == ["metrics", "metrics"]


def test_answers_are_greedy_and_long_prompts_lose_their_beginning(project):
    config = plan(project())["generations/fks-embedded.tiny-a.s0"].config
    assert config["decoding"] == {"method": "greedy", "max_new_tokens": 24}
    assert config["policy"] == {"max_tokens": 192, "on_long": "truncate"}


def test_states_are_taken_at_the_window_of_each_model(project):
    jobs = plan(project(models=["tiny-a", "smollm2-135m"], states={"enabled": True}))
    assert jobs["hidden/fks-embedded.tiny-a"].config["layers"] == [2, 3]
    assert jobs["hidden/fks-embedded.smollm2-135m"].config["layers"] == list(range(12, 30))
    needs = [(need.role, need.item) for need in jobs["metrics/fks-embedded.tiny-a.s0"].needs]
    assert ("hidden", "fks-embedded.tiny-a") in needs


def test_a_lens_is_fitted_where_the_transport_asks_for_it(project):
    fks = {
        "states": {"enabled": True, "top_state": "block_output"},
        "lens": {"texts": "data/generic.txt", "prompts": 2},
        "metrics": {"internal": {"transports": ["raw", "jlens"]}},
    }
    lock = {"fks-lens-texts": {"kind": "texts", "files": {"data/generic.txt": "0" * 64}}}
    jobs = plan(project(lock=lock, **fks))
    assert jobs["lens/fks-embedded.tiny-a"].config["lens"]["prompts"] == 2
    assert "data/fks-lens-texts" in jobs["lens/fks-embedded.tiny-a"].lock
    assert "lens" in [need.role for need in jobs["metrics/fks-embedded.tiny-b.s0"].needs]


def test_a_judge_is_asked_about_each_model_and_named_in_the_clusters(project):
    jobs = plan(project(judge={"kind": "model", "model": "qwen2.5-coder-0.5b"}))
    judge = jobs["generations/fks-embedded.tiny-a.s0.judge"]
    assert judge.lock == ("models/qwen2.5-coder-0.5b",)
    clusters = jobs["clusters/fks-embedded.tiny-a.s0"]
    assert clusters.config == {"judge": "qwen2.5-coder-0.5b"}
    assert [need.role for need in clusters.needs] == ["queries", "labels", "judgements"]


def test_a_judge_that_is_evaluated_is_refused(project):
    with pytest.raises(ConfigError, match="judges and is evaluated"):
        plan(project(models=["qwen2.5-coder-0.5b"], judge={"kind": "model", "model": "qwen2.5-coder-0.5b"}))


def test_filter_models_are_marked_and_known(project):
    jobs = plan(project(qualification={"enabled": True, "filter_models": ["tiny-a"]}))
    assert jobs["queries/fks-embedded"].needs[0].item == "fks-embedded.candidates"
    assert jobs["metrics/fks-embedded.tiny-a.s0"].config["filter_model"] is True
    assert jobs["metrics/fks-embedded.tiny-b.s0"].config["filter_model"] is False
    off = plan(project(qualification={"enabled": False, "filter_models": ["tiny-a"]}))
    assert off["metrics/fks-embedded.tiny-a.s0"].config["filter_model"] is False
    with pytest.raises(ConfigError, match="tiny-z"):
        plan(project(qualification={"enabled": True, "filter_models": ["tiny-z"]}))


def test_an_experiment_without_fks_plans_the_header_of_its_table(project):
    project()
    path = project.root / "configs/experiments/here.yaml"
    path.write_text("models: [tiny-a]\nbenchmarks: {other: {}}\n")
    assert [(job.name, job.needs) for job in pipeline.jobs(load_configs(project.root))] == [("table/fks", ())]


def test_published_files_need_a_lock_entry(project):
    with pytest.raises(ConfigError, match="assay data fetch fks"):
        plan(project(dataset="card"))
    lock = {"fks-card": {"kind": "fks-card", "files": {"facts.jsonl": "0" * 64}}}
    job = plan(project(dataset="card", lock=lock))["queries/fks-card"]
    assert job.lock == ("data/fks-card",)
    assert job.config["files"] == {"facts.jsonl": "0" * 64}


def test_a_table_of_ones_own_is_locked_and_built(project):
    fks = {"dataset": "mine", "datasets": {"mine": {"kind": "csv", "file": "data/mine.csv"}}}
    config = project(**fks).fks
    with pytest.raises(DataError, match="does not exist"):
        list(lock_entries(project.root, config))
    (project.root / "data").mkdir()
    (project.root / "data/mine.csv").write_text("relation,subject,object\ncapital,France,Paris\n")
    lock = dict(lock_entries(project.root, config))
    job = plan(project(lock=lock, **fks))["queries/fks-mine"]
    assert job.config["csv"]["sha256"] == lock["fks-mine"]["files"]["data/mine.csv"]


def test_the_published_files_are_fetched_at_a_commit_and_locked(project):
    config = project(dataset="card").fks
    calls = []

    def download(**options):
        calls.append(options)
        folder = Path(options["local_dir"])
        folder.mkdir(parents=True)
        (folder / "facts.jsonl").write_text("{}\n")
        (folder / "queries.jsonl").write_text("{}\n")

    entry = fetch_published(project.root, config, "a" * 40, download)
    assert calls[0]["revision"] == entry["revision"] == "a" * 40
    assert set(entry["files"]) == {"facts.jsonl", "queries.jsonl"}
    with pytest.raises(ConfigError, match="no commit"):
        fetch_published(project.root, config, "main", download)
    with pytest.raises(ConfigError, match="not one of published files"):
        fetch_published(project.root, project().fks, "a" * 40, download)


@pytest.fixture
def stored(tmp_path):
    config = {"relations": ["capital"], "cap_per_relation": 2, "selection": "well_known"}
    out = build(config, Inputs(()))
    folder = tmp_path / "queries"
    for name in ("facts.jsonl", "queries.jsonl", "lexicon.jsonl"):
        write_rows(folder / name, out[name])
    queries = Input("queries", "queries", "fks", "k", folder, "bytes")
    prompts = FksConfig().prompt.model_dump()
    write_rows(tmp_path / "prompts/prompts.jsonl", build_prompts(prompts, Inputs((queries,)))["prompts.jsonl"])
    return queries, Input("prompts", "prompts", "fks", "k", tmp_path / "prompts", "bytes")


def test_states_come_from_the_rows_flag_and_not_from_its_family(stored):
    queries, prompts = stored
    rows = list(read_rows(queries.path("queries.jsonl"), dict))
    paraphrase = next(row for row in rows if row["condition_family"] == "paraphrase")
    reverse = next(row for row in rows if row["condition_family"] == "reverse")
    paraphrase["use_for_main_forward"], reverse["use_for_main_forward"] = False, True
    reverse["use_for_reverse_analysis"] = False
    write_rows(queries.path("queries.jsonl"), rows)
    kept = {row.query_id for row in main_forward({}, Inputs((queries, prompts)))["prompts.jsonl"]}
    assert reverse["query_id"] in kept
    assert paraphrase["query_id"] not in kept


def test_states_read_the_prompts_that_answers_were_given_to(stored):
    queries, prompts = stored
    asked = {row.query_id: row for row in prompts.rows("prompts.jsonl", PromptRow)}
    for row in main_forward({}, Inputs((queries, prompts)))["prompts.jsonl"]:
        assert row == asked[row.query_id]


def test_a_sample_keeps_the_competitors_of_the_full_table(stored):
    catalogue, queries = read_catalogue(stored[0])
    question = catalogue.question(next(iter(queries)))
    for name in (("paris",), ("париж",), ("巴", "黎")):
        assert question.competitors.equals(name) is not None
