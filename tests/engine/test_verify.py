"""`assay verify` notices every changed byte."""

import sys

import pytest
from project import Project, copy


@pytest.fixture
def project(built, tmp_path) -> Project:
    return copy(built, tmp_path / "p")


def problems(project: Project) -> str:
    result = project.run("assay", "verify")
    assert result.code == (0 if "0 problems" in result.text else 1)
    return result.text


def test_a_flipped_bit_in_any_data_file_or_manifest_is_found(project):
    """Every file, one bit each; in process, since a command per file would take minutes."""
    code = (
        "from pathlib import Path; from assay.plan import open_project; from assay.artifact.verify import verify_plan\n"
        "p = open_project()\n"
        "assert not list(verify_plan(p.root, p.plan))\n"
        "files = [f for a in p.plan.values() for f in sorted(a.folder.rglob('*')) if f.is_file()]\n"
        "files = [f for f in files if f.name != 'envelope.json']\n"
        "missed = []\n"
        "for f in files:\n"
        "    data = f.read_bytes()\n"
        "    for place in {0, len(data) // 2, max(0, len(data) - 1)}:\n"
        "        bad = bytearray(data or b'x'); bad[place] ^= bool(data)\n"
        "        f.chmod(0o644); f.write_bytes(bad)\n"
        "        if not list(verify_plan(p.root, p.plan)): missed.append((str(f), place))\n"
        "        f.write_bytes(data)\n"
        "print(len(files), 'files', missed)\n"
    )
    text = project.call(sys.executable, "-c", code)
    count, _, missed = text.strip().splitlines()[-1].partition(" files ")
    assert int(count) > 30
    assert missed == "[]"


def test_missing_swapped_and_added_files_and_edited_tables_are_found(project):
    labels = project.folder / "results/labels"
    one, two = (next(iter((labels / f"toy.{m}.greedy").iterdir())) for m in ("tiny-a", "copied"))
    kept = {path: path.read_bytes() for path in (*one.iterdir(), *two.iterdir())}

    def restore() -> None:
        for path, data in kept.items():
            path.write_bytes(data)
        assert "0 problems" in problems(project)

    (one / "labels.jsonl").unlink()
    assert "labels.jsonl: the data file is missing" in problems(project)
    restore()
    for name in ("labels.jsonl", "manifest.json"):
        (one / name).write_bytes(kept[two / name])
    assert problems(project).count("toy.tiny-a.greedy")
    restore()
    (one / "extra.txt").write_text("x")
    assert "extra.txt: is not in the manifest" in problems(project)
    (one / "extra.txt").unlink()
    table = project.folder / "results/table.csv"
    table.write_text(table.read_text().replace("isa", "bytes"))
    assert "results/table.csv: differs from" in problems(project)
    table.unlink()
    assert "results/table.csv: is missing" in problems(project)


def test_a_damaged_input_stops_what_reads_it(project):
    folder = next(iter((project.folder / "results/generations/toy.tiny-a.greedy").iterdir()))
    data = bytearray((folder / "generations.jsonl").read_bytes())
    data[10] ^= 1
    (folder / "generations.jsonl").write_bytes(data)
    project.edit("configs/toy.yaml", "threshold: 2", "threshold: 9")
    result = project.run("snakemake", "--cores", "2", "results/table.csv")
    assert result.code != 0
    assert "generations.jsonl: the data file is damaged" in result.text
    assert "Traceback" not in result.text


def test_only_what_verifies_is_pinned(project):
    table = project.folder / "results/table.csv"
    right = table.read_bytes()
    table.write_bytes(right.replace(b"isa", b"bytes"))
    result = project.run("assay", "pin", "v1")
    assert result.code == 5
    assert "results/table.csv: differs from" in result.text
    table.write_bytes(right)
    data = next((project.folder / "results/labels/toy.tiny-a.greedy").glob("*/labels.jsonl"))
    data.write_bytes(data.read_bytes().replace(b"1", b"2", 1))
    result = project.run("assay", "pin", "v1")
    assert result.code == 5
    assert "labels.jsonl: the data file is damaged" in result.text
    assert not (project.folder / "pins").exists()


def test_status_does_not_call_an_artifact_current_that_lacks_something(project):
    folder = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    before = project.call("assay", "status")
    assert "damaged" not in before
    (folder / "labels.jsonl").unlink()
    text = project.call("assay", "status")
    assert "damaged   results/labels/toy.tiny-a.greedy" in text
    assert "labels.jsonl is missing" in text
    assert ", 1 damaged" in text
    (folder / "manifest.json").unlink()
    (folder / "manifest.json").mkdir()
    assert "the manifest cannot be read" in project.call("assay", "status")
    assert "manifest.json: the manifest cannot be read" in problems(project)


def test_a_link_in_an_artifact_is_found(project):
    folder = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    (folder / "extra").symlink_to(project.folder, target_is_directory=True)
    assert "extra: is not in the manifest" in problems(project)
