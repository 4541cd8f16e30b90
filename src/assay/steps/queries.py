"""Queries: the facts and the questions of a knowledge benchmark."""

from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function


def run(context: StepContext) -> None:
    """Write facts and queries; an empty dataset and repeated ids are errors."""
    run_function(context)
    require_unique(context, "queries.jsonl", "query_id")
