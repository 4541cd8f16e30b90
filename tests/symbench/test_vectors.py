"""Upstream's recorded verdicts: responses without code in every run, executed ones in the long drill."""

import msgspec
import pytest

from assay.cli.main import main
from assay.records.jsonl import write_rows
from assay.symbench.conformance import Vector, _case, verdicts
from assay.symbench.datasets import load_published
from assay.symbench.executing import request
from assay.symbench.execution_rows import ExecutionRow
from assay.symbench.rowfiles import read_compressed_rows


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "data" / "symbench"


def test_responses_without_code(folder):
    samples = {}
    compared = 0
    for number, vector in enumerate(read_compressed_rows(folder / "vectors.jsonl.gz", Vector), 1):
        if request(vector.task, vector.response_text) is not None:
            continue
        if vector.task not in samples:
            samples[vector.task] = {row.sample_id: row for row in load_published(folder, vector.task)}
        sample = samples[vector.task][vector.sample_id]
        case = _case(str(number), vector, sample, ExecutionRow(row_id="", query_id=""))
        assert case.outcome == "passed", case
        compared += 1
    assert compared > 1200
    assert len(samples) == 37


def test_a_changed_verdict_fails(folder):
    vector = next(iter(read_compressed_rows(folder / "vectors.jsonl.gz", Vector)))
    sample = next(row for row in load_published(folder, vector.task) if row.sample_id == vector.sample_id)
    flipped = msgspec.structs.replace(vector, upstream_verdict=not vector.upstream_verdict)
    assert _case("x", flipped, sample, ExecutionRow(row_id="", query_id="")).outcome == "failed"


def test_a_sandbox_fault_fails_the_case(folder):
    vector = next(iter(read_compressed_rows(folder / "vectors.jsonl.gz", Vector)))
    sample = next(row for row in load_published(folder, vector.task) if row.sample_id == vector.sample_id)
    assert _case("x", vector, sample, "the code was not executed: no sandbox").outcome == "failed"


def test_a_vector_without_its_sample_is_a_failed_case(folder, tmp_path):
    known = next(iter(read_compressed_rows(folder / "vectors.jsonl.gz", Vector)))
    write_rows(tmp_path / "v.jsonl", [known, msgspec.structs.replace(known, task="chess")])
    cases = list(verdicts([tmp_path / "v.jsonl"], tmp_path, 4))
    assert [case.outcome for case in cases] == ["failed", "failed"]
    assert "assay data fetch symbench" in cases[0].why


@pytest.mark.long
def test_all_vectors(folder):
    cases = list(verdicts([folder / "vectors.jsonl.gz"], folder, 4))
    assert [case for case in cases if case.outcome != "passed"] == []
    assert len(cases) == 1785


def test_the_readme_example(root, capsys):
    """A few vectors of our own, with samples of our own, through the command."""
    assert main(["conformance", "symbench", str(root / "tests/data/symbench/vectors.jsonl"), "--limit", "1"]) == 0
    assert capsys.readouterr().out.endswith("15 passed, 0 failed, 0 skipped\n")
