"""`assay verify` notices every changed byte."""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

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


def test_an_artifact_in_the_place_of_another_is_not_current_and_is_made_again(project):
    labels = project.folder / "results/labels"
    one, two = (next(iter((labels / f"toy.{m}.greedy").iterdir())) for m in ("tiny-a", "copied"))
    shutil.rmtree(one)
    shutil.copytree(two, one)
    text = project.call("assay", "status")
    assert f"damaged   results/labels/toy.tiny-a.greedy/{one.name}  (the folder holds another artifact)" in text
    metrics = next(iter((project.folder / "results/metrics/toy.tiny-a.greedy").iterdir()))
    shutil.rmtree(metrics)
    result = project.run("assay", "make", "metrics", "toy.tiny-a.greedy", metrics.name)
    assert result.code == 5
    assert (
        f"the folder holds another artifact; expected {one.name}, not {two.name}; delete results/labels/" in result.text
    )
    project.call("assay", "make", "labels", "toy.tiny-a.greedy", one.name)
    project.call("assay", "make", "metrics", "toy.tiny-a.greedy", metrics.name)
    assert "0 problems" in problems(project)


def test_a_digest_that_is_not_that_of_the_files_is_handed_on_to_nobody(project):
    """It would decide what is reused downstream, although every data file is right."""
    labels = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    manifest = labels / "manifest.json"
    right = manifest.read_text()
    digest = json.loads(right)["digest"]
    manifest.write_text(right.replace(f'"digest": "{digest}"', f'"digest": "{"0" * 64}"'))
    metrics = next(iter((project.folder / "results/metrics/toy.tiny-a.greedy").iterdir()))
    shutil.rmtree(metrics)
    result = project.run("assay", "make", "metrics", "toy.tiny-a.greedy", metrics.name)
    assert result.code == 5
    assert f"key 'digest': the manifest is damaged; expected {digest[:12]}, not {'0' * 12}" in result.text
    assert not metrics.exists()


def test_what_is_linked_tells_how_it_was_computed_also_after_a_second_link(project):
    """The versions and deviations of the process that links say nothing about the files."""
    folder = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    made = json.loads((folder / "envelope.json").read_bytes())
    for _ in range(2):
        shutil.rmtree(project.folder / ".attic", ignore_errors=True)
        shutil.copytree(folder, project.folder / ".attic/labels/toy.tiny-a.greedy" / folder.name)
        shutil.rmtree(folder)
        project.call("assay", "make", "labels", "toy.tiny-a.greedy", folder.name)
        linked = json.loads((folder / "envelope.json").read_bytes())
        assert linked["how"] == "linked"
        assert linked["facts"]["computed"] == made


def test_a_table_of_several_environments_says_so_and_keeps_its_bytes(project):
    table = next(iter((project.folder / "results/table").glob("*/*/table.csv")))
    same = json.loads((table.parent / "envelope.json").read_bytes())
    assert "mixed_environments" not in same["facts"]
    bytes_before, manifest = table.read_bytes(), (table.parent / "manifest.json").read_bytes()
    envelope = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir())) / "envelope.json"
    other = json.loads(envelope.read_bytes())
    other["versions"]["python"] = "3.99"
    envelope.write_text(json.dumps(other))
    item, key = table.parent.parent.name, table.parent.name
    shutil.rmtree(table.parent)
    said = project.call("assay", "make", "table", item, key)
    facts = json.loads((table.parent / "envelope.json").read_bytes())["facts"]
    (sentence,) = facts["mixed_environments"]
    assert "3.99 (1 jobs, as labels/toy.tiny-a.greedy)" in sentence
    assert "several environments" in said
    assert sentence in said
    assert (table.read_bytes(), (table.parent / "manifest.json").read_bytes()) == (bytes_before, manifest)


@pytest.mark.parametrize(("mask", "mode"), [("002", 0o775), ("077", 0o700)])
def test_a_folder_has_the_rights_that_its_user_gives(mask, mode, project):
    folder = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    shutil.rmtree(folder)
    make = f"umask {mask}; assay make labels toy.tiny-a.greedy {folder.name}"
    project.call("sh", "-c", make)
    assert folder.stat().st_mode & 0o777 == mode
    assert "0 problems" in problems(project)


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
    assert "manifest.json is missing; snakemake makes it again" in project.call("assay", "status")
    assert "\nresults/labels/toy.tiny-a.greedy/" in "\n" + problems(project)
    (folder / "manifest.json").mkdir()
    assert "the manifest cannot be read" in project.call("assay", "status")
    assert "manifest.json: the manifest cannot be read" in problems(project)


def test_a_link_in_an_artifact_is_found(project):
    folder = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    (folder / "extra").symlink_to(project.folder, target_is_directory=True)
    assert "extra: is not in the manifest" in problems(project)


