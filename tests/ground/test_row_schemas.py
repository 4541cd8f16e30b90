"""The JSON Schemas that the docs publish are those of the rows."""

import json
from pathlib import Path

import msgspec
import pytest

from assay.records.rows import GenerationRow, MetricRow, PromptRow

KINDS = {"generation-row": GenerationRow, "metric-row": MetricRow, "prompt-row": PromptRow}


def text(kind: type) -> str:
    """Return a schema as its file holds it."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **msgspec.json.schema(kind)}
    return json.dumps(schema, indent=1) + "\n"


def write(folder: Path) -> None:
    """Write the files anew."""
    for name, kind in KINDS.items():
        (folder / f"{name}.json").write_text(text(kind), encoding="utf-8")


@pytest.mark.parametrize("name", KINDS)
def test_published_schemas_are_those_of_the_rows(root, name):
    published = (root / f"docs/schemas/{name}.json").read_text(encoding="utf-8")
    assert published == text(KINDS[name]), "run `python tests/ground/test_row_schemas.py`"


def test_every_schema_of_the_docs_is_of_a_row(root):
    assert {path.stem for path in (root / "docs/schemas").iterdir()} == KINDS.keys()


if __name__ == "__main__":
    write(Path(__file__).resolve().parents[2] / "docs/schemas")
