"""The `metrics` job: success rates with their counts, average normalised scores, and the published tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from assay.errors import DataError
from assay.records.rows import Determinism, MetricRow, setting_text
from assay.records.step import Input, Inputs, Outputs
from assay.stats.intervals import wilson
from assay.symbench.avenorm import Missing, published_rates
from assay.symbench.comparison import Bootstrap, Member, Score, compare
from assay.symbench.counting import Counts, counted, level_names, samples_digest, verdict_of
from assay.symbench.label_rows import LabelRow
from assay.symbench.metric_tables import AVENORM, RATES, AvenormLine, RateLine, table
from assay.symbench.rows import TaskRow

Mode = tuple[Literal["upstream", "corrected"], Literal["echo", "normalized", "marker"]]
# Share of the evaluated responses, whatever their task.
_SHARES = ("unreadable", "crash", "failed", "timeouts", "truncated")


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a labels artifact is about; the runs of a job stand in the order of its inputs."""

    model: str
    method: str
    seed: int
    determinism: Determinism = "bytes"


class MetricSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of the job.

    Attributes
    ----------
    setting : dict
        What tells all rows of this experiment from those of another, for the column `setting`.
    headline : Mode
        The mode whose averages lead the published table.
    comparison : str
        "methods": the methods of each model are compared; "models": all models under each method; or both.
    published_columns : bool
        Whether the printed rates are columns of every comparison.
    """

    dataset: str = ""
    setting: dict[str, str] = {}
    runs: list[Run] = []
    tasks: list[str] = []
    modes: list[Mode] = []
    headline: Mode = ("upstream", "normalized")
    comparison: Literal["methods", "models", "both"] = "both"
    published_columns: bool = False
    missing: Missing = "refuse"
    bootstrap: Bootstrap = Bootstrap()


class Measured(msgspec.Struct, frozen=True):
    """A run with its labels by task."""

    run: Run
    labels: dict[str, list[LabelRow]]


def compute(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Measure all runs of an experiment.

    Inputs: `labels`, one for each run, and `tasks`. Without runs the tables are headers.

    Raises
    ------
    DataError
        If labels are missing or left over, or methods of one comparison were asked different samples.
    """
    settings = msgspec.convert(config, MetricSettings)
    artifacts = inputs.all("labels")
    if len(artifacts) != len(settings.runs):
        raise DataError(f"{len(artifacts)} labels artifacts for {len(settings.runs)} runs")
    samples = _samples(inputs) if settings.runs else {}
    measured = [_measured(run, part, samples) for run, part in zip(settings.runs, artifacts, strict=True)]
    rates = [line for mode in _modes(settings) for one in measured for line in _rate_lines(one, mode, samples)]
    averages = [line for mode in _modes(settings) for line in _avenorm_lines(settings, measured, mode)]
    return {
        "metrics.jsonl": [*_rate_rows(settings, rates), *_avenorm_rows(settings, averages)],
        "success_rates.csv": table(RATES, rates),
        "avenorm.csv": table(AVENORM, averages),
    }


def _modes(settings: MetricSettings) -> list[Mode]:
    return [settings.headline, *(mode for mode in settings.modes if mode != settings.headline)]


def _samples(inputs: Inputs) -> dict[str, dict[str, TaskRow]]:
    found: dict[str, dict[str, TaskRow]] = {}
    for sample in inputs.one("tasks").rows("tasks.jsonl", TaskRow):
        found.setdefault(sample.task, {})[sample.query_id] = sample
    return found


def _measured(run: Run, artifact: Input, samples: Mapping[str, Mapping[str, TaskRow]]) -> Measured:
    """Read the labels of a run; every sample of a task that it has must be there, and no other."""
    labels: dict[str, list[LabelRow]] = {}
    for row in artifact.rows("labels.jsonl", LabelRow):
        labels.setdefault(row.task, []).append(row)
    for task, rows in labels.items():
        wanted, got = list(samples.get(task, ())), list(dict.fromkeys(row.query_id for row in rows))
        if wanted != got:
            lost = [query for query in wanted if query not in got] or [query for query in got if query not in wanted]
            raise DataError(
                f"{artifact.item} does not judge the {len(wanted)} samples of {task}, but {len(got)}",
                row=lost[0] if lost else got[0],
                expected="one label for each sample, in order",
            )
        sources = sorted({row.question_source for row in rows})
        if len(sources) > 1:
            raise DataError(f"questions of {task} come from {' and '.join(sources)}", expected="one source a task")
    return Measured(run, labels)


def _rate_lines(one: Measured, mode: Mode, samples: Mapping[str, Mapping[str, TaskRow]]) -> Iterator[RateLine]:
    for task, rows in one.labels.items():
        yield RateLine(one.run.model, one.run.method, *mode, one.run.seed, task, "", counted(rows, *mode))
        levels = level_names({query: sample.complexity for query, sample in samples[task].items()})
        for level in dict.fromkeys(levels.values()):
            part = [row for row in rows if levels[row.query_id] == level]
            yield RateLine(one.run.model, one.run.method, *mode, one.run.seed, task, level, counted(part, *mode))


