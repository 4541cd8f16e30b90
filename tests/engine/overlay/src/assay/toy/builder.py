"""Facts and queries from the config."""

from typing import Any

from assay.toy.rows import Fact, Query

from assay.records.step import Inputs, Outputs


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return the two files; facts are ordered by name, so the order in the config means nothing."""
    facts = sorted((fact["subject"], fact["object"]) for fact in config["facts"])
    return {
        "facts.jsonl": [Fact(subject, thing) for subject, thing in facts],
        "queries.jsonl": [Query(f"{s}-{i}", s) for s, _ in facts for i in range(config["repeats"])],
    }
