"""Verdicts: one judged row for every rollout, in the order of the rollouts."""

from assay.records.step import StepContext
from assay.steps.common import require_same_rows, run_function


def run(context: StepContext) -> None:
    """Write the verdicts; a missing or left-over row is an error."""
    run_function(context)
    require_same_rows(context, "rollouts", "rollouts.jsonl", "verdicts.jsonl")
