"""Rates, average normalised scores, intervals, and what the metrics job refuses."""

import csv
import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from assay.canonical import derive_seed
from assay.errors import DataError
from assay.records.jsonl import write_rows
from assay.records.rows import MetricRow
from assay.records.step import Input, Inputs
from assay.symbench import metrics
from assay.symbench.avenorm import published_rates
from assay.symbench.catalogue import TASKS
from assay.symbench.comparison import Bootstrap, Member, across, compare, mean_interval
from assay.symbench.counting import Counts, counted, level_names, samples_digest
from assay.symbench.label_rows import LabelRow, ModeVerdict, Outcome
from assay.symbench.rows import TaskRow

NORMALIZED, MARKER = ("upstream", "normalized"), ("corrected", "marker")


def label(task: str, number: int, outcome: Outcome, corrected: Outcome | None = None, **fields: Any) -> LabelRow:
    verdicts = (
        ModeVerdict(profile="upstream", extraction="normalized", outcome=outcome),
        ModeVerdict(profile="corrected", extraction="marker", outcome=corrected or outcome),
    )
    name = f"{task}/{number}"
    return LabelRow(row_id=f"{name}", query_id=name, task=task, sample_id=str(number), verdicts=verdicts, **fields)


def labels(**outcomes: str) -> list[LabelRow]:
    """Return labels of tasks from letters: r right, w wrong, u unreadable, c crash, f failed."""
    names: dict[str, Outcome] = {"r": "right", "w": "wrong", "u": "unreadable", "c": "crash", "f": "failed"}
    return [
        label(task, number, names[letter], generation_error="x" if letter == "f" else None)
        for task, letters in outcomes.items()
        for number, letter in enumerate(letters)
    ]


def job(folder: Path, runs: dict[tuple[str, str], list[LabelRow]], **over: Any) -> tuple[dict[str, Any], Inputs]:
    """Return the arguments of the metrics job; the samples are those of the first run."""
    artifacts = []
    first = next(iter(runs.values()))
    samples = [
        TaskRow(task=row.task, sample_id=row.sample_id, question="?", solution={}, complexity={"complexity": 1 + n % 2})
        for n, row in enumerate(first)
    ]
    for number, (role, rows) in enumerate([("tasks", samples), *[("labels", rows) for rows in runs.values()]]):
        place = folder / f"{role}{number}"
        place.mkdir(exist_ok=True)
        write_rows(place / f"{role}.jsonl", rows)
        artifacts.append(Input(role, role, f"item{number}", "0" * 64, place, "bytes"))
    config = {
        "dataset": "d",
        "runs": [{"model": model, "method": method, "seed": 0, "determinism": "isa"} for model, method in runs],
        "tasks": [task for task in TASKS if task in {row.task for row in first}],
        "modes": [list(MARKER), list(NORMALIZED)],
        "bootstrap": {"resamples": 200},
    }
    return {**config, **over}, Inputs(tuple(artifacts))


def tidy(made: Any) -> dict[tuple[str, ...], MetricRow]:
    rows = [msgspec.convert(msgspec.to_builtins(row), MetricRow) for row in made["metrics.jsonl"]]
    found = {(r.model, r.method, r.profile, r.setting, r.metric, r.baseline): r for r in rows}
    assert len(found) == len(rows)  # the primary key
    return found


def table(made: Any, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made[name].decode())))


def test_every_response_stays_in_the_denominator() -> None:
    counts = counted(labels(game24="rwucfr"), *NORMALIZED)
    assert (counts.n, counts.right, counts.wrong, counts.unreadable, counts.crash, counts.failed) == (6, 2, 1, 1, 1, 1)
    assert counts.rate == Fraction(1, 3)
    marks = {"execution": "timeout", "truncated": True, "truncated_prompt": True, "nondeterministic": True}
    counts = counted([label("game24", 0, "wrong", **marks), label("game24", 1, "right")], *NORMALIZED)
    assert (counts.timeouts, counts.truncated, counts.truncated_prompts, counts.nondeterministic) == (1, 1, 1, 1)


