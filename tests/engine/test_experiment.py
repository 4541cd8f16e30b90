"""The ci experiment, real benchmarks and all, through Snakemake and then DVC; hidden states on another disk."""

import csv
import os
import tempfile
from pathlib import Path

import pytest
from project import TABLE, Project, copy


@pytest.fixture
def other_disk():
    """A folder on another file system, where there is one."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.mark.long
def test_the_ci_experiment_through_both_engines(tmp_path, other_disk):
    cache = Path(os.environ.get("ASSAY_CACHE", Path.home() / ".cache" / "assay"))
    project = Project.create(tmp_path / "p", cache, HOME=str(tmp_path), ASSAY_LARGE=str(other_disk))
    project.edit("configs/experiment.yaml", "use: toy", "use: ci")
    project.git()
    assert "generations" in project.call("snakemake", "-n")
    project.call(*TABLE)
    assert "Nothing to be done" in project.call("snakemake", "-n")
    assert "0 problems" in project.call("assay", "verify")
    rows = list(csv.DictReader((project.folder / "results/table.csv").open()))
    keys = [tuple(row.values())[:8] for row in rows]
    assert len(set(keys)) == len(keys)
    assert {row["benchmark"] for row in rows} == {"fks", "sopbench", "symbench"}
    assert list(other_disk.rglob("*.safetensors"))
    assert project.made("dvc", "repro") == {}
    assert "up to date" in project.call("dvc", "status")
    again = copy(project, tmp_path / "again")
    assert again.made(*TABLE) == {}
