"""One number per model and method."""

from typing import Any

import numpy as np
from assay.toy.rows import Label

from assay.records.rows import MetricRow
from assay.records.step import Inputs, Outputs


def measure(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Return the weighted mean score."""
    scores = np.array([row.score for row in inputs.one("labels").rows("labels.jsonl", Label)])
    names = {k: config[k] for k in ("model", "method")}
    row = MetricRow(
        benchmark="toy", dataset="toy", profile="", setting="", metric="score", unit="points",
        value=float(scores.mean() * config["weight"]), n=len(scores), **names,
    )  # fmt: skip
    return {"metrics.jsonl": [row]}