def test_rates_and_scores_of_a_small_experiment(tmp_path: Path) -> None:
    runs = {
        ("m", "a"): labels(game24="rrww", letters="rwww"),
        ("m", "b"): labels(game24="rrrr", letters="wwfw"),
    }
    made = metrics.compute(*job(tmp_path, runs))
    rows = tidy(made)
    rate = rows[
        "m", "a", "upstream", "extraction=normalized;questions=published;seed=0;task=game24", "success_rate", ""
    ]
    assert (rate.value, rate.n, rate.n_failed, rate.unit, rate.determinism) == (0.5, 4, 0, "fraction", "isa")
    level = rows[
        "m", "a", "upstream", "extraction=normalized;level=1;questions=published;seed=0;task=game24", "success_rate", ""
    ]
    assert (level.value, level.n) == (0.5, 2)
    assert (
        rows[
            "m", "b", "upstream", "extraction=normalized;questions=published;seed=0;tasks=2", "mean_success_rate", ""
        ].value
        == 0.5
    )
    assert (
        rows["m", "b", "upstream", "extraction=normalized;questions=published;seed=0;tasks=2", "failed_rate", ""].value
        == 1 / 8
    )
    shares = {row.metric for row in rows.values() if row.metric.endswith("_rate") and "task=" not in row.setting}
    assert shares == {"mean_success_rate"} | {
        f"{name}_rate" for name in Counts.__struct_fields__ if name not in ("n", "right", "wrong", "errors")
    }
    # Game 24: 50 and 100 of at most 100; letters: 25 and 0 of at most 25.
    scores = {
        (line["method"], line["split"]): float(line["avenorm"])
        for line in table(made, "avenorm.csv")
        if line["profile"] == "upstream"
    }
    assert scores == {
        ("a", "seen"): 50.0, ("b", "seen"): 100.0, ("a", "unseen"): 100.0, ("b", "unseen"): 0.0,
        ("a", "total"): 75.0, ("b", "total"): 50.0,
    }  # fmt: skip
    total = rows[
        "m",
        "b",
        "upstream",
        "comparison=methods;extraction=normalized;questions=published;seed=0;split=total;tasks=2",
        "avenorm",
        "",
    ]
    assert (total.value, total.n, total.n_failed, total.unit) == (50.0, 8, 1, "percent")
    first = table(made, "success_rates.csv")[0]
    assert (first["extraction"], first["right"], first["n"], first["percent"]) == ("normalized", "2", "4", "50.0")


def test_the_two_profiles_are_never_mixed(tmp_path: Path) -> None:
    rows = [label("game24", n, "wrong", "right") for n in range(3)]
    made = metrics.compute(*job(tmp_path, {("m", "a"): rows, ("m", "b"): rows}))
    values = {(line["profile"], line["right"]) for line in table(made, "success_rates.csv") if not line["level"]}
    assert values == {("upstream", "0"), ("corrected", "3")}


def test_unsolved_tasks_count_zero_and_are_named(tmp_path: Path) -> None:
    runs = {("m", name): labels(game24="ww", letters="rw") for name in "ab"}
    made = metrics.compute(*job(tmp_path, runs))
    total = next(line for line in table(made, "avenorm.csv") if line["split"] == "total")
    assert (total["avenorm"], total["n_tasks"], total["unsolved_tasks"]) == ("50.0", "2", "game24")


def test_models_are_compared_under_each_method(tmp_path: Path) -> None:
    runs = {
        ("m1", "a"): labels(game24="rw"), ("m1", "b"): labels(game24="rr"),
        ("m2", "a"): labels(game24="rr"), ("m2", "b"): labels(game24="ww"),
    }  # fmt: skip
    lines = table(metrics.compute(*job(tmp_path, runs)), "avenorm.csv")
    scores = {
        (line["comparison"], line["compared_in"], line["model"], line["method"]): float(line["avenorm"])
        for line in lines
        if line["split"] == "total" and line["profile"] == "upstream"
    }
    assert scores == {
        ("methods", "m1", "m1", "a"): 50.0, ("methods", "m1", "m1", "b"): 100.0,
        ("methods", "m2", "m2", "a"): 100.0, ("methods", "m2", "m2", "b"): 0.0,
        ("models", "a", "m1", "a"): 50.0, ("models", "a", "m2", "a"): 100.0,
        ("models", "b", "m1", "b"): 100.0, ("models", "b", "m2", "b"): 0.0,
        # How the methods do over all models: the mean of their scores within each.
        ("across", "2 models", "", "a"): 75.0, ("across", "2 models", "", "b"): 50.0,
    }  # fmt: skip
    across = [line for line in lines if line["comparison"] == "across" and line["split"] == "total"]
    assert {line["n"] for line in across} == {"4"}


