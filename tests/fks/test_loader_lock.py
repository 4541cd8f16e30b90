"""`assay data lock fks`: digests hold from their first use on."""

import shutil

import pytest
import yaml

from assay.cli.main import main
from assay.config.load import load_configs
from assay.errors import DataError
from assay.fks.datasets import fetch_published


@pytest.fixture
def project(tmp_path, root, monkeypatch):
    (tmp_path / "configs/experiments").mkdir(parents=True)
    for name in ("fks.yaml", "models.yaml"):
        shutil.copy(root / "configs" / name, tmp_path / "configs" / name)
    (tmp_path / "configs/experiment.yaml").write_text("use: here\n")
    fks = {"dataset": "mine", "datasets": {"mine": {"kind": "csv", "file": "mine.csv"}}}
    experiment = {"models": ["tiny-a"], "benchmarks": {"fks": fks}}
    (tmp_path / "configs/experiments/here.yaml").write_text(yaml.safe_dump(experiment))
    (tmp_path / "mine.csv").write_text("relation,subject,object\ncapital,France,Paris\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def recorded(project):
    return yaml.safe_load((project / "configs/lock.yaml").read_text())["data"]


def test_the_first_use_is_recorded(project, capsys):
    assert main(["data", "lock", "fks"]) == 0
    assert list(recorded(project)["fks-mine"]["files"]) == ["mine.csv"]
    assert main(["data", "lock", "fks"]) == 0
    assert "unchanged" in capsys.readouterr().out


def test_a_change_must_be_meant(project, capsys):
    main(["data", "lock", "fks"])
    before = recorded(project)
    (project / "mine.csv").write_text("relation,subject,object\ncapital,France,Lyon\n")
    assert main(["data", "lock", "fks"]) == 3
    assert "mine.csv differs" in capsys.readouterr().err
    assert recorded(project) == before
    assert main(["data", "lock", "fks", "--renew"]) == 0
    assert recorded(project) != before


def test_what_another_benchmark_reads_is_refused(project, capsys):
    assert main(["data", "fetch", "fks", "--revision", "a" * 40, "--from", "here"]) != 0
    assert "fks has no --from; copy a local folder to data/fks-card" in capsys.readouterr().err
    assert main(["data", "fetch", "symbench", "--revision", "a" * 40]) != 0
    assert "symbench has no --revision" in capsys.readouterr().err


def test_an_unknown_dataset_lists_the_known_ones(project, capsys):
    assert main(["data", "lock", "fks", "--dataset", "cards"]) == 3
    assert "card" in capsys.readouterr().err


def test_a_missing_folder_of_the_published_files_says_what_to_do(project, capsys):
    assert main(["data", "lock", "fks", "--dataset", "card"]) == 4
    assert "make a link" in capsys.readouterr().err


def test_a_hub_that_cannot_be_reached_is_explained(project):
    def download(**options):
        raise ConnectionError("no route")

    config = load_configs(project).fks.model_copy(update={"dataset": "card"})
    with pytest.raises(DataError, match=r"cannot be fetched.*copy the files"):
        fetch_published(project, config, "a" * 40, download)
