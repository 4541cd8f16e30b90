"""Prompts from queries."""

from typing import Any

from assay.toy.rows import Query

from assay.records.rows import PromptRow
from assay.records.step import Inputs, Outputs


def render(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return one raw prompt per query."""
    queries = inputs.one("queries").rows("queries.jsonl", Query)
    rows = [PromptRow.of_text(q.query_id, config["template"].replace("{subject}", q.subject)) for q in queries]
    return {"prompts.jsonl": rows}
