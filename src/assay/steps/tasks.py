"""Tasks: the samples of a benchmark, published or generated."""

from assay.records.jsonl import read_rows
from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function


def run(context: StepContext) -> None:
    """Write the samples; an empty dataset and repeated ids are errors."""
    run_function(context)
    first = next(iter(read_rows(context.out / "tasks.jsonl", dict)), {})
    require_unique(context, "tasks.jsonl", "task_id" if "task_id" in first else "query_id")
