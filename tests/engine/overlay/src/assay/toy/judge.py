"""A score for every answer."""

from typing import Any

from assay.toy.helper import score
from assay.toy.rows import Fact, Label

from assay.records.rows import GenerationRow
from assay.records.step import Inputs, Outputs


def judge(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return one label per generation."""
    things = {f.fact_id: f.object for f in inputs.one("queries").rows("facts.jsonl", Fact)}
    rows = inputs.one("generations").rows("generations.jsonl", GenerationRow)

    def label(row: GenerationRow) -> Label:
        value = score(row.text, things[row.query_id.rpartition("-")[0]])
        return Label(row.row_id, row.query_id, value if value >= config["threshold"] else 0)

    return {"labels.jsonl": [label(row) for row in rows]}
