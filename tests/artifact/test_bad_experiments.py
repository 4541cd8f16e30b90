"""What an experiment asks for and nobody can do is said when it is planned, not by a job hours later."""

import shutil

import pytest
import yaml

from assay.config.load import load_configs
from assay.errors import ConfigError
from assay.plan import open_project

JLENS = {"states": {"top_state": "block_output"}, "metrics": {"internal": {"transports": ["raw", "jlens"]}}}
HERE = "configs/experiments/mine.yaml"


@pytest.fixture
def project(root, tmp_path):
    shutil.copytree(root / "configs", tmp_path / "configs")
    shutil.copy(root / "constraints.txt", tmp_path)
    (tmp_path / "configs/experiment.yaml").write_text("use: mine\n")
    return tmp_path


def write(project, **experiment) -> None:
    (project / HERE).write_text(yaml.safe_dump({"models": ["tiny-a"], **experiment}))


def said(project, **experiment) -> str:
    write(project, **experiment)
    with pytest.raises(ConfigError) as caught:
        open_project(project)
    return str(caught.value)


@pytest.mark.parametrize(
    ("section", "key", "words"),
    [
        ({"relations": ["capitall"]}, "relations", "'capitall' is not known; expected one of capital"),
        ({"judge": {"kind": "model", "model": "tiny-c"}}, "judge.model", "'tiny-c' is not known; expected one of tiny"),
        (
            {"judge": {"kind": "model", "model": "tiny-b", "template": "{first}"}},
            "judge.template",
            "each of {question}",
        ),
        ({"lens": {"imported": {"tiny-aa": "x"}}}, "lens.imported.tiny-aa", "'tiny-aa' is not known; expected one of"),
        ({"lens": {"tokens": 8}}, "lens.tokens", "at least 18"),
        ({"qualification": {"filter_models": ["x"]}}, "qualification.filter_models", "'x' is not known"),
        ({"decodin": {}}, "decodin", "'decodin' is not known; expected one of decoding"),
    ],
)
def test_fks(section, key, words, project):
    text = said(project, benchmarks={"fks": section})
    assert text.startswith(f"{HERE}, key 'benchmarks.fks.{key}': ")
    assert words in text


METHOD = "methods.fc-oracle"


@pytest.mark.parametrize(
    ("section", "key", "words"),
    [
        ({"domains": ["bankk"]}, "domains", "'bankk' is not known; expected one of bank"),
        ({"methods": {"fc-oracle": {"domains": ["bankk"]}}}, f"{METHOD}.domains", "'bankk' is not known"),
        ({"domains": ["bank"]}, f"{METHOD}.domains", "none of the domains of the experiment; expected some of bank"),
        ({"methods": {"fc-oracle": {"user": "scripted!"}}}, f"{METHOD}.user", "'scripted!' is not known"),
        ({"methods": {"fc-oracle": {"user": "tiny-a"}}}, f"{METHOD}.user", "plays the user and is evaluated"),
        ({"generated": {"succeed": 0, "refuse": 0}}, "generated.succeed", "there would be no task"),
        ({"methods": {"fc-oracle": {"decoding": {"temperature": 0.7}}}}, f"{METHOD}.decoding", "0 with method greedy"),
        ({"methods": {"fc-oracle": {"decoding": {"method": "sampling"}}}}, f"{METHOD}.decoding", "above 0 with method"),
        ({"methods": {"FC": {}}}, "methods.FC", "'FC' is no valid value"),
    ],
)
def test_sopbench(section, key, words, project):
    text = said(project, benchmarks={"sopbench": section})
    place = "configs/sopbench.yaml, key '" if section == {"domains": ["bank"]} else f"{HERE}, key 'benchmarks.sopbench."
    assert text.startswith(f"{place}{key}': ")
    assert words in text