def test_scores_across_models_have_paired_intervals_and_need_the_same_methods(tmp_path: Path) -> None:
    """An independent loop over the same draws, all models and methods at once, gives the same interval."""
    groups = [
        [member("a", game24="rrwwr", letters="wwrw"), member("b", game24="wwrrw", letters="rrww")],
        [member("a", game24="rwwww", letters="rrrw"), member("b", game24="wrrrw", letters="wwww")],
    ]
    bootstrap = Bootstrap(resamples=200, level=0.9, seed=3)
    found = {(s.name, s.split): s for s in across(groups, ["game24", "letters"], bootstrap)}
    values = []
    for replicate in range(200):
        means = []
        for group in groups:
            total = 0.0
            for task, n in (("game24", 5), ("letters", 4)):
                drawn = np.random.default_rng(derive_seed("symbench-bootstrap", 3, task)).integers(0, n, (200, n))
                rates = [np.mean([one.solved[task][k] for k in drawn[replicate]]) for one in group]
                total += rates[0] / max(rates) if max(rates) else 0.0
            means.append(100 * total / 2)
        values.append(sum(means) / 2)
    low, high = np.quantile(values, [0.05, 0.95])
    score = found["a", "total"]
    assert (score.low, score.high) == (pytest.approx(low), pytest.approx(high))
    assert found["a", "unseen"].zero_tasks == ()

    one_method = {("m1", "a"): labels(game24="rw"), ("m1", "b"): labels(game24="rr"), ("m2", "a"): labels(game24="rr")}
    lines = table(metrics.compute(*job(tmp_path, one_method)), "avenorm.csv")
    assert "across" not in {line["comparison"] for line in lines}


def test_a_score_is_as_reproducible_as_all_that_it_is_compared_with(tmp_path: Path) -> None:
    config, inputs = job(tmp_path, {("m", "a"): labels(game24="rw"), ("m", "b"): labels(game24="rr")})
    config["runs"][1]["determinism"] = "volatile"
    rows = tidy(metrics.compute(config, inputs)).values()
    assert {row.determinism for row in rows if row.metric == "avenorm"} == {"volatile"}
    assert {row.determinism for row in rows if row.metric == "success_rate" and row.method == "a"} == {"isa"}


def test_cells_say_whose_questions_they_are_about_and_what_the_model_is(tmp_path: Path) -> None:
    own = [msgspec.structs.replace(row, question_source="own") for row in labels(letters="rw")]
    config, inputs = job(tmp_path, {("m", name): [*labels(game24="rw"), *own] for name in "ab"})
    for run in config["runs"]:
        run["setting"] = {"dtype": "float32", "template": "own"}
    made = metrics.compute(config, inputs)
    settings = {(row.metric, row.setting) for row in tidy(made).values() if row.profile == "upstream"}
    for metric, words in (
        ("success_rate", "questions=own;seed=0;task=letters"),
        ("success_rate", "questions=published;seed=0;task=game24"),
        ("mean_success_rate", "questions=own+published"),
        ("avenorm", "questions=own+published;seed=0;split=total"),
        ("avenorm", "questions=own;seed=0;split=unseen"),
    ):
        assert [text for name, text in settings if name == metric and words in text], words
    assert all("dtype=float32" in text and "template=own" in text for _, text in settings)
    assert {line["questions"] for line in table(made, "avenorm.csv")} == {"own", "published", "own+published"}


def test_a_mark_of_the_runs_stands_in_every_row(tmp_path: Path) -> None:
    """Also in means over models, which have no precision of their own, and in printed columns."""
    runs = {(model, name): labels(game24="rw", letters="rr") for model in ("m1", "m2") for name in "ab"}
    config, inputs = job(tmp_path, runs, published_columns=True)
    for run, dtype in zip(config["runs"], ("float32", "float32", "bfloat16", "bfloat16"), strict=True):
        run["setting"] = {"dtype": dtype, "isolation": "off"}
    rows = tidy(metrics.compute(config, inputs))
    assert {"across" in key[3] for key in rows} == {True, False}
    assert all("isolation=off" in row.setting for row in rows.values())
    without = [row for row in rows.values() if "dtype=" not in row.setting]
    assert {(row.model, "across" in row.setting or row.baseline == "printed") for row in without} == {("", True)}


