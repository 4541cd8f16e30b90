"""The tidy table over all benchmarks, its Markdown form for people, and the same numbers for `dvc metrics`."""

from typing import Any

import msgspec

from assay.canonical import canonical_bytes
from assay.records.primary_key import PRIMARY_KEY, refuse_repeated
from assay.records.rows import MetricRow
from assay.records.step import Inputs, Outputs
from assay.records.tables import csv_text
from assay.report.markdown import Section, markdown

COLUMNS = (
    "benchmark", "dataset", "model", "method", "profile", "setting", "metric", "baseline",
    "value", "ci_low", "ci_high", "unit", "n", "n_failed", "determinism", "artifact",
)  # fmt: skip


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table's section of the configs."""

    order: list[str]
    markdown_digits: int
    markdown: dict[str, Section]


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return `table.csv`, `table.md` and `metrics.json` over all inputs with role "metrics".

    One measured number is one row of `table.csv`; floats are written with `repr`, so that they round-trip, and a
    value that is not defined is an empty cell.

    Raises
    ------
    DataError
        If two artifacts measured what has one name.
    """
    settings = msgspec.convert(config, Settings)
    rows = []
    for artifact in inputs.all("metrics"):
        for row in artifact.rows("metrics.jsonl", MetricRow):
            cells = msgspec.to_builtins(row)
            cells["artifact"] = artifact.key[:12]
            cells["determinism"] = row.determinism or artifact.determinism
            rows.append(cells)
    refuse_repeated((tuple(cells[name] for name in PRIMARY_KEY) for cells in rows), "table.csv")
    rows.sort(key=lambda cells: [cells[name] for name in settings.order] + [cells[name] for name in PRIMARY_KEY])
    return {
        "table.csv": csv_text(COLUMNS, ([cells[name] for name in COLUMNS] for cells in rows)).encode(),
        "table.md": markdown(rows, settings.markdown, settings.markdown_digits).encode(),
        "metrics.json": _nested(rows),
    }


def _nested(rows: list[dict[str, Any]]) -> bytes:
    """Nest values as benchmark / dataset / model / name, the form that `dvc metrics diff` compares."""
    nested: dict[str, Any] = {}
    for cells in rows:
        place = nested
        for name in ("benchmark", "dataset", "model"):
            place = place.setdefault(cells[name] or "-", {})
        rest = [cells[n] for n in ("metric", "method", "profile", "setting", "baseline") if cells[n]]
        place[" ".join(rest)] = cells["value"]
    return msgspec.json.format(canonical_bytes(nested), indent=1) + b"\n"
