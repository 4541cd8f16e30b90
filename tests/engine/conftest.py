"""Projects that engine tests start from, built once a session."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from project import TABLE, Project, copy, with_weights


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items) -> None:
    """Keep engine tests on one worker, so that the projects they start from are built once.

    The long drills are two workers' work: those of DVC make a group of their own.
    """
    here = str(Path(__file__).parent)
    for item in items:
        if str(item.path).startswith(here):
            drill = item.get_closest_marker("long") and "recorded" in item.fixturenames
            item.add_marker(pytest.mark.xdist_group("dvc" if drill else "engine"))


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
