"""Metrics: the tidy rows of the table, and the published pass rates."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.rows import Determinism, MetricRow, setting_text
from assay.records.step import Inputs, Outputs
from assay.sopbench.rates import Rate, by_constraints, do_nothing, rates
from assay.sopbench.rows import VerdictRow
from assay.stats.intervals import wilson

COLUMNS = (
    "model",
    "method",
    "profile",
    "setting",
    "domain",
    "n",
    "n_failed",
    "pass_rate",
    "ci_low",
    "ci_high",
    "do_nothing",
    "should_succeed",
    "should_refuse",
    "solvable",
    "lenient",
    "refusal_justified",
)
ALL = "all"


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a verdicts artifact is about; the runs of a job stand in the order of its inputs.

    Attributes
    ----------
    agents : list of str or None
        With a scripted job, the agents in it: each is a model of the table of its own. None for a model.
    n : int or None
        Number of conversations that the job was planned to hold, if that is known.
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
        raise DataError(f"{len(artifacts)} verdicts artifacts for {len(settings.runs)} runs")
    metrics: list[MetricRow] = []
    table: list[list[object]] = []
    for run, artifact in zip(settings.runs, artifacts, strict=True):
        rows = list(artifact.rows("verdicts.jsonl", VerdictRow))
        for model, members in _by_model(run, rows):
            for domain, part in _by_domain(members):
                metrics.extend(metric_rows(settings.dataset, run, model, domain, part))
                table.append(table_row(run, model, domain, part))
    return {"metrics.jsonl": metrics, "pass_rates.csv": csv_bytes(table)}


def _by_model(run: Run, rows: Sequence[VerdictRow]) -> Iterator[tuple[str, list[VerdictRow]]]:
    if run.agents is None:
        yield run.model, list(rows)
        return
    for agent in run.agents:
        yield agent, [row for row in rows if row.agent == agent]


def _by_domain(rows: Sequence[VerdictRow]) -> Iterator[tuple[str, list[VerdictRow]]]:
    yield ALL, list(rows)
    for domain in dict.fromkeys(row.domain for row in rows):
        yield domain, [row for row in rows if row.domain == domain]


def metric_rows(dataset: str, run: Run, model: str, domain: str, rows: Sequence[VerdictRow]) -> Iterator[MetricRow]:
    """Yield the tidy rows of one run, model and domain."""
    setting = {**run.setting, "domain": domain}
    for metric, found in rates(rows).items():
        yield _row(dataset, run, model, setting, metric, found)
    yield _row(dataset, run, model, setting, "pass_rate", do_nothing(rows), baseline="do-nothing")
    if domain == ALL:
        for group, found in by_constraints(rows).items():
            yield _row(dataset, run, model, {**setting, "constraints": group}, "pass_rate", found)


def _row(
    dataset: str, run: Run, model: str, setting: dict[str, str], metric: str, found: Rate, baseline: str = ""
) -> MetricRow:
    # An estimate over several attempts is no count of tasks, so that no binomial interval belongs to it.
    counted = found.value is not None and not metric.startswith("pass@") and not metric.startswith("pass^")
    interval = wilson(found.passed, found.n) if counted else None
    return MetricRow(
        benchmark="sopbench",
        dataset=dataset,
        model=model,
        method=run.method,
        profile=run.profile,
        setting=setting_text(**setting),
        metric=metric,
        baseline=baseline,
        value=found.value,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        n=found.n,
        n_failed=found.n_failed,
        determinism=run.determinism,
    )


def table_row(run: Run, model: str, domain: str, rows: Sequence[VerdictRow]) -> list[object]:
    """Return one line of pass_rates.csv."""
    found = rates(rows)
    whole = found["pass_rate"]
    interval = wilson(whole.passed, whole.n) if whole.value is not None else None
    return [
        model,
        run.method,
        run.profile,
        setting_text(**run.setting),
        domain,
        whole.n,
        whole.n_failed,
        whole.value,
        interval.low if interval else None,
        interval.high if interval else None,
        do_nothing(rows).value,
        found["pass_rate_should_succeed"].value,
        found["pass_rate_should_refuse"].value,
        found["pass_rate_solvable"].value,
        found["pass_rate_lenient"].value,
        found["refusal_justified_rate"].value,
    ]


def csv_bytes(rows: Sequence[Sequence[object]]) -> bytes:
    """Return pass_rates.csv: a header, then one line per run, model and domain; shares are fractions."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([["" if value is None else value for value in row] for row in rows])
    return text.getvalue().encode()
