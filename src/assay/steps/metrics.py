"""Metrics: measured numbers as rows of the tidy table, and files of the benchmark's own beside them."""

from assay.records.jsonl import read_rows
from assay.records.primary_key import PRIMARY_KEY, refuse_repeated
from assay.records.rows import MetricRow
from assay.records.step import StepContext
from assay.steps.common import run_function


def run(context: StepContext) -> None:
    """Write the metrics; two rows with one primary key are an error."""
    run_function(context)
    rows = read_rows(context.out / "metrics.jsonl", MetricRow)
    refuse_repeated((tuple(getattr(row, name) for name in PRIMARY_KEY) for row in rows), "metrics.jsonl")
