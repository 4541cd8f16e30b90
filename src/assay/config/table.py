"""Layout of the published table."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from assay.config.files import Strict

Column = Literal["benchmark", "dataset", "model", "method", "profile", "setting", "metric", "baseline"]


class MarkdownSection(Strict):
    """Which rows of a benchmark the Markdown form shows."""

    metrics: list[str] = []
    """These, in this order; empty for all."""
    where: dict[str, list[str]] = {}
    """Setting -> values: rows that have another value of it are left out."""
    prefer: dict[str, list[str]] = {}
    """Setting -> values: of rows that differ in nothing else, the one with the earliest value is shown."""
    without: list[str] = []
    """Settings that break a number down: rows that have one of them are left out."""


class TableConfig(Strict):
    """`configs/table.yaml`: how rows are ordered, and what the Markdown form shows."""

    order: list[Column] = ["benchmark", "dataset", "metric", "setting", "method", "profile", "baseline", "model"]
    """Columns by which the rows of `table.csv` are sorted."""
    markdown_digits: Annotated[int, Field(ge=0, le=17)] = 3
    """Decimals in the Markdown form; the CSV always holds the full value."""
    markdown: dict[str, MarkdownSection] = {}
    """Benchmark -> rows shown in the Markdown form; a benchmark that is not named shows all."""

    @field_validator("order")
    @classmethod
    def _unique(cls, values: list[Column]) -> list[Column]:
        if len(set(values)) != len(values):
            raise ValueError("each column once")
        return values