def test_what_sweep_sets_aside_is_told(project):
    """A folder without a manifest may hold the only copy of something."""
    folder = project.folder / "results/labels/mine/0123456789ab"
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("kept")
    old = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    shutil.copytree(old, old.with_name("a" * 12))
    text = project.call("assay", "sweep")
    assert f"moved to the attic: results/labels/toy.tiny-a.greedy/{'a' * 12}\n" in text
    found = re.search(r"no manifest: results/labels/mine/0123456789ab, moved to (\S+)", text)
    assert (project.folder / found[1] / "notes.txt").read_text() == "kept"
    assert text.splitlines()[-1] == "1 artifacts moved to the attic, 1 damaged folders set aside"


def test_a_flipped_bit_in_any_file_of_a_pin_is_found(project):
    """Also where the table is no longer text, or has lost its header."""
    project.call("assay", "pin", "v1")
    code = (
        "from pathlib import Path; from assay.report.pin import verify_pin\n"
        "files = [f for f in sorted(Path('results').rglob('*')) if f.is_file()]\n"
        "files = [f for f in files if f.name not in ('envelope.json', '.gitignore', 'README.md')]\n"
        "missed = []\n"
        "for f in files:\n"
        "    data = f.read_bytes()\n"
        "    spoiled = [bytes(c ^ bit if i == p else c for i, c in enumerate(data))\n"
        "               for p in {0, len(data) // 3, max(0, len(data) - 1)} for bit in (1, 128)] if data else [b'x']\n"
        "    if f.name == 'table.csv': spoiled += [data[:9], data.replace(b'value', b'v'), b'', b'\\r\\r,\\0']\n"
        "    for bad in spoiled:\n"
        "        f.chmod(0o644); f.write_bytes(bad)\n"
        "        if not list(verify_pin(Path.cwd(), 'v1')): missed.append(str(f))\n"
        "    f.write_bytes(data)\n"
        "print(len(files), 'files', missed)\n"
    )
    count, _, missed = project.call(sys.executable, "-c", code).strip().splitlines()[-1].partition(" files ")
    assert int(count) > 30
    assert missed == "[]"


def test_what_gives_way_to_a_sound_artifact_is_kept_and_told(project):
    folder = next(iter((project.folder / "results/labels/toy.tiny-a.greedy").iterdir()))
    right = (folder / "labels.jsonl").read_bytes()
    (folder / "labels.jsonl").write_text("my remarks")
    text = project.call("assay", "make", "labels", "toy.tiny-a.greedy", folder.name)
    aside = project.folder / re.search(r"damaged; it is kept in (\S+)", text)[1]
    assert (aside / "labels.jsonl").read_text() == "my remarks"
    assert (folder / "labels.jsonl").read_bytes() == right


def test_an_empty_name_of_a_pin_is_not_the_plan(project):
    result = project.run("assay", "verify", "--pin", "")
    assert result.code == 3
    assert "pins, key '': there is no pin here; run the command in the project folder" in result.text
    project.call("assay", "pin", "v1")
    result = project.run("assay", "verify", "--pin", "")
    assert result.code == 3
    assert "'' is not known; expected one of v1" in result.text


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs another file system")
def test_results_on_another_disk_are_verified_swept_and_refused_before_anything_is_computed(project):
    elsewhere = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        if elsewhere.stat().st_dev == project.folder.stat().st_dev:
            pytest.skip("needs another file system")
        shutil.move(project.folder / "results", elsewhere / "results")
        (project.folder / "results").symlink_to(elsewhere / "results")
        labels = next(iter((elsewhere / "results/labels/toy.tiny-a.greedy").iterdir()))
        shutil.copytree(labels, labels.with_name("a" * 12))
        assert "1 artifacts moved" in project.call("assay", "sweep")
        assert (project.folder / ".attic/labels/toy.tiny-a.greedy" / ("a" * 12) / "labels.jsonl").is_file()
        assert "0 problems" in problems(project)
        shutil.rmtree(labels)
        make = ("assay", "make", "labels", "toy.tiny-a.greedy", labels.name)
        result = project.run(*make)
        assert result.code == 3
        assert "it is on another disk than" in result.text
        assert "Traceback" not in result.text
        shutil.move(project.folder / ".work", elsewhere / "work")
        (project.folder / ".work").symlink_to(elsewhere / "work")
        project.call(*make)
        assert "0 problems" in problems(project)
    finally:
        shutil.rmtree(elsewhere)


def test_a_folder_that_cannot_be_written_is_verified(project):
    """A release that somebody else owns, or a read-only mount; also without the cache of the code's meaning."""
    shutil.rmtree(project.folder / ".snakemake")
    here = project.folder
    script = (
        f"mount --bind {here} {here} && mount -o remount,ro,bind {here} && cd {here} && assay verify && snakemake -n"
    )
    result = project.run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script)
    if "0 problems" not in result.text and "assay" not in result.text:
        pytest.skip("needs mounts of one's own")
    assert "0 problems" in result.text
    assert "Read-only file system; snakemake must write there" in result.text
    assert "Traceback" not in result.text
    assert result.code == 5
