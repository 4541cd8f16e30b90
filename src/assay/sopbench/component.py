"""The protocol component as a job: the fixture counts of the published seeds, as one file."""

from typing import Any

import msgspec

from assay.canonical import canonical_bytes
from assay.records.step import Inputs, Outputs
from assay.sopbench.diagnostic import LABEL, SEEDS, Diagnostic, diagnostic

FILE = "component-cpu-seeds42-44.json"


def compute(_config: dict[str, Any], _inputs: Inputs) -> Outputs:
    """Run the diagnostic for every seed. It is no score, so that it adds no row to the table."""
    return {"metrics.jsonl": [], FILE: document([diagnostic(seed) for seed in SEEDS])}


def document(results: list[Diagnostic]) -> bytes:
    """Return the published document: label, then the counts of each seed; the same bytes everywhere."""
    value = {
        "component": "sopbench-protocol",
        "label": LABEL,
        "sound": all(result.sound for result in results),
        "seeds": msgspec.to_builtins(results),
    }
    return msgspec.json.format(canonical_bytes(value), indent=2) + b"\n"
