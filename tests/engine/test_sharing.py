"""A second clone, pins, and proof."""

import shutil

import pytest
from project import TABLE, Project, copy


@pytest.fixture(scope="module")
def clone(recorded, cache, tmp_path_factory) -> Project:
    """A clone of a pinned, tagged and pushed project, after `dvc pull`."""
    base = tmp_path_factory.mktemp("share")
    origin = copy(recorded, base / "origin")
    origin.call("assay", "pin", "v1")
    origin.call("dvc", "remote", "add", "-d", "pins", str(base / "remote"))
    origin.call("git", "add", "-A")
    origin.call("git", "commit", "-qm", "pin v1")
    origin.call("git", "tag", "v1")
    origin.call("dvc", "push")
    origin.call("git", "clone", "-q", str(origin.folder), str(base / "clone"))
    clone = Project(base / "clone", cache)
    clone.call("git", "checkout", "-q", "v1")
    clone.call("dvc", "pull")
    return clone


def test_a_clone_with_pulled_artifacts_has_nothing_to_do_and_proves_the_pin(clone):
    assert "Nothing to be done" in clone.call("snakemake", "-n", "results/table.csv")
    assert "Nothing to be done" in clone.call("snakemake", "-n")
    assert "0 problems" in clone.call("assay", "verify")
    assert "pin v1: 0 problems" in clone.call("assay", "verify", "--pin", "v1")
    assert "up to date" in clone.call("dvc", "status")
    assert clone.call("git", "status", "--porcelain") == ""


def test_a_pin_notices_an_edited_table_config_and_artifact(clone, tmp_path):
    project = copy(clone, tmp_path / "p")
    (project.folder / "results/table.csv").write_text(
        (project.folder / "results/table.csv").read_text().replace("isa", "bytes")
    )
    result = project.run("assay", "verify", "--pin", "v1")
    assert result.code == 1
    assert "results/table.csv: is not the file that was pinned" in result.text
    pin = project.folder / "pins/v1.yaml"
    text = pin.read_text()
    first = next(line for line in text.splitlines() if line.startswith("  benchmark=toy"))
    pin.write_text(text.replace(first, first[: first.rindex(":")] + ": '99.0'"))
    assert "pinned is 99.0" in project.run("assay", "verify", "--pin", "v1").text
    shutil.rmtree(project.folder / "results/labels")
    assert "the artifact is missing" in project.run("assay", "verify", "--pin", "v1").text


def test_with_20_more_queries_exactly_20_rows_are_generated(clone, tmp_path):
    """The clone has no row store: rows of pulled artifacts count as stored."""
    import json

    project = copy(clone, tmp_path / "p")
    shutil.copytree(clone.folder.parent / "origin" / "weights", project.folder / "weights")
    assert not (project.folder / ".assay").exists() or not list((project.folder / ".assay").glob("*rows*"))
    facts = "".join(f"  - {{subject: beast{i}, object: six}}\n" for i in range(20))
    project.edit("configs/toy.yaml", "  - {subject: hen", facts + "  - {subject: hen")
    project.call(*TABLE)
    for item in sorted((project.folder / "results/generations").iterdir()):
        newest = max(item.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        envelope = json.loads((newest / "envelope.json").read_bytes())
        assert envelope["facts"]["rows"]["generations.jsonl"] == 24
        assert envelope["facts"]["generation"]["made"] == 20, item.name
