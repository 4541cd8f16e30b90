"""The faults of the published references, recounted."""

import json

import pytest

from assay.cli.main import main
from assay.symbench.audit import audit_all, completions
from assay.symbench.catalogue import TASKS
from assay.symbench.datasets import load_all
from assay.symbench.references import reference_answer


@pytest.fixture(scope="module")
def findings(shared):
    samples = dict(load_all(shared / "data" / "symbench"))
    return {(finding.task, finding.id): finding for finding in audit_all(samples)}


@pytest.mark.parametrize(
    ("task", "identity", "count", "total"),
    [
        ("pooling", "D1", 100, 200),
        ("new_operator", "D2", 99, 200),
        ("string_synthesis", "D3", 142, 200),
        ("mahjong_pattern", "D4", 17, 200),
        ("letter_logic_diagram", "D5", 84, 200),
        ("string_splitting", "D9", 54, 200),
        ("logic_puzzle", "D11", 27, 200),
        ("constrained_linear_arrangement", "D13", 56, 68),
        ("constrained_linear_arrangement", "D13-one-sided", 0, 200),
        ("reversi", "D26", 200, 200),
        ("reversi", "duplicates", 83, 200),
        ("synthesis_decomposition", "duplicates", 103, 200),
        ("string_synthesis", "duplicates", 138, 200),
        ("eight_queens", "duplicates", 143, 150),
        ("constrained_linear_arrangement", "duplicates", 197, 200),
        ("light_puzzles", "duplicates", 199, 200),
        ("logic_puzzle", "duplicates", 198, 200),
        ("letters", "duplicates", 1167, 1170),
        ("path_plan", "duplicates", 126, 140),
        ("pooling", "upstream", 100, 200),
        ("logic_puzzle", "upstream", 27, 200),
    ],
)
def test_measured_numbers(findings, task, identity, count, total):
    found = findings[task, identity]
    assert (found.count, found.total) == (count, total)
    if identity not in ("duplicates",):
        assert len(found.samples) == count


def test_corrected_accepts_every_reference_that_keeps_the_rules(findings):
    refused = {task: findings[task, "corrected"].count for task in TASKS if findings[task, "corrected"].count}
    assert refused == {"new_operator": 99, "mahjong_pattern": 17, "logic_puzzle": 27}
    assert findings["mahjong_pattern", "corrected"].samples == findings["mahjong_pattern", "D4"].samples
    assert findings["new_operator", "corrected"].samples == findings["new_operator", "D2"].samples
    assert findings["logic_puzzle", "corrected"].samples == findings["logic_puzzle", "D11"].samples


def test_command_prints_counts_and_ids(shared, capsys):
    assert main(["symbench", "audit", "--data", str(shared / "data" / "symbench"), "--task", "mahjong_pattern"]) == 0
    assert "D4" in capsys.readouterr().out
    arguments = ["symbench", "audit", "--data", str(shared / "data" / "symbench")]
    assert main([*arguments, "--task", "constrained_linear_arrangement"]) == 0
    printed = [line.split()[1:5] for line in capsys.readouterr().out.splitlines()]
    # What was counted is told, also where there is nothing.
    assert ["D13", "56", "of", "68"] in printed
    assert ["D13-one-sided", "0", "of", "200"] in printed
    arguments = ["symbench", "audit", "--data", str(shared / "data" / "symbench"), "--task", "pooling", "--json"]
    assert main(arguments) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert next(line for line in lines if line["id"] == "D1")["count"] == 100


def test_a_folder_without_one_task_is_audited_and_says_so(shared, tmp_path, capsys):
    """As of a clone of the authors' repository, which lacks the constants of path_plan."""
    for task in ("reversi", "mahjong_pattern"):
        name = f"{task}.jsonl.gz"
        (tmp_path / name).symlink_to((shared / "data" / "symbench" / name).resolve())
    assert main(["symbench", "audit", "--data", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "D26" in printed.out
    assert printed.err.count("left out") == 35


def test_absent_data_says_how_to_get_it(tmp_path, capsys):
    assert main(["symbench", "audit", "--data", str(tmp_path)]) == 4
    assert "assay data fetch symbench" in capsys.readouterr().err


def test_completions_of_an_empty_and_an_impossible_square():
    empty = [[None] * 7 for _ in range(7)]
    assert next(completions(empty))
    impossible = [["a", "a"] + [None] * 5] + [[None] * 7 for _ in range(6)]
    assert next(completions(impossible), None) is None


def test_tasks_without_a_published_reference(shared):
    samples = dict(load_all(shared / "data" / "symbench"))
    without = {task for task, rows in samples.items() if reference_answer(rows[0]) is None}
    assert without == {"game24", "path_plan", "boxnet", "blocksworld"}
