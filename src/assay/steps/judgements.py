"""Judgements: what a judge model said about pairs of answers, with its transcripts."""

from assay.records.step import StepContext
from assay.steps.common import run_function


def run(context: StepContext) -> None:
    """Write the judgements; a run in which nothing had to be judged has no rows."""
    run_function(context)
