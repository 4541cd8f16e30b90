"""Tasks: the samples of a benchmark, published or generated."""

from assay.records.jsonl import read_rows
from assay.records.step import StepContext
from assay.steps.common import require_unique, run_function


def run(context: StepContext) -> None:
    """Write the samples; an empty dataset and repeated ids are errors."""
    run_function(context)
    first = next(iter(read_rows(context.out / "tasks.jsonl", dict)), {})
    # A sample of SymBench is named by its task and its id inside the task, as in the published files.
    known = (("task_id",), ("query_id",), ("task", "sample_id"))
    identity = next((fields for fields in known if all(field in first for field in fields)), known[1])
    require_unique(context, "tasks.jsonl", *identity)
