"""Projects that engine tests start from, built once a session."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from project import TABLE, Project, copy, with_weights


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def fresh(tmp_path_factory, cache) -> Project:
    """A committed project in which nothing was made yet."""
    return with_weights(Project.create(tmp_path_factory.mktemp("fresh") / "p", cache)).git()


@pytest.fixture(scope="session")
def built(tmp_path_factory, fresh) -> Project:
    """A project whose table was made by Snakemake."""
    project = copy(fresh, tmp_path_factory.mktemp("built") / "p")
    project.call(*TABLE)
    return project


@pytest.fixture(scope="session")
def recorded(tmp_path_factory, built) -> Project:
    """The built project after `dvc repro`, with DVC's files committed."""
    project = copy(built, tmp_path_factory.mktemp("recorded") / "p")
    assert project.made("dvc", "repro") == {}
    project.call("git", "add", "-A")
    project.call("git", "commit", "-qm", "results")
    return project