def test_a_level_of_one_sample_is_no_row_of_the_table(tmp_path: Path) -> None:
    made = metrics.compute(*job(tmp_path, {("m", "a"): labels(game24="rw")}))
    assert [line["level"] for line in table(made, "success_rates.csv") if line["profile"] == "upstream"] == [
        "",
        "1",
        "2",
    ]
    assert not [row for row in tidy(made).values() if "level=" in row.setting]


def test_alone_nothing_is_compared(tmp_path: Path) -> None:
    made = metrics.compute(*job(tmp_path, {("m", "a"): labels(game24="rw")}))
    assert table(made, "avenorm.csv") == []
    assert table(made, "success_rates.csv")


def test_printed_rates_are_labelled_columns_that_enlarge_the_comparison(tmp_path: Path) -> None:
    runs = {("m", "a"): labels(game24="rw"), ("m", "b"): labels(game24="rr")}
    config, inputs = job(tmp_path, runs, published_columns=True, comparison="methods")
    made = metrics.compute(config, inputs)
    lines = [line for line in table(made, "avenorm.csv") if line["split"] == "total" and line["profile"] == "upstream"]
    assert {line["source"] for line in lines} == {"measured", "printed"}
    printed = {line["method"]: line for line in lines if line["source"] == "printed"}
    assert printed.keys() == published_rates().keys()
    assert all(line["model"] == "" and line["n"] == "" and line["ci_low"] == "" for line in printed.values())
    # b solves everything, so the best rate is 1 and a printed 80 % is 80.
    assert float(printed["o1"]["avenorm"]) == 80.0
    rows = tidy(made)
    assert all(row.baseline == "printed" for row in rows.values() if row.metric == "avenorm" and row.model == "")


def test_all_printed_columns_and_one_of_ours_give_the_printed_scores_back() -> None:
    """A column that is best nowhere does not move the others' scores."""
    external = {name: {t: rate / 100 for t, rate in column.items()} for name, column in published_rates().items()}
    ours = Member("ours", dict.fromkeys(TASKS, (False, False)), dict.fromkeys(TASKS, "x"))
    scores = compare([ours], list(TASKS), Bootstrap(resamples=10), external=external)
    total = {score.name: float(score.percent) for score in scores if score.split == "total"}
    assert round(total["o1"], 1) == 82.7
    assert total["ours"] == 0


def test_different_samples_are_refused(tmp_path: Path) -> None:
    one, other = labels(game24="rw"), labels(game24="rw")
    swapped = [other[1], other[0]]
    with pytest.raises(DataError, match="does not judge"):
        metrics.compute(*job(tmp_path, {("m", "a"): one, ("m", "b"): swapped}))
    own = [msgspec.structs.replace(row, question_source="own") for row in other]
    with pytest.raises(DataError, match="not evaluated on the same samples of game24"):
        metrics.compute(*job(tmp_path, {("m", "a"): one, ("m", "b"): own}))
    with pytest.raises(DataError, match="come from own and published"):
        metrics.compute(*job(tmp_path, {("m", "a"): one, ("m", "b"): [other[0], own[1]]}))


def test_missing_and_left_over_labels_are_refused(tmp_path: Path) -> None:
    rows = labels(game24="rwr")
    with pytest.raises(DataError, match="does not judge the 3 samples of game24, but 2"):
        metrics.compute(*job(tmp_path, {("m", "a"): rows, ("m", "b"): rows[:2]}))
    config, inputs = job(tmp_path, {("m", "a"): rows})
    with pytest.raises(DataError, match="1 labels artifacts for 2 runs"):
        metrics.compute({**config, "runs": config["runs"] * 2}, inputs)


