"""Prompts: exactly what is asked, one row per question; every backend sees the same text."""

from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function


def run(context: StepContext) -> None:
    """Write the prompts; repeated ids are errors. A judge may have nothing to ask, so no rows are allowed."""
    run_function(context)
    require_unique(context, "prompts.jsonl", "query_id", at_least=0)
