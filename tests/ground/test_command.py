"""The command line itself: what a wrong or missing command says."""

import errno
import os

import pytest

from assay.cli.main import COMMANDS, main


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
