"""Clusters: which answers say the same thing, one row for every label."""

from assay.records.step import StepContext
from assay.steps.common import require_same_rows, run_function


def run(context: StepContext) -> None:
    """Write the clusters; a missing or left-over row is an error."""
    run_function(context)
    require_same_rows(context, "labels", "labels.jsonl", "clusters.jsonl")
