"""The vectors of the scorer, the clusterer and the prompts."""

import json
import unicodedata

import msgspec
import pytest

from assay.cli.main import main
from assay.fks.answer_keys import cluster_key
from assay.fks.conformance import _Competitor as Competitor
from assay.fks.conformance import _question as question_of
from assay.fks.scorer import score


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


@pytest.mark.parametrize(
    "alter",
    [
        lambda text: f"\u200f{text}\u200e",
        lambda text: f"\u2068{text}\u2069",
        lambda text: f"\ufeff{text}",
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: text.replace(" ", "\u3000"),
        lambda text: text.replace(" ", " \u200b"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\u2028"),
        lambda text: text.replace("'", "’"),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: f"{text}  \n\n<|endoftext|>",
    ],
)
def test_vectors_keep_their_label_and_cluster_in_other_spaces_marks_and_quotes(shared, alter):
    for line in (shared / "data/fks/scorer_vectors.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        question = question_of(case["query"], msgspec.convert(case["competitors"], list[Competitor]))
        plain, altered = score(question, case["generation"]), score(question, alter(case["generation"]))
        assert altered.label == plain.label, (case["id"], altered)
        keys = [cluster_key(question, found.label, found.segment, "") for found in (plain, altered)]
        assert keys[0] == keys[1], case["id"]


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
