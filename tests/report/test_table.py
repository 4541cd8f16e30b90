"""The tidy table: one row per number, in a fixed order, each as reproducible as what it was made from."""

import csv
import io

import pytest

from assay.errors import DataError
from assay.records.jsonl import write_rows
from assay.records.rows import MetricRow
from assay.records.step import Input, Inputs
from assay.report.table import COLUMNS, build

SETTINGS = {"order": ["metric", "model"], "markdown_digits": 2, "markdown": {}}


def number(model: str, value: float | None, **more) -> MetricRow:
    base = {"benchmark": "b", "dataset": "d", "method": "", "profile": "", "setting": "", "metric": "m", "n": 1}
    return MetricRow(model=model, value=value, **base | more)


def artifact(folder, key: str, determinism: str, rows: list[MetricRow]) -> Input:
    folder.mkdir()
    write_rows(folder / "metrics.jsonl", rows)
    return Input("metrics", "metrics", folder.name, key, folder, determinism)


def table(*artifacts: Input) -> list[dict[str, str]]:
    made = build(SETTINGS, Inputs(artifacts))
    text = made["table.csv"]
    assert text.decode().splitlines()[0] == ",".join(COLUMNS)
    return list(csv.DictReader(io.StringIO(text.decode())))


def test_a_number_is_as_reproducible_as_its_artifact_unless_it_says_what_it_alone_was_made_from(tmp_path):
    own = number("local", 0.5, determinism="isa"), number("server", 0.5, determinism="volatile"), number("x", 0.5)
    rows = table(artifact(tmp_path / "a", "k" * 64, "volatile", list(own)))
    assert {row["model"]: row["determinism"] for row in rows} == {"local": "isa", "server": "volatile", "x": "volatile"}


def test_rows_have_a_fixed_order_and_floats_round_trip(tmp_path):
    first = artifact(tmp_path / "a", "a" * 64, "isa", [number("b", 0.1 + 0.2), number("a", None)])
    second = artifact(tmp_path / "b", "b" * 64, "isa", [number("c", 1.0)])
    rows = table(second, first)
    assert rows == table(first, second)
    assert [(row["model"], row["value"]) for row in rows] == [("a", ""), ("b", "0.30000000000000004"), ("c", "1.0")]
    assert [row["artifact"] for row in rows] == ["a" * 12, "a" * 12, "b" * 12]


def test_two_artifacts_that_measured_what_has_one_name_are_refused(tmp_path):
    first = artifact(tmp_path / "a", "a" * 64, "isa", [number("m", 0.25)])
    second = artifact(tmp_path / "b", "b" * 64, "isa", [number("m", 0.75)])
    with pytest.raises(DataError, match="1 names stand for more than one number"):
        table(first, second)