@pytest.mark.parametrize(
    ("experiment", "key", "words"),
    [
        ({"executions": {"preload": ["nunpy"]}}, "executions.preload", "'nunpy' cannot be preloaded"),
        ({"executions": {"distributions": ["nunpy"]}}, "executions.distributions", "'nunpy' is not installed"),
        ({"executions": {"isolatoin": "off"}}, "executions.isolatoin", "expected one of isolation"),
        ({"table": {"order": ["modell"]}}, "table.order.0", "'modell' is no valid value"),
        (
            {"benchmarks": {"symbench": {"methods": {"codesteer": {"templates": {"cod": "x"}}}}}},
            "benchmarks.symbench.methods.codesteer.templates",
            "codesteer has no text 'cod'; expected text, code",
        ),
        (
            {"benchmarks": {"symbench": {"methods": {"codesteer": {"guide": "tiny"}}}}},
            "benchmarks.symbench.methods.codesteer.guide",
            "'tiny' is not known",
        ),
    ],
)
def test_symbench_and_what_all_share(experiment, key, words, project):
    text = said(project, **{"benchmarks": {"symbench": {}}, **experiment})
    assert text.startswith(f"{HERE}, key {key!r}: ")
    assert words in text


def test_the_sandbox_section_is_checked_where_no_benchmark_reads_it(project):
    assert "'isolatoin' is not known" in said(project, benchmarks={"fks": {}}, executions={"isolatoin": "off"})


def test_an_experiment_without_any_model_is_no_table_of_baselines(project):
    (project / ".assay").mkdir()
    (project / ".assay/absent_models.json").write_text('["tiny-a"]')
    text = said(project, benchmarks={"fks": {}}, optional_models=["tiny-a"])
    assert text == (
        f"{HERE}, key 'models': no model remains: left out, since its weights could not be fetched: tiny-a; "
        "`assay fetch` tries again; expected at least one whose weights are here; add a model that this machine has"
    )


def test_samples_that_were_not_fetched_are_named(project):
    lock = yaml.safe_load((project / "configs/lock.yaml").read_text())
    lock["data"]["symbench"] = {"kind": "symbench", "files": {"game24.jsonl": "0" * 64}}
    (project / "configs/lock.yaml").write_text(yaml.safe_dump(lock))
    section = {"samples": {"kind": "published"}, "tasks": ["game24", "letters"]}
    text = said(project, benchmarks={"symbench": section})
    assert text.startswith(f"{HERE}, key 'benchmarks.symbench.tasks': the lock knows no samples of letters")


@pytest.mark.parametrize(
    ("name", "section", "key"),
    [
        (
            "fks-own",
            {"dataset": "own", "datasets": {"own": {"kind": "csv", "file": "data/b.csv"}}},
            "datasets.own.file",
        ),
        (
            "fks-own",
            {"dataset": "own", "datasets": {"own": {"kind": "csv", "file": "data/a.csv", "templates": "data/b.csv"}}},
            "datasets.own.templates",
        ),
        ("fks-lens-texts", JLENS | {"lens": {"texts": "data/b.csv"}}, "lens.texts"),
        ("fks-lens-tiny-a", JLENS | {"lens": {"imported": {"tiny-a": "data/b.csv"}}}, "lens.imported.tiny-a"),
    ],
)
def test_a_data_file_that_the_lock_does_not_know_is_refused(name, section, key, project):
    """It would be read whatever it holds, and another content would be no other key; of texts, data/a.csv was read."""
    lock = yaml.safe_load((project / "configs/lock.yaml").read_text())
    lock["data"][name] = {"kind": "any", "files": {"data/a.csv": "0" * 64}}
    (project / "configs/lock.yaml").write_text(yaml.safe_dump(lock))
    text = said(project, benchmarks={"fks": section})
    assert text.startswith(f"{HERE}, key 'benchmarks.fks.{key}': data/b.csv is not in the lock; expected a file that")
    assert "assay data lock fks --renew" in text


def test_the_place_of_a_setting_is_where_it_is_overridden(project):
    write(project, benchmarks={"fks": {"lens": {"prompts": 5}, "datasets": None}})
    configs = load_configs(project)
    assert configs.where("fks", "lens", "prompts") == {"file": HERE, "key": "benchmarks.fks.lens.prompts"}
    assert configs.where("fks", "lens", "tokens") == {"file": "configs/fks.yaml", "key": "lens.tokens"}
    assert configs.where("fks", "datasets", "card", "folder")["file"] == HERE  # replaced with all that it held
    assert configs.where("executions", "preload") == {"file": "configs/executions.yaml", "key": "preload"}
