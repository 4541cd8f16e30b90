"""An endpoint as a row of a project's table: planned, locked, asked, judged and counted like any other model."""

import csv
import json
import sys
from pathlib import Path

import pytest
from openai_server import serving

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))  # project

from project import Project

EXPERIMENT = """
models: [tiny-a, served]
seeds: [0]
benchmarks:
  toy: {}
  symbench:
    samples: {per_task: 2}
    tasks: [navigate]
    use: [only_question]
    decoding: {max_new_tokens: 8}
"""


@pytest.fixture(scope="module")
def server(tiny_folder):
    with serving(tiny_folder) as server:
        yield server


@pytest.fixture(scope="module")
def project(tmp_path_factory, server):
    folder = tmp_path_factory.mktemp("endpoint")
    project = Project.create(folder / "p", folder / "cache")
    registry = project.folder / "configs/models.yaml"
    source = f"{{kind: endpoint, url: '{server.url}', served_name: tiny}}"
    price = "{input_per_million: 1.0, output_per_million: 2.0}"
    registry.write_text(
        registry.read_text() + f"\n  served:\n    title: Served\n    source: {source}\n    price: {price}\n"
    )
    (project.folder / "configs/experiments/toy.yaml").write_text(EXPERIMENT)
    project.call("assay", "lock", "tiny-a", "served")
    return project


@pytest.mark.long
def test_a_table_has_rows_of_an_endpoint_marked_volatile(project, server):
    project.call("snakemake", "--cores", "2", "results/table.csv")
    with (project.folder / "results/table.csv").open() as file:
        rows = list(csv.DictReader(file))

    def cells(model):
        keys = ("benchmark", "dataset", "method", "profile", "setting", "metric", "baseline", "value", "n", "n_failed")
        chosen = [row for row in rows if row["model"] == model and row["method"] != "sampled"]
        return [tuple(row[key] for key in keys) for row in chosen]

    # The server holds the very model that runs here as tiny-a, so all numbers of greedy answers are the same.
    assert {row["benchmark"] for row in rows if row["model"] == "served"} == {"toy", "symbench"}
    assert cells("served") == cells("tiny-a") != []
    assert {row["determinism"] for row in rows if row["model"] == "served"} == {"volatile"}
    # An artifact that compares models has the weakest class of them; those of one model keep their own.
    assert "isa" in {row["determinism"] for row in rows if row["model"] == "tiny-a"}

    envelopes = [*(project.folder / "results/generations").glob("*served*/*/envelope.json")]
    facts = [json.loads(path.read_text())["facts"]["generation"] for path in envelopes]
    assert facts
    assert all(fact["served"] and fact["cost"]["amount"] > 0 for fact in facts)

    asked = len(server.requests)
    assert project.made("snakemake", "--cores", "2", "results/table.csv") == {}
    assert len(server.requests) == asked
