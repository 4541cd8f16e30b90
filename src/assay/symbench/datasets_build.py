"""Make the sample files out of a clone of the authors' repository, and check their digests."""

import csv
import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.jsonl import write_rows
from assay.symbench.catalogue import TASKS, module_stem
from assay.symbench.datasets_raw import READERS, REMEDY, RawSample, path_plan, read_object
from assay.symbench.rows import QuestionSource, Runner, TaskRow

ENVIRONMENTS = "path_plan_environments.json"


def build(root: Path, environments: Path | None, out: Path, tasks: Iterable[str] = TASKS) -> Iterator[str]:
    """Write OUT/TASK.jsonl for every task that the sources hold; yield one line on each.

    Parameters
    ----------
    root : Path
        A clone of the authors' repository, or its folder dataset_gather.
    environments : Path or None
        The constants of path_plan, which the authors keep in code; without the file that task is left out.

    Raises
    ------
    DataError
        If files are missing or damaged, or the content is not the published one.
    """
    root = root / "dataset_gather" if (root / "dataset_gather").is_dir() else root
    for task in tasks:
        if task == "path_plan":
            if environments is None:
                yield f"path_plan: left out; the authors keep its constants in code: give {ENVIRONMENTS} with --with"
                continue
            rows = _read(environments, task, path_plan(environments), functools.partial(_instructed, environments))
        else:
            rows = _read(root, task, READERS[task](root), lambda solution: solution)
        check_digest(task, rows)
        count = write_rows(out / f"{task}.jsonl", rows)
        yield f"{task}: {count} samples, {rows[0].question_source} questions, digest as published"


def _read(source: Path, task: str, samples: Iterable[RawSample], completed: Callable[[Any], Any]) -> list[TaskRow]:
    try:
        return list(_rows(task, samples, completed))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        # JSON of another shape than the published one can fail anywhere, also where the question is worded.
        raise DataError(
            f"the samples of {task} cannot be read ({type(error).__name__}: {error})", file=source, remedy=REMEDY
        ) from error


def _rows(task: str, samples: Iterable[RawSample], completed: Callable[[Any], Any]) -> Iterator[TaskRow]:
    for sample in samples:
        solution = completed(sample.solution)
        source: QuestionSource = "published" if sample.question is not None else "own"
        yield TaskRow(
            task=task,
            sample_id=sample.sample_id,
            question=_composer(task)(solution) if sample.question is None else sample.question,
            solution=solution,
            complexity=sample.complexity,
            upstream_pool=sample.upstream_pool,
            runner=Runner(sample.baseline, sample.codesteer),
            question_source=source,
        )


@functools.cache
def _composer(task: str) -> Callable[[Any], str]:
    """Return the function that words a question of this task; an import by name, so that no verifier sees prompts."""
    module = importlib.import_module(f"assay.symbench.tasks.{module_stem(task)}")
    composer: Callable[[Any], str] = module.render
    return composer


@functools.cache
def _rules(environments: Path) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = read_object(environments, "instructions")["instructions"]
    return rules


def _instructed(environments: Path, solution: dict[str, Any]) -> dict[str, Any]:
    """Add the sentence of the instruction, in our own words."""
    rule = _rules(environments)[solution["instruction_index"]]
    sentence = f"Drive through the {', '.join(rule['enter'])} box{'es' if len(rule['enter']) > 1 else ''}"
    if rule["avoid"]:
        sentence += f" and keep out of the {', '.join(rule['avoid'])} box{'es' if len(rule['avoid']) > 1 else ''}"
    return solution | {"instruction": sentence + "."}


def published_digests() -> dict[tuple[str, str], str]:
    """Return (task, "content" or "without_question") -> sha256 of the published lines."""
    with Path(__file__).with_name("dataset_digests.csv").open(encoding="utf-8", newline="") as file:
        return {(row["task"], row["what"]): row["sha256"] for row in csv.DictReader(file)}


def check_digest(task: str, rows: list[TaskRow]) -> None:
    """Compare rows with the published content; for own questions, everything but the question.

    Raises
    ------
    DataError
        If the content differs.
    """
    own = bool(rows) and rows[0].question_source == "own"
    sha256 = hashlib.sha256("".join(map(published_line, rows)).encode()).hexdigest()
    wanted = published_digests()[task, "without_question" if own else "content"]
    if sha256 != wanted:
        raise DataError(
            f"the samples of {task} are not the published ones (sha256 {sha256})",
            expected=wanted,
            remedy="use an unmodified clone of the pinned commit, with line ends as they are",
        )


def published_line(row: TaskRow) -> str:
    """Return a row as a line of the published files; own words are left out, so that the rest can be compared."""
    record = msgspec.to_builtins(row)
    if record.pop("question_source") == "own":
        del record["question"]
        if row.task == "path_plan":
            record["solution"] = {key: value for key, value in record["solution"].items() if key != "instruction"}
    return json.dumps(record, sort_keys=True, ensure_ascii=False) + "\n"
