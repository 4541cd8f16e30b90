"""The command line itself: what a wrong or missing command says."""

import errno
import os
import shutil

import pytest

from assay.cli.main import COMMANDS, main
from assay.config.load import read_absent
from assay.model.fetch import UnavailableError


def test_without_a_command_the_commands_are_listed(capsys):
    assert main([]) == 2
    listed = capsys.readouterr().err
    assert all(f"  {name} " in listed for name in COMMANDS)


def test_the_version_is_told(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("assay 0.")


def test_an_unknown_command_names_those_that_exist(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["plna"])
    assert caught.value.code == 2
    assert "'plan'" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name, capsys):
    with pytest.raises(SystemExit) as caught:
        main([name, "--help"])
    assert caught.value.code == 0
    assert f"usage: assay {name}" in capsys.readouterr().out


def test_a_mistake_is_one_sentence_on_the_error_stream(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["plan"]) == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("assay plan: ")
    assert "configs/experiment.yaml: the file does not exist" in output.err
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_what_a_disk_refuses_is_one_sentence(number, monkeypatch, capsys):
    def run(_args):
        raise OSError(number, os.strerror(number), "results/x.jsonl")

    monkeypatch.setattr("assay.cli.status.run", run)
    assert main(["status"]) == 5
    said = capsys.readouterr().err
    assert said.startswith(f"assay status: results/x.jsonl: {os.strerror(number)}; ")
    assert "run the same command again" in said


def test_another_error_of_the_system_is_not_hidden(monkeypatch):
    def run(_args):
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", "x")

    monkeypatch.setattr("assay.cli.status.run", run)
    with pytest.raises(FileNotFoundError):
        main(["status"])


def test_publishing_what_is_not_there_is_one_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["publish", "nowhere.csv", "out.csv"]) == 5
    assert "nowhere.csv: the artifact's file is missing" in capsys.readouterr().err
    (tmp_path / "source.csv").write_text("x")
    (tmp_path / "out.csv").mkdir()
    assert main(["publish", "source.csv", "out.csv"]) == 5
    assert "out.csv: a folder stands" in capsys.readouterr().err


def test_a_folder_without_task_files_is_not_recorded(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["data", "lock", "symbench"]) == 4
    assert "the folder holds no task files" in capsys.readouterr().err
    assert not (tmp_path / "configs").exists()


def test_fetching_for_one_experiment_forgets_nothing_about_another(tmp_path, monkeypatch, root, capsys):
    def refuse(entry, *_):
        raise UnavailableError(f"{entry.name} cannot be had")

    shutil.copytree(root / "configs", tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("assay.model.fetch.fetch", refuse)
    experiments = tmp_path / "configs/experiments"
    for name, model in (("one", "tiny-a"), ("two", "tiny-b")):
        text = f"models: [{model}]\noptional_models: [{model}]\nbenchmarks: {{fks: {{}}}}\n"
        (experiments / f"{name}.yaml").write_text(text)
        assert main(["fetch", "--experiment", name]) == 0
    assert read_absent(tmp_path) == ["tiny-a", "tiny-b"]
    capsys.readouterr()