def _avenorm_lines(settings: MetricSettings, measured: Sequence[Measured], mode: Mode) -> Iterator[AvenormLine]:
    external = None
    if settings.published_columns:
        external = {
            name: {task: percent / 100 for task, percent in column.items()}
            for name, column in published_rates().items()
        }
    for comparison in ("methods", "models") if settings.comparison == "both" else (settings.comparison,):
        groups: dict[tuple[str, int], list[Measured]] = {}
        for one in measured:
            of = one.run.model if comparison == "methods" else one.run.method
            groups.setdefault((of, one.run.seed), []).append(one)
        for (of, seed), group in groups.items():
            if len(group) == 1 and not external:
                continue  # alone, everything is best
            names = [one.run.method if comparison == "methods" else one.run.model for one in group]
            members = [_member(name, one, mode) for name, one in zip(names, group, strict=True)]
            for score in compare(members, settings.tasks, settings.bootstrap, settings.missing, external):
                own = None if score.external else group[names.index(score.name)]
                yield _avenorm_line(settings, own, mode, comparison, of, seed, score, len(group))


def _member(name: str, one: Measured, mode: Mode) -> Member:
    solved = {task: tuple(verdict_of(row, *mode).correct for row in rows) for task, rows in one.labels.items()}
    return Member(name, solved, {task: samples_digest(rows) for task, rows in one.labels.items()})


def _avenorm_line(
    settings: MetricSettings,
    own: Measured | None,
    mode: Mode,
    comparison: Literal["methods", "models"],
    of: str,
    seed: int,
    score: Score,
    size: int,
) -> AvenormLine:
    rows = [] if own is None else [row for task in score.tasks for row in own.labels.get(task, [])]
    name = of if comparison == "methods" else score.name
    return AvenormLine(
        model="" if own is None else (name if comparison == "methods" else score.name),
        method=score.name if own is None or comparison == "methods" else of,
        profile=mode[0],
        extraction=mode[1],
        seed=seed,
        comparison=comparison,
        of=of,
        columns=size,
        external_columns=len(published_rates()) if settings.published_columns else 0,
        source="printed" if own is None else "measured",
        split=score.split,
        score=score,
        counts=counted(rows, *mode),
    )


def _rate_rows(settings: MetricSettings, lines: Sequence[RateLine]) -> Iterator[MetricRow]:
    overall: dict[tuple[str, str, str, str, int], list[RateLine]] = {}
    for line in lines:
        setting = {"extraction": line.extraction, "seed": line.seed, "task": line.task}
        if line.level:
            setting["level"] = line.level
        else:
            overall.setdefault((line.model, line.method, line.profile, line.extraction, line.seed), []).append(line)
        interval = wilson(line.counts.right, line.counts.n)
        yield _row(
            settings, line, setting, "success_rate", float(line.counts.rate), line.counts, interval.low, interval.high
        )
    for tasks in overall.values():
        first = tasks[0]
        setting = {"extraction": first.extraction, "seed": first.seed, "tasks": len(tasks)}
        total = _sum([line.counts for line in tasks])
        # Tasks weigh the same, however many samples they have.
        mean = float(sum(line.counts.rate for line in tasks) / len(tasks))
        yield _row(settings, first, setting, "mean_success_rate", mean, total)
        for name in _SHARES:
            interval = wilson(getattr(total, name), total.n)
            share = getattr(total, name) / total.n
            yield _row(settings, first, setting, f"{name}_rate", share, total, interval.low, interval.high)


def _sum(parts: Sequence[Counts]) -> Counts:
    return Counts(**{name: sum(getattr(part, name) for part in parts) for name in Counts.__struct_fields__})


def _row(
    settings: MetricSettings,
    line: RateLine | AvenormLine,
    setting: Mapping[str, object],
    metric: str,
    value: float,
    counts: Counts,
    low: float | None = None,
    high: float | None = None,
    unit: str = "fraction",
    baseline: str = "",
) -> MetricRow:
    determinism = [run.determinism for run in settings.runs if (run.model, run.method) == (line.model, line.method)]
    return MetricRow(
        benchmark="symbench",
        dataset=settings.dataset,
        model=line.model,
        method=line.method,
        profile=line.profile,
        setting=setting_text(**{**settings.setting, **setting}),
        metric=metric,
        baseline=baseline,
        value=value,
        ci_low=low,
        ci_high=high,
        unit=unit,
        n=counts.n,
        n_failed=counts.failed,
        determinism=determinism[0] if determinism else "bytes",
    )


def _avenorm_rows(settings: MetricSettings, lines: Sequence[AvenormLine]) -> Iterator[MetricRow]:
    for line in lines:
        setting = {
            "extraction": line.extraction,
            "seed": line.seed,
            "comparison": line.comparison,
            "split": line.split,
            "tasks": len(line.score.tasks),
        }
        if line.external_columns:
            setting["printed_columns"] = line.external_columns
        baseline = ""
        if line.source == "printed":
            baseline, setting["of"] = "printed", line.of
        yield _row(
            settings, line, setting, "avenorm", float(line.score.percent), line.counts,
            line.score.low, line.score.high, "percent", baseline,
        )  # fmt: skip
        if line.source == "measured":
            zero = len(line.score.zero_tasks)
            yield _row(settings, line, setting, "avenorm_unsolved_tasks", zero, line.counts, unit="count")
