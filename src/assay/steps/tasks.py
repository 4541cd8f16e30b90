"""Tasks: the samples of a benchmark, published or generated."""

from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function


def run(context: StepContext) -> None:
    """Write the samples; an empty dataset and repeated ids are errors."""
    run_function(context)
    require_unique(context, "tasks.jsonl", "query_id")
