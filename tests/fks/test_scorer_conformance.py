"""The vectors of the scorer, the clusterer and the prompts."""

import json

import pytest

from assay.cli.main import main


@pytest.mark.parametrize(
    ("suite", "file", "cases"),
    [
        ("fks-scorer", "scorer_vectors.jsonl", 321),
        ("fks-clusters", "cluster_cases.jsonl", 8),
        ("fks-prompts", "prompt_cases.jsonl", 27),
    ],
)
def test_vectors(shared, capsys, suite, file, cases):
    assert main(["conformance", suite, str(shared / "data/fks" / file)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"{cases} passed, 0 failed, 0 skipped"


def test_a_wrong_expectation_fails(tmp_path, capsys):
    case = {
        "id": "one",
        "query": {
            "language": "en", "query": "Capital?", "gold_canonical": "Oslo", "gold_aliases": [],
            "answer_type": "entity", "answer_granularity": "exact", "variant_id": "a", "condition_family": "anchor",
            "target_slot": "object",
        },
        "competitors": [{"key": "rome", "surfaces": ["Rome"]}],
    }  # fmt: skip
    for suite, fields, got in (
        ("fks-scorer", {"generation": "Rome", "expected_label": "correct", "why": "no"}, "got incorrect"),
        ("fks-clusters", {"generations": ["Rome", "Oslo"], "expected_partition": [[0, 1]]}, "got [[0], [1]]"),
    ):
        path = tmp_path / f"{suite}.jsonl"
        path.write_text(json.dumps(case | fields) + "\n")
        assert main(["conformance", suite, str(path)]) == 1
        assert got in capsys.readouterr().out


def test_an_exception_is_a_failed_case(tmp_path, capsys):
    path = tmp_path / "cases.jsonl"
    path.write_text(
        json.dumps({"id": "bad", "query": {}, "competitors": [], "generation": "x", "expected_label": "correct"}) + "\n"
    )
    assert main(["conformance", "fks-scorer", str(path)]) == 1
    assert "0 passed, 1 failed" in capsys.readouterr().out
