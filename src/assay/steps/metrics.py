"""Metrics: measured numbers as rows of the tidy table, and files of the benchmark's own beside them."""

from collections import Counter

from assay.errors import DataError
from assay.records.jsonl import read_rows
from assay.records.rows import MetricRow
from assay.records.step import StepContext
from assay.steps.common import run_function

PRIMARY_KEY = ("benchmark", "dataset", "model", "method", "profile", "setting", "metric", "baseline")


def run(context: StepContext) -> None:
    """Write the metrics; two rows with one primary key are an error."""
    run_function(context)
    rows = read_rows(context.out / "metrics.jsonl", MetricRow)
    seen = Counter(tuple(getattr(row, name) for name in PRIMARY_KEY) for row in rows)
    repeated = [key for key, count in seen.items() if count > 1]
    if repeated:
        raise DataError(
            f"{len(repeated)} numbers have one name, first {repeated[0]}",
            file="metrics.jsonl",
            expected="a primary key",
        )
