"""Judge responses that were produced elsewhere: one JSON object a line, every line gets a label."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.canonical import bytes_digest, digest, text_digest
from assay.errors import DataError
from assay.records.rows import row_id
from assay.symbench.catalogue import TASKS
from assay.symbench.datasets import load_published
from assay.symbench.executing import execution_row, request
from assay.symbench.execution_rows import ExecutionRow, RolloutAnswer
from assay.symbench.judging import MODES
from assay.symbench.label_rows import LabelRow, ModeVerdict
from assay.symbench.labels import label
from assay.symbench.rows import TaskRow

RESPONSE_KEYS = ("response", "response_text", "text", "output", "completion")


class Answered(msgspec.Struct, frozen=True):
    """One line of a response file; `problem` says why it cannot be judged."""

    task: str = ""
    sample_id: str = ""
    response: str = ""
    sample: TaskRow | None = None
    problem: str | None = None


class Summary(msgspec.Struct, frozen=True):
    """Counts of one task and mode. `percent` is 100 * right / n: every line of the file is in the denominator."""

    task: str
    profile: str
    extraction: str
    n: int
    right: int
    unreadable: int
    crash: int
    failed: int
    percent: float

    def sentence(self) -> str:
        """Return one line for people."""
        return (
            f"{self.task or '(no task)':33} {self.profile:9} {self.extraction:10} {self.right:5} of {self.n:5} right "
            f"({self.percent:.1f} %), {self.unreadable} unreadable, {self.crash} crash, {self.failed} failed"
        )


def score_file(path: Path, data: Path, limit_s: float | None) -> list[LabelRow]:
    """Judge every line of a JSONL file of {task, sample_id, response}.

    Parameters
    ----------
    data : Path
        Folder of the samples, one TASK.jsonl a task.
    limit_s : float or None
        Time limit of one execution; None: nothing is executed, and responses with code get the outcome "failed".

    Raises
    ------
    DataError
        If the file itself, or the samples of a task that it names, are not there. A bad line is a label.
    """
    answers = list(_read(path, data))
    if not answers:
        raise DataError("the file holds no response", file=path, expected="one JSON object a line")
    repeats: Counter[str] = Counter()
    labels = []
    for answered, execution in zip(answers, _executions(answers, limit_s), strict=True):
        query_id = f"{answered.task}/{answered.sample_id}"
        index = repeats[query_id]
        repeats[query_id] += 1
        identity = row_id(query_id, text_digest(answered.response), index)
        if answered.sample is None or isinstance(execution, str):
            problem = answered.problem if isinstance(execution, ExecutionRow) else execution
            labels.append(_failure(answered, identity, index, str(problem)))
            continue
        answer = RolloutAnswer(
            row_id=identity, query_id=query_id, sample_index=index, response=answered.response, execution=execution
        )
        labels.append(label(answered.sample, answer))
    return labels


def summarize(labels: Iterable[LabelRow]) -> list[Summary]:
    """Count outcomes by task and mode."""
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for row in labels:
        for verdict in row.verdicts:
            groups.setdefault((row.task, verdict.profile, verdict.extraction), Counter())[verdict.outcome] += 1
    return [
        Summary(*key, n, c["right"], c["unreadable"], c["crash"], c["failed"], 100 * c["right"] / n)
        for key, c in groups.items()
        for n in (c.total(),)
    ]


def _read(path: Path, data: Path) -> Iterator[Answered]:
    samples: dict[str, dict[str, TaskRow]] = {}
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(
            f"the file cannot be read ({error.strerror})",
            file=path,
            expected="JSON Lines with task, sample_id and response",
        ) from error
    with file:
        for line in file:
            if line.strip():
                yield _answered(line, samples, data)


def _answered(line: bytes, samples: dict[str, dict[str, TaskRow]], data: Path) -> Answered:
    try:
        row = _decoded(line)
    except (ValueError, RecursionError):
        return Answered(problem=f"this line is not JSON in UTF-8 (sha256 {bytes_digest(line)[:12]})")
    if not isinstance(row, dict):
        return Answered(problem="this line is not a JSON object")
    task, sample_id = str(row.get("task", "")), str(row.get("sample_id", ""))
    if task not in TASKS:
        return Answered(task, sample_id, problem=f"there is no task {task!r}")
    if task not in samples:
        samples[task] = {sample.sample_id: sample for sample in load_published(data, task)}
    sample = samples[task].get(sample_id)
    if sample is None:
        return Answered(task, sample_id, problem=f"{task} has no sample {sample_id!r}")
    key = next((key for key in RESPONSE_KEYS if key in row), None)
    if key is None:
        return Answered(task, sample_id, problem=f"no response; expected one of the keys {', '.join(RESPONSE_KEYS)}")
    if not isinstance(row[key], str):
        return Answered(task, sample_id, problem=f"the response is {type(row[key]).__name__}, not a text")
    return Answered(task, sample_id, row[key], sample)


def _decoded(line: bytes) -> Any:
    """Return the value of a line; halves of characters, which Python writes into JSON, become U+FFFD."""
    try:
        return msgspec.json.decode(line)
    except msgspec.DecodeError:
        row = json.loads(line)
    if not isinstance(row, dict):
        return row
    return {key: _whole(value) if isinstance(value, str) else value for key, value in row.items()}


def _whole(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _executions(answers: list[Answered], limit_s: float | None) -> list[ExecutionRow | str]:
    """Run the code of all responses; a text says why a response's code was not run."""
    nothing = ExecutionRow(row_id="", query_id="")
    requests = [None if a.sample is None else request(a.task, a.response) for a in answers]
    asked = [one for one in requests if one is not None]
    if not asked:
        return [nothing for _ in answers]
    if limit_s is None:
        return [nothing if one is None else "the response has code, which was not to be executed" for one in requests]
    from assay.config.executions import ExecutionLimits, Executions
    from assay.sandbox.executor import Executor

    with Executor(Executions(limits=ExecutionLimits(time_s=limit_s))) as executor:
        results = iter(executor.execute(asked))
    return [nothing if one is None else execution_row("", "", 0, next(results)) for one in requests]


def _failure(answered: Answered, identity: str, index: int, problem: str) -> LabelRow:
    verdicts = tuple(
        ModeVerdict(profile=profile, extraction=extraction, outcome="failed", reason=problem[:200])
        for profile, extraction in MODES
    )
    return LabelRow(
        row_id=identity if answered.task else digest("unreadable-line", [problem, index])[:32],
        query_id=f"{answered.task}/{answered.sample_id}",
        task=answered.task,
        sample_id=answered.sample_id,
        sample_index=index,
        generation_error=problem[:200],
        verdicts=verdicts,
    )
