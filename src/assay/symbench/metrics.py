"""The `metrics` job: success rates with their counts, average normalised scores, and the published tables."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.rows import MetricRow, setting_text
from assay.records.step import Input, Inputs, Outputs
from assay.stats.intervals import wilson
from assay.symbench import averages
from assay.symbench.comparison import mean_interval
from assay.symbench.counting import Counts, counted, level_names
from assay.symbench.label_rows import LabelRow
from assay.symbench.metric_settings import Measured, MetricSettings, Mode, Run, questions_of
from assay.symbench.metric_tables import AVENORM, RATES, AvenormLine, RateLine, table
from assay.symbench.rows import TaskRow

# Share of the evaluated responses, whatever their task.
_SHARES = ("unreadable", "crash", "failed", "timeouts", "truncated", "truncated_prompts", "nondeterministic")


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
        raise DataError(f"{len(artifacts)} labels artifacts for {len(settings.runs)} runs", expected="one for each run")
    samples = _samples(inputs) if settings.runs else {}
    measured = [_measured(run, part, samples) for run, part in zip(settings.runs, artifacts, strict=True)]
    rates = [line for mode in _modes(settings) for one in measured for line in _rate_lines(one, mode, samples)]
    scores = [line for mode in _modes(settings) for line in averages.lines(settings, measured, mode)]
    return {
        "metrics.jsonl": [*_rate_rows(settings, rates), *_avenorm_rows(settings, scores)],
        "success_rates.csv": table(RATES, rates),
        "avenorm.csv": table(AVENORM, scores),
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
        yield _rate_line(one.run, mode, task, "", rows)
        levels = level_names({query: sample.complexity for query, sample in samples[task].items()})
        for level in dict.fromkeys(levels.values()):
            yield _rate_line(one.run, mode, task, level, [row for row in rows if levels[row.query_id] == level])


def _rate_line(run: Run, mode: Mode, task: str, level: str, rows: Sequence[LabelRow]) -> RateLine:
    return RateLine(
        run.model, run.method, *mode, run.seed, task, level, questions_of(rows), run.setting, run.determinism,
        counted(rows, *mode),
    )  # fmt: skip


def _rate_rows(settings: MetricSettings, lines: Sequence[RateLine]) -> Iterator[MetricRow]:
    overall: dict[tuple[str, str, str, str, int], list[RateLine]] = {}
    for line in lines:
        setting = {"extraction": line.extraction, "seed": line.seed, "task": line.task, "questions": line.questions}
        if not line.level:
            overall.setdefault((line.model, line.method, line.profile, line.extraction, line.seed), []).append(line)
        elif line.counts.n == 1:
            continue  # one sample is no rate; it stands in success_rates.csv
        else:
            setting["level"] = line.level
        interval = wilson(line.counts.right, line.counts.n)
        yield _row(
            settings, line, setting, "success_rate", float(line.counts.rate), line.counts, interval.low, interval.high
        )
    for tasks in overall.values():
        first = tasks[0]
        questions = "+".join(sorted({line.questions for line in tasks}))
        setting = {"extraction": first.extraction, "seed": first.seed, "tasks": len(tasks), "questions": questions}
        total = _sum([line.counts for line in tasks])
        # Tasks weigh the same, however many samples they have.
        mean = float(sum(line.counts.rate for line in tasks) / len(tasks))
        solved = {line.task: (line.counts.right, line.counts.n) for line in tasks}
        yield _row(
            settings, first, setting, "mean_success_rate", mean, total, *mean_interval(solved, settings.bootstrap)
        )
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
    return MetricRow(
        benchmark="symbench",
        dataset=settings.dataset,
        model=line.model,
        method=line.method,
        profile=line.profile,
        setting=setting_text(**{**settings.setting, **line.setting, **setting}),
        metric=metric,
        baseline=baseline,
        value=value,
        ci_low=low,
        ci_high=high,
        unit=unit,
        n=counts.n,
        n_failed=counts.failed,
        determinism=line.determinism,
    )


def _avenorm_rows(settings: MetricSettings, lines: Sequence[AvenormLine]) -> Iterator[MetricRow]:
    for line in lines:
        setting: dict[str, object] = {
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
        else:
            setting["questions"] = line.questions
        if line.comparison == "across":
            setting["models"] = line.of.split()[0]
        yield _row(
            settings, line, setting, "avenorm", float(line.score.percent), line.counts,
            line.score.low, line.score.high, "percent", baseline,
        )  # fmt: skip
        if line.source == "measured" and line.comparison != "across":
            zero = len(line.score.zero_tasks)
            yield _row(settings, line, setting, "avenorm_unsolved_tasks", zero, line.counts, unit="count")
