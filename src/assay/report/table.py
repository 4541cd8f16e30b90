"""The tidy table over all benchmarks, its wide Markdown form, and the same numbers for `dvc metrics`."""

import csv
import io
from typing import Any

import msgspec

from assay.canonical import canonical_bytes
from assay.records.rows import MetricRow
from assay.records.step import Inputs, Outputs

COLUMNS = (
    "benchmark", "dataset", "model", "method", "profile", "setting", "metric", "baseline",
    "value", "ci_low", "ci_high", "unit", "n", "n_failed", "determinism", "artifact",
)  # fmt: skip
_STRENGTH = ("bytes", "isa", "volatile")


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table's section of the configs."""

    order: list[str]
    markdown_digits: int
    markdown_metrics: dict[str, list[str]]


def build(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return `table.csv`, `table.md` and `metrics.json` over all inputs with role "metrics".

    One measured number is one row of `table.csv`; floats are written with `repr`, so that they round-trip, and a
    value that is not defined is an empty cell.
    """
    settings = msgspec.convert(config, Settings)
    rows = []
    for artifact in inputs.all("metrics"):
        for row in artifact.rows("metrics.jsonl", MetricRow):
            cells = msgspec.to_builtins(row)
            cells["artifact"] = artifact.key[:12]
            # A number is as reproducible as the weakest thing that it was made from.
            cells["determinism"] = max(row.determinism, artifact.determinism, key=_STRENGTH.index)
            rows.append(cells)
    rows.sort(key=lambda cells: [cells[name] for name in settings.order] + [cells[name] for name in COLUMNS[:8]])
    return {
        "table.csv": _csv(rows),
        "table.md": _markdown(rows, settings).encode(),
        "metrics.json": _nested(rows),
    }


def _cell(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def _csv(rows: list[dict[str, Any]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(cells[name]) for name in COLUMNS] for cells in rows)
    return text.getvalue().encode()


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


def _markdown(rows: list[dict[str, Any]], settings: Settings) -> str:
    """One line per benchmark, dataset, method, profile, setting and metric; one column per model or baseline."""
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    names: list[str] = []
    for cells in rows:
        shown = settings.markdown_metrics.get(cells["benchmark"])
        if shown is not None and cells["metric"] not in shown:
            continue
        column = cells["model"] or cells["baseline"]
        if cells["model"] and cells["baseline"]:
            column = f"{cells['baseline']} ({cells['model']})"
        if column not in names:
            names.append(column)
        place = tuple(cells[n] for n in ("benchmark", "dataset", "metric", "method", "profile", "setting"))
        lines.setdefault(place, {})[column] = _number(cells, settings.markdown_digits)
    head = ["benchmark", "dataset", "metric", "method", "profile", "setting", *names]
    text = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    text += ["| " + " | ".join([*place, *(values.get(n, "") for n in names)]) + " |" for place, values in lines.items()]
    return "\n".join(text) + "\n"


def _number(cells: dict[str, Any], digits: int) -> str:
    if cells["value"] is None:
        return "–"
    text = f"{cells['value']:.{digits}f}"
    if cells["ci_low"] is not None and cells["ci_high"] is not None:
        text += f" [{cells['ci_low']:.{digits}f}, {cells['ci_high']:.{digits}f}]"
    return text + (f" ({cells['n_failed']} of {cells['n']} failed)" if cells["n_failed"] else "")
