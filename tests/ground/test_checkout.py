"""Published data from a repository: the pinned commit and nothing else."""

import subprocess

import pytest

from assay.errors import DataError
from assay.records.checkout import checkout


@pytest.fixture
def repository(tmp_path):
    """A repository with two commits; the first is the pinned one."""
    folder = tmp_path / "origin"

    def git(*arguments):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        command = ["git", *identity, "-C", str(folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (folder / "data").mkdir(parents=True)
    (folder / "models").mkdir()
    git("init", "-q")
    git("config", "uploadpack.allowAnySHA1InWant", "true")
    (folder / "data/a.txt").write_text("first")
    (folder / "models/big").write_text("x" * 1000)
    git("add", "-A")
    git("commit", "-qm", "first")
    pinned = git("rev-parse", "HEAD")
    (folder / "data/a.txt").write_text("second")
    git("commit", "-qam", "second")
    return f"file://{folder}", pinned


def test_the_pinned_commit_of_one_folder_is_checked_out(repository, tmp_path):
    url, commit = repository
    target = tmp_path / "target"
    target.mkdir()
    checkout(url, commit, "data", target, benchmark="b")
    assert (target / "data/a.txt").read_text() == "first"
    assert not (target / "models").exists()


def test_another_repository_that_the_environment_names_stays_as_it_is(repository, tmp_path, monkeypatch):
    """As in a hook: the commit would be checked out there, and its folder made sparse."""
    url, commit = repository
    target = tmp_path / "target"
    target.mkdir()
    before = (tmp_path / "origin/.git/HEAD").read_bytes()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "origin/.git"))
    checkout(url, commit, "data", target, benchmark="b")
    assert (target / "data/a.txt").read_text() == "first"
    assert (tmp_path / "origin/.git/HEAD").read_bytes() == before


def test_a_commit_that_is_not_there_says_what_to_do(repository, tmp_path):
    url, _ = repository
    with pytest.raises(DataError, match="cannot be fetched") as caught:
        checkout(url, "0" * 40, "data", tmp_path, benchmark="b")
    assert "assay data fetch b --from FOLDER" in str(caught.value)
    assert "0" * 40 in str(caught.value)


def test_what_is_no_address_is_refused(tmp_path):
    with pytest.raises(DataError, match="neither a folder nor a URL"):
        checkout("somewhere", "0" * 40, "data", tmp_path, benchmark="b")


def test_a_machine_without_git_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DataError, match="git is not installed"):
        checkout("https://example.org/x", "0" * 40, "data", tmp_path, benchmark="b")
