"""Layout of the published table."""

from typing import Literal

from assay.config.files import Strict

Column = Literal["benchmark", "dataset", "model", "method", "profile", "setting", "metric", "baseline"]


class TableConfig(Strict):
    """`configs/table.yaml`: how rows are ordered, and what the wide Markdown form shows."""

    order: list[Column] = ["benchmark", "dataset", "metric", "setting", "method", "profile", "baseline", "model"]
    """Columns by which the rows of `table.csv` are sorted."""
    markdown_digits: int = 3
    """Decimals in the Markdown form; the CSV always holds the full value."""
    markdown_metrics: dict[str, list[str]] = {}
    """Benchmark -> metrics shown in the Markdown form; a benchmark that is not named shows all."""
