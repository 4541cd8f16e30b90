"""Metrics: the tidy rows of the results table, and this benchmark's own tables."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.rows import Determinism, MetricRow, setting_text
from assay.records.step import Inputs, Outputs
from assay.sopbench import tables
from assay.sopbench.rates import Rate, do_nothing, rates
from assay.sopbench.rows import VerdictRow
from assay.sopbench.tables import ALL, Part, interval


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a verdicts artifact is about; the runs of a job stand in the order of its inputs.

    Attributes
    ----------
    agents : list of str or None
        With a scripted job, the agents in it: each is a model of the table of its own. None for a model.
    """

    model: str
    method: str
    profile: str
    setting: dict[str, str]
    agents: list[str] | None = None
    determinism: Determinism = "bytes"


class MetricSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the metrics job."""

    dataset: str = ""
    runs: list[Run] = []


def compute(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Compute the rates of every run, per domain and over all tasks."""
    settings = msgspec.convert(config, MetricSettings)
    artifacts = inputs.all("verdicts")
    if len(artifacts) != len(settings.runs):
        raise DataError(
            f"{len(artifacts)} verdicts artifacts for {len(settings.runs)} runs", expected="one for each run"
        )
    metrics: list[MetricRow] = []
    parts: list[Part] = []
    for run, artifact in zip(settings.runs, artifacts, strict=True):
        rows = list(artifact.rows("verdicts.jsonl", VerdictRow))
        for part in _parts(run, rows):
            metrics.extend(metric_rows(settings.dataset, run, part))
            parts.append(part)
    return {"metrics.jsonl": metrics, **tables.files(parts)}


def _parts(run: Run, rows: Sequence[VerdictRow]) -> Iterator[Part]:
    """Yield the verdicts of each model over all domains, then domain by domain."""
    for model in (run.model,) if run.agents is None else run.agents:
        own = [row for row in rows if run.agents is None or row.agent == model]
        for domain in (ALL, *dict.fromkeys(row.domain for row in own)):
            chosen = [row for row in own if domain in (ALL, row.domain)]
            yield Part(model, run.method, run.profile, setting_text(**run.setting), domain, chosen)


def metric_rows(dataset: str, run: Run, part: Part) -> Iterator[MetricRow]:
    """Yield the tidy rows of one part: over all domains every headline, of one domain the pass rate.

    The pass rate of an agent that does nothing stands beside each.
    """
    found = rates(part.rows)
    shown = found if part.domain == ALL else {"pass_rate": found["pass_rate"]}
    for metric, value in shown.items():
        yield _row(dataset, run, part, metric, value)
    yield _row(dataset, run, part, "pass_rate", do_nothing(part.rows), baseline="do-nothing")


def _row(dataset: str, run: Run, part: Part, metric: str, found: Rate, baseline: str = "") -> MetricRow:
    low, high = interval(metric, found)
    return MetricRow(
        benchmark="sopbench",
        dataset=dataset,
        model=part.model,
        method=run.method,
        profile=run.profile,
        setting=setting_text(**run.setting, domain=part.domain),
        metric=metric,
        baseline=baseline,
        value=found.value,
        ci_low=low,
        ci_high=high,
        n=found.n,
        n_failed=found.n_failed,
        determinism=run.determinism,
    )
