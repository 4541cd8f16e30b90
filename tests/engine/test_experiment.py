"""The ci experiment, real benchmarks and all: both engines, and another folder with other settings."""

import csv
import os
import tempfile
from pathlib import Path

import pytest
from project import TABLE, Project, copy

from assay.model.cache import cache_folder

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def other_disk():
    """A folder on another file system, where there is one."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)


def create(folder: Path, **environment: str) -> Project:
    project = Project.create(folder, cache_folder(), HOME=str(folder.parent), **environment)
    project.edit("configs/experiment.yaml", "use: toy", "use: ci")
    return project


@pytest.fixture(scope="module")
def experiment(tmp_path_factory, other_disk) -> Project:
    """The ci experiment after one run, its hidden states on another disk."""
    project = create(tmp_path_factory.mktemp("ci") / "p", ASSAY_LARGE=str(other_disk)).git()
    assert "generations" in project.call("snakemake", "-n")
    project.call(*TABLE)
    return project


def test_both_engines_agree_that_nothing_is_left_to_do(experiment, other_disk, tmp_path):
    assert "Nothing to be done" in experiment.call("snakemake", "-n")
    assert "0 problems" in experiment.call("assay", "verify")
    assert list(other_disk.rglob("*.safetensors"))
    assert experiment.made("dvc", "repro") == {}
    assert "up to date" in experiment.call("dvc", "status")
    assert copy(experiment, tmp_path / "again").made(*TABLE) == {}


def test_every_row_of_the_table_is_told_apart_by_its_key(experiment):
    rows = list(csv.DictReader((experiment.folder / "results/table.csv").open()))
    keys = [tuple(row.values())[:8] for row in rows]
    assert len(set(keys)) == len(keys)
    assert {row["benchmark"] for row in rows} == {"fks", "sopbench", "symbench"}


def test_another_folder_hash_seed_and_core_count_give_the_same_bytes(experiment, tmp_path):
    other = create(tmp_path / "another" / "place")
    other.call("snakemake", "--cores", "1", "results/table.csv", PYTHONHASHSEED="12345")
    ours, theirs = artifacts(experiment), artifacts(other)
    assert ours.keys() == theirs.keys()
    assert [name for name, data in ours.items() if theirs[name] != data] == []
    assert len(ours) > 100


def artifacts(project: Project) -> dict[str, bytes]:
    """Return the bytes of all artifacts, also of those behind links."""
    found = project.artifacts()
    base = project.folder / "results"
    for link in filter(Path.is_symlink, base.iterdir()):
        for path in sorted(link.resolve().rglob("*")):
            if path.is_file() and path.name != "envelope.json":
                found[f"{link.name}/{path.relative_to(link.resolve()).as_posix()}"] = path.read_bytes()
    return found