def test_a_method_that_lacks_a_task_needs_a_policy(tmp_path: Path) -> None:
    runs = {("m", "a"): labels(game24="rw", letters="rr"), ("m", "b"): labels(game24="rr")}
    with pytest.raises(DataError, match="b has no rate for letters"):
        metrics.compute(*job(tmp_path, runs))
    for policy, score, tasks in (("zero", "50.0", "2"), ("common", "100.0", "1")):
        made = metrics.compute(*job(tmp_path, runs, missing=policy))
        line = next(line for line in table(made, "avenorm.csv") if line["split"] == "total" and line["method"] == "b")
        assert (line["avenorm"], line["n_tasks"]) == (score, tasks)


def member(name: str, **solved: str) -> Member:
    values = {task: tuple(letter == "r" for letter in letters) for task, letters in solved.items()}
    return Member(name, values, {task: samples_digest(labels(**{task: letters})) for task, letters in solved.items()})


def test_intervals_resample_within_tasks_and_recompute_the_best(tmp_path: Path) -> None:
    """An independent loop over the same draws gives the same interval."""
    members = [member("a", game24="rrwwr", letters="wwrw"), member("b", game24="wwrrw", letters="rrww")]
    bootstrap = Bootstrap(resamples=300, level=0.9, seed=5)
    score = next(s for s in compare(members, ["game24", "letters"], bootstrap) if (s.name, s.split) == ("a", "total"))
    values = []
    draws = {
        task: np.random.default_rng(derive_seed("symbench-bootstrap", 5, task)).integers(0, n, (300, n))
        for task, n in (("game24", 5), ("letters", 4))
    }
    for replicate in range(300):
        total = 0.0
        for task, index in draws.items():
            rates = [np.mean([one.solved[task][k] for k in index[replicate]]) for one in members]
            total += rates[0] / max(rates) if max(rates) else 0.0
        values.append(100 * total / 2)
    low, high = np.quantile(values, [0.05, 0.95])
    assert (score.low, score.high) == (pytest.approx(low), pytest.approx(high))
    assert score.low is not None
    assert score.low < score.percent < (score.high or 0)


def test_the_interval_of_a_mean_rate_resamples_within_tasks() -> None:
    bootstrap = Bootstrap(resamples=300, level=0.9, seed=5)
    values = np.zeros(300)
    for task, right, n in (("game24", 3, 5), ("letters", 1, 4)):
        drawn = np.random.default_rng(derive_seed("symbench-bootstrap", 5, task)).integers(0, n, (300, n))
        values += np.array([sum(index < right for index in row) / n for row in drawn]) / 2
    low, high = mean_interval({"game24": (3, 5), "letters": (1, 4)}, bootstrap)
    assert (low, high) == (pytest.approx(np.quantile(values, 0.05)), pytest.approx(np.quantile(values, 0.95)))
    assert mean_interval({"game24": (3, 5), "letters": (1, 1)}, bootstrap) == (None, None)
    assert mean_interval({"game24": (0, 5)}, bootstrap) == (None, None)


def test_no_interval_where_there_is_nothing_to_resample() -> None:
    single = compare([member("a", game24="r"), member("b", game24="w")], ["game24"], Bootstrap(resamples=10))
    unsolved = compare([member("a", game24="ww"), member("b", game24="ww")], ["game24"], Bootstrap(resamples=10))
    assert {(score.low, score.high) for score in [*single, *unsolved]} == {(None, None)}


def test_levels_are_the_generators_or_its_parameters() -> None:
    assert level_names({"a": {"complexity": 1, "n": 5}, "b": {"complexity": 2, "n": 6}}) == {"a": "1", "b": "2"}
    assert level_names({"a": {"rows": 1, "columns": 2}, "b": {"rows": 2, "columns": 2}}) == {
        "a": "rows:1,columns:2",
        "b": "rows:2,columns:2",
    }
    kinds = {"a": {"complexity": 1, "game_type": "elements"}, "b": {"complexity": 1, "game_type": "animal"}}
    assert level_names(kinds) == {"a": "1 elements", "b": "1 animal"}
    assert level_names({"a": {}, "b": {}}) == {}
    assert level_names({str(n): {"rank": n} for n in range(30)}) == {}
    blocksworld = {f"{b}-{s}": {"num_blocks": b, "initial_stacks": s} for b in range(2, 5) for s in range(8)}
    assert len(set(level_names(blocksworld).values())) == 24
