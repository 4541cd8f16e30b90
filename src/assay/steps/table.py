"""Table: what is published, made from metrics artifacts."""

from assay.records.step import StepContext
from assay.steps.common import run_function


def run(context: StepContext) -> None:
    """Write the tables."""
    run_function(context)
