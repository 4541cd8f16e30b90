"""Every published trajectory and constructed trace, field by field; the same verdicts in any order and process."""

import csv
import json
import lzma
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from assay.errors import DataError
from assay.sopbench import conformance
from assay.sopbench.conformance import ReplaySuite, read_replays, replays, traces
from assay.sopbench.reports import pass_rates

# Published bank files that were scored with map cards; all others with list cards.
MAP_FILES = {
    ("gemini-1.5-pro", "fc", "full"),
    ("gemini-1.5-pro", "fc", "oracle"),
    ("gemini-2.0-flash-001", "fc", "oracle"),
    ("gemini-2.0-flash-thinking-exp", "react", "full"),
    ("qwen2.5-32b-instruct", "react", "oracle"),
}


def replay_files(vectors: Path) -> list[Path]:
    return sorted(vectors.glob("replays_*.jsonl.xz"))


def test_every_replay(vectors: Path) -> None:
    counts = Counter(case.outcome for case in replays(replay_files(vectors), vectors))
    assert counts == {"passed": 10_174}


def test_every_constructed_trace(vectors: Path) -> None:
    """Every strict status, result, exception type and final state, too."""
    files = [vectors / "constructed_traces.jsonl.xz"]
    counts = Counter(case.outcome for case in traces(files, vectors))
    assert counts == {"passed": 6_421}


def test_vectors_of_the_other_kind_do_not_pass(vectors: Path) -> None:
    """Without an evaluation to compare with, a row must not count as passed."""
    assert {case.outcome for case in replays([vectors / "constructed_traces.jsonl.xz"], vectors)} == {"failed"}
    assert {case.outcome for case in traces([vectors / "replays_university.jsonl.xz"], vectors)} == {"failed"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"domain": "zoo"}, "'zoo' is no domain"),
        ({"task_index": 9999}, "there are 44 tasks of university"),
        ({"task_index": -1}, "there are 44 tasks of university"),
        ({"calls": [{"name": "x"}]}, "a call lacks 'arguments'"),
    ],
)
def test_an_odd_row_is_named(vectors: Path, tmp_path: Path, change: dict[str, object], words: str) -> None:
    row = {"id": "r", "domain": "university", "task_index": 0, "dialect": "tuple", "calls": [], "final_db_sha256": ""}
    path = tmp_path / "replays_university.jsonl.xz"
    path.write_bytes(lzma.compress(json.dumps({**row, **change}).encode()))
    (case,) = replays([path], vectors)
    assert case.outcome == "failed"
    shutil.copytree(vectors / "tasks", tmp_path / "tasks")
    shutil.copy(vectors / "pass_rates.csv", tmp_path)
    with pytest.raises(DataError, match=words):
        list(pass_rates(tmp_path))


def test_only_two_bank_rows_are_of_the_other_content_dialect(vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The suite lets a row of the other dialect pass; without that, exactly the two known ones fail."""
    monkeypatch.setattr(
        conformance,
        "_base_differences",
        lambda row, task, cards: list(conformance._base_differences_in(row, task, cards, row.dialect)),
    )
    failed = [case.id for case in replays([vectors / "replays_bank.jsonl.xz"], vectors) if case.outcome == "failed"]
    assert sorted(int(name.split("/")[-2]) for name in failed) == [103, 128]


def test_stored_bank_evaluations_are_of_one_card_dialect_per_file(vectors: Path) -> None:
    """Check (c): five files equal the map dialect, nine the list dialect, one has no stored evaluation."""
    suite = ReplaySuite(vectors)
    agreeing: dict[tuple[str, str, str], dict[str, bool]] = {}
    for row in read_replays(vectors / "replays_bank.jsonl.xz"):
        file = (row.model, row.mode, row.tool_list)
        if row.eval_stored is None:
            continue
        for cards in ("list", "map"):
            verdict = suite.verdict(row, cards)
            same = all(getattr(verdict, name) == value for name, value in row.eval_stored.items())
            found = agreeing.setdefault(file, {"list": True, "map": True})
            found[cards] &= same
    assert len(agreeing) == 14
    assert {file for file, found in agreeing.items() if not found["list"]} <= MAP_FILES
    assert all(found["map" if file in MAP_FILES else "list"] for file, found in agreeing.items())


def test_pass_rates_of_all_files(vectors: Path) -> None:
    """Check (d)."""
    found = list(pass_rates(vectors))
    assert all(rate.agrees for rate in found)
    assert len(found) == 119
    with (vectors / "pass_rates.csv").open() as file:
        listed = {(r["domain"], r["model"], r["mode"], r["tool_list"], r["user"]) for r in csv.DictReader(file)}
    assert {(r.domain, r.model, r.mode, r.tool_list, r.user) for r in found} <= listed
    assert all(rate.remark for rate in found if rate.published not in (None, rate.percent))


SHUFFLED = """
import hashlib, json, random, sys
from pathlib import Path
import msgspec
from assay.sopbench.conformance import ReplaySuite, read_replays
data, seed, part, parts = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
rows = [row for path in sorted(data.glob("replays_[bdu]*.jsonl.xz")) for row in read_replays(path)][::8]
rows = [row for number, row in enumerate(rows) if number % parts == part]
random.Random(seed).shuffle(rows)
suite = ReplaySuite(data)
for row in rows:
    cards = "map" if row.domain == "bank" else "list"
    verdict = suite.verdict(row, cards)
    print(row.id, hashlib.sha256(msgspec.json.encode(verdict)).hexdigest())
"""


def test_order_hash_seed_and_workers_change_nothing(vectors: Path) -> None:
    """Check (e): five hash seeds, each with another order, and two workers that share the rows."""

    def run(seed: int, part: int, parts: int) -> list[str]:
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        command = [sys.executable, "-c", SHUFFLED, str(vectors), str(seed), str(part), str(parts)]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()

    whole = [sorted(run(seed, 0, 1)) for seed in range(5)]
    assert all(found == whole[0] for found in whole)
    assert sorted(run(7, 0, 2) + run(8, 1, 2)) == whole[0]
    assert len(whole[0]) > 450


def test_a_wrong_expectation_fails(vectors: Path, tmp_path: Path) -> None:
    """The suites can fail: a flipped field, a changed result and a changed state are each found."""
    row = next(json_rows(vectors / "replays_dmv.jsonl.xz"))
    changes = [
        {"eval_upstream": {**row["eval_upstream"], "success": not row["eval_upstream"]["success"]}},
        {"calls": [{**row["calls"][0], "content": "something else"}, *row["calls"][1:]]},
        {"final_db_sha256": "0" * 64},
        {"task_index": 10_000},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({**row, **change}) + "\n" for change in changes))
    cases = list(replays([path], vectors))
    assert [case.outcome for case in cases] == ["failed"] * 4
    assert "success" in cases[0].why
    assert "exception" in cases[3].why


def json_rows(path: Path):
    import lzma

    with lzma.open(path, "rt") as file:
        for line in file:
            row = json.loads(line)
            if row["calls"]:
                yield row


def test_a_damaged_file_names_the_row(vectors: Path, tmp_path: Path) -> None:
    from assay.errors import DataError

    path = tmp_path / "cut.jsonl.xz"
    path.write_bytes((vectors / "replays_dmv.jsonl.xz").read_bytes()[:4000])
    with pytest.raises(DataError, match="damaged"):
        list(replays([path], vectors))
    path = tmp_path / "wrong.jsonl"
    path.write_text('{"id": 5}\n')
    with pytest.raises(DataError, match="row 1"):
        list(replays([path], vectors))
