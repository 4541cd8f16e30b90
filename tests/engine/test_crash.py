"""kill -9 in the middle, and the same command again."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time

import psutil
import pytest
from project import TABLE, Project, copy

MANY = 300
# With $DRILL a process that has stored two batches stops in the middle of the third: written, and not committed.
STORED = "            added = connection.total_changes - before\n"
STOPS = (
    '            if os.environ.get("DRILL") and connection.execute("SELECT count(*) FROM rows").fetchone()[0] >= 40:\n'
    "                os.read(os.pipe()[0], 1)\n"
)


def many(project: Project) -> None:
    facts = "".join(f"  - {{subject: beast{i}, object: six}}\n" for i in range(MANY))
    project.edit("configs/toy.yaml", "  - {subject: hen", facts + "  - {subject: hen")
    project.edit("configs/toy.yaml", "greedy, max_new_tokens: 5", "greedy, max_new_tokens: 40")
    project.edit("configs/toy.yaml", "temperature: 0.9, max_new_tokens: 5", "temperature: 0.9, max_new_tokens: 40")
    project.edit("src/assay/model/store.py", STORED, STORED + STOPS)


def stored(project: Project) -> int:
    """Return how many generations the row store holds."""
    total = 0
    for path in (project.folder / ".assay").glob("**/*.sqlite"):
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=60)) as base:
            if base.execute("select 1 from sqlite_master where name = 'rows'").fetchone():
                total += base.execute("select count(*) from rows where kind = 'generations'").fetchone()[0]
    return total


def kill_in_generation(project: Project) -> int:
    """Start the table, kill the whole process group while rows are being stored; return how many were."""
    process = subprocess.Popen(
        TABLE, cwd=project.folder, env=project.environment | {"DRILL": "1"}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 600
        while stored(project) < 20:
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    while any(alive(found, process.pid) for found in psutil.process_iter()):
        time.sleep(0.05)
    return stored(project)


def alive(process: psutil.Process, group: int) -> bool:
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (ProcessLookupError, psutil.NoSuchProcess):
        return False


def test_the_same_command_again_continues_and_gives_the_same_bytes(fresh, tmp_path):
    project, undisturbed = copy(fresh, tmp_path / "p"), copy(fresh, tmp_path / "u")
    many(project)
    many(undisturbed)
    before = kill_in_generation(project)
    assert 0 < before < MANY
    assert list((project.folder / ".snakemake/locks").iterdir()), "the engine left no lock: the test shows nothing"
    assert list((project.folder / ".work").glob("generations.*")), "no artifact was in the making"
    project.call(*TABLE)
    assert not list((project.folder / ".work").glob("*.*"))
    generated = 0
    for path in (project.folder / "results/generations").glob("*/*/envelope.json"):
        generated += json.loads(path.read_bytes())["facts"]["generation"]["made"]
    assert generated == 3 * (MANY + 4) - before
    undisturbed.call(*TABLE)
    assert project.artifacts() == undisturbed.artifacts()
    assert "0 problems" in project.call("assay", "verify")


def test_nothing_half_finished_has_a_final_name(fresh, tmp_path):
    project = copy(fresh, tmp_path / "p")
    many(project)
    kill_in_generation(project)
    for folder in (project.folder / "results").glob("*/*/*"):
        if folder.is_dir() and any(folder.iterdir()):
            assert (folder / "manifest.json").is_file(), folder
    assert not list((project.folder / "results/generations").glob("*/*/*"))


@pytest.mark.long
def test_two_folders_two_hash_seeds_and_core_counts_give_the_same_bytes(fresh, tmp_path):
    found = []
    for seed, cores in (("0", "1"), ("12345", "4")):
        project = copy(fresh, tmp_path / f"folder{seed}" / "deeper" / "p" if seed != "0" else tmp_path / "p")
        project.call("snakemake", "--cores", cores, "results/table.csv", PYTHONHASHSEED=seed)
        found.append(project.artifacts())
    assert found[0] == found[1]
    assert len(found[0]) > 30
