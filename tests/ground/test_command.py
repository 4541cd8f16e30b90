"""The command line itself: what a wrong or missing command says."""

import errno
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli.disk import refusal
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


SCORE = ["fks", "score", "g", "--queries", "q", "--facts", "f"]
WRITING = [
    [*SCORE, "--out"],
    [*SCORE, "--clusters"],
    ["symbench", "score", "r", "--out"],
    ["sopbench", "import", ".", "--verdicts"],
    ["data", "fetch", "symbench", "--from", ".", "--out"],
    ["data", "fetch", "sopbench", "--from", ".", "--out"],
]


@pytest.mark.parametrize("place", ["/proc/x", "/proc/x/y", "held/x", "held/x/y", "/dev/full/x", "{}" * 200])
@pytest.mark.parametrize("command", WRITING, ids=lambda command: " ".join((*command[:2], command[-1])))
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_read(
    command, place, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "held").write_text("kept")
    assert main([*command, place]) in (3, 5)
    said = capsys.readouterr().err
    assert place in said
    assert said.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["held"]
    assert (tmp_path / "held").read_text() == "kept"


@pytest.mark.parametrize("place", ["/dev/full", ".", "folder"])
def test_only_a_file_is_replaced(place, tmp_path, monkeypatch, capsys):
    """A device would become a plain file, for everybody on the machine."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert main([*SCORE, "--out", place]) == 3
    assert "expected a file that can be written; name another place" in capsys.readouterr().err
    assert Path("/dev/full").is_char_device()


def test_two_outputs_are_not_one_file(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*SCORE, "--out", "x", "--clusters", "x"]) == 3
    assert "would be one file" in capsys.readouterr().err


def test_the_file_that_was_meant_is_named_not_the_temporary_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "source").write_text("x")
    (tmp_path / "held").write_text("kept")
    assert main(["publish", "source", "held/table.csv"]) == 5
    assert "assay publish: held: File exists; move what stands in the way" in capsys.readouterr().err
    error = OSError(errno.EROFS, "Read-only file system", "results/.table.csv.0123456789ab.tmp")
    assert refusal(error).file == "results/table.csv"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_what_a_disk_refuses_is_one_sentence(number, monkeypatch, capsys):
    def run(_args):
        raise OSError(number, os.strerror(number), "results/x.jsonl")

    monkeypatch.setattr("assay.cli.status.run", run)
    assert main(["status"]) == 5
    said = capsys.readouterr().err
    assert said.startswith(f"assay status: results/x.jsonl: {os.strerror(number)}; ")
    assert "run the same command again" in said


COMMAND = f"env -u PYTHONUNBUFFERED {sys.executable} -m assay.cli.main"


@pytest.mark.parametrize("asked", ["--version", "--help", "plan --help"])
def test_a_reader_that_goes_early_is_no_error_of_the_interpreter(asked):
    """Short output is written when the command ends: python itself would then complain and return 120."""
    script = f"{COMMAND} {asked} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("asked", ["--version", "plan --help"])
def test_output_to_a_full_disk_is_one_sentence(asked):
    done = subprocess.run(["bash", "-c", f"{COMMAND} {asked} >/dev/full"], capture_output=True, text=True)
    assert done.returncode == 5
    assert re.fullmatch(r"assay \S+: No space left on device; make room .*\n", done.stderr)


@pytest.mark.parametrize(
    ("asked", "code"), [("fetch --models nobody", 3), ("publish README.md held/x", 5), ("--version", 0)]
)
def test_a_mistake_is_told_also_where_there_is_no_output(asked, code, tmp_path):
    (tmp_path / "README.md").write_text("x")
    (tmp_path / "held").write_text("kept")
    script = f"cd {tmp_path}; {COMMAND} {asked} >&-"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stderr.count("\n") == bool(code), done.stderr


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


def test_a_misspelled_model_on_the_command_line_is_not_sought_in_the_experiment(tmp_path, monkeypatch, root, capsys):
    shutil.copytree(root / "configs", tmp_path / "configs")
    monkeypatch.chdir(tmp_path)
    before = (tmp_path / "configs/lock.yaml").read_bytes()
    (tmp_path / "configs/lock.yaml").write_text("")
    assert main(["lock", "tiny-a", "tiny-aa"]) == 3
    assert "command line, key 'NAME': 'tiny-aa' is not known; expected one of tiny-a" in capsys.readouterr().err
    assert (tmp_path / "configs/lock.yaml").read_bytes() == b""
    (tmp_path / "configs/lock.yaml").write_bytes(before)
    assert main(["fks", "import-lens", "x.pt", "--model", "tiny-aa"]) == 3
    assert "command line, key '--model': 'tiny-aa' is not known" in capsys.readouterr().err


def test_contradictory_choices_are_usage_errors(capsys):
    for command in (
        ["fetch", "--models", "tiny-a", "--experiment", "ci"],
        ["verify", "--pin", "v", "--experiment", "ci"],
    ):
        with pytest.raises(SystemExit) as caught:
            main(command)
        assert caught.value.code == 2
        assert "not allowed with argument" in capsys.readouterr().err


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
