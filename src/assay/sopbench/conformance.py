"""Conformance suites: published trajectories (replays) and constructed traces, field by field.

Per row: the evaluation under the `upstream` profile; every recorded result and the final database from the base
system; for bank replays the evaluation under the list card dialect; for constructed traces also the strict system's
status, result and final database. A row marked nondeterministic is skipped for its evaluation only.
"""

import hashlib
import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.conformance import Case
from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.domains.dmv.functions import licence_number
from assay.sopbench.executed import ExecutedTasks
from assay.sopbench.judge import EXECUTED, FAILED, Judge, PreparedTask
from assay.sopbench.literals import arguments_literal
from assay.sopbench.readings import not_found
from assay.sopbench.rows import CallRow, CardDialect, ContentDialect, Task, Verdict
from assay.sopbench.system import System
from assay.sopbench.tasks import load_tasks

Fields = dict[str, Any]
Difference = tuple[str, Any, Any]  # field, expected, got


class ReplayRow(msgspec.Struct, kw_only=True):
    """A row of a replay file or of the constructed traces; see the README of the data."""

    id: str
    domain: str
    task_index: int
    dialect: ContentDialect
    calls: list[dict[str, Any]]
    final_db_sha256: str
    user: str | None = None
    model: str = ""
    mode: str = ""
    tool_list: str = ""
    run: int = 0
    n_sender_messages: int | None = None
    final_db: dict[str, Any] | None = None
    task: dict[str, Any] | None = None
    eval_upstream: Fields | None = None
    eval_stored: Fields | None = None
    eval_legacy_cards: Fields | None = None
    eval: Fields | None = None
    strict_db_sha256: str | None = None
    nondeterministic: bool = False

    def call_rows(self) -> list[CallRow]:
        """Return the calls as the evaluator reads them.

        Raises
        ------
        DataError
            If a call lacks a part.
        """
        try:
            return [CallRow(c["name"], c["arguments"], c["content"], c.get("tool_name")) for c in self.calls]
        except KeyError as error:
            raise DataError(f"a call lacks {error}", row=self.id, key="calls") from error


def read_replays(path: Path) -> Iterator[ReplayRow]:
    """Yield the rows of a compressed JSON Lines file.

    Raises
    ------
    DataError
        Naming file and row, if a line is no such row.
    """
    decoder = msgspec.json.Decoder(ReplayRow)
    number = 0
    try:
        with lzma.open(path, "rb") if path.suffix == ".xz" else path.open("rb") as file:
            for line in file:
                number += 1
                if line.strip():
                    yield decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(str(error), file=path, row=number, expected="a replay row") from error
    except (lzma.LZMAError, EOFError) as error:
        raise DataError("the compressed file is damaged or cut off", file=path, row=number + 1) from error


def state_digest(state: Any) -> str:
    """Return the sha256 of a state after one JSON round trip, as the vectors give it."""
    text = json.dumps(json.loads(json.dumps(state)), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplaySuite:
    """Tasks and judges of all domains, loaded when a row first needs them."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._tasks: dict[str, list[Task]] = {}
        self._judges: dict[tuple[str, CardDialect], Judge] = {}
        self._prepared: dict[tuple[str, CardDialect, int], PreparedTask] = {}
        self._executed: dict[str, ExecutedTasks] = {}

    def tasks(self, domain: str) -> list[Task]:
        """Return the tasks of a domain in file order."""
        if domain not in self._tasks:
            self._tasks[domain] = [row.task for row in load_tasks(self._data, domain)]
        return self._tasks[domain]

    def judge(self, domain: str, cards: CardDialect) -> Judge:
        """Return the judge of a domain under a card dialect."""
        if domain not in PROCEDURES:
            raise DataError(f"{domain!r} is no domain", key="domain", expected=", ".join(PROCEDURES))
        if (domain, cards) not in self._judges:
            self._judges[domain, cards] = Judge(PROCEDURES[domain], "upstream", cards)
        return self._judges[domain, cards]

    def prepared(self, row: ReplayRow, cards: CardDialect) -> PreparedTask:
        """Return the task that a row is scored on."""
        judge = self.judge(row.domain, cards)
        if row.task is not None:
            task = msgspec.convert(row.task, Task)
            return judge.prepare(task if task.user_goal else msgspec.structs.replace(task, user_goal=row.id))
        count = len(self.tasks(row.domain))
        if not 0 <= row.task_index < count:
            raise DataError(f"there are {count} tasks of {row.domain}", row=row.id, key="task_index")
        key = (row.domain, cards, row.task_index)
        if key not in self._prepared:
            self._prepared[key] = judge.prepare(self.tasks(row.domain)[row.task_index])
        return self._prepared[key]

    def verdict(self, row: ReplayRow, cards: CardDialect) -> Verdict:
        """Judge a row under the upstream profile."""
        # Constructed rows have one assistant message per call and two more.
        n_senders = len(row.calls) + 2 if row.n_sender_messages is None else row.n_sender_messages
        return self.judge(row.domain, cards).judge(
            self.prepared(row, cards), row.call_rows(), row.final_db, n_sender_messages=n_senders, dialect=row.dialect
        )

    def executed(self, row: ReplayRow) -> Task:
        """Return the task that a row's conversation was about."""
        if row.domain not in self._executed:
            self._executed[row.domain] = ExecutedTasks(self.tasks(row.domain))
        own = self.own(row)
        setting = (row.mode, row.tool_list)
        return self._executed[row.domain].of(row.domain, row.user, row.model, setting, row.run, row.task_index, own)

    def own(self, row: ReplayRow) -> Task:
        """Return the task that a row carries."""
        return self.tasks(row.domain)[row.task_index] if row.task is None else msgspec.convert(row.task, Task)


def replays(files: list[Path], data: Path, _limit: float | None = None) -> Iterator[Case]:
    """Check published trajectories: evaluation, results, final states, and the list card dialect of the bank."""
    suite = ReplaySuite(data)
    for path in files:
        for row in read_replays(path):
            yield _case(row, _guarded(_replay_differences, row, suite), skipped=False)


def traces(files: list[Path], data: Path, _limit: float | None = None) -> Iterator[Case]:
    """Check constructed traces: evaluation, results, final states, and every strict response."""
    suite = ReplaySuite(data)
    for path in files:
        for row in read_replays(path):
            yield _case(row, _guarded(_trace_differences, row, suite), skipped=row.nondeterministic)


def _guarded(compare: Any, row: ReplayRow, suite: ReplaySuite) -> list[Difference]:
    try:
        return list(compare(row, suite))
    except Exception as error:  # noqa: BLE001 - a case that cannot be compared is a failed case, with its reason
        return [("exception", "none", f"{type(error).__name__}: {error}")]


def _case(row: ReplayRow, differences: list[Difference], *, skipped: bool) -> Case:
    if differences:
        field, expected, got = differences[0]
        more = f" and {len(differences) - 1} more" if len(differences) > 1 else ""
        return Case(row.id, "failed", str(expected)[:300], str(got)[:300], f"{field}{more}")
    if skipped:
        return Case(row.id, "skipped", why="its evaluation depends on the hash seed of the process that made it")
    return Case(row.id, "passed")


def _replay_differences(row: ReplayRow, suite: ReplaySuite) -> Iterator[Difference]:
    bank = row.domain == "bank"
    verdict = suite.verdict(row, "map" if bank else "list")
    yield from _required("eval_upstream", row.eval_upstream)
    yield from _compare("eval_upstream", row.eval_upstream, verdict)
    if bank:
        lists = suite.verdict(row, "list")
        yield from _compare("eval_legacy_cards", row.eval_legacy_cards or row.eval_upstream, lists)
        # A published file was scored under one of the two dialects; which one, its name does not say.
        stored = list(_compare("eval_stored", row.eval_stored, lists))
        yield from stored if list(_compare("eval_stored", row.eval_stored, verdict)) else []
    executed = _base_differences(row, suite.executed(row), "list")
    # Without calls nothing shows which task was executed, except the untouched state.
    yield from _base_differences(row, suite.own(row), "list") if executed and not row.calls else executed


def _trace_differences(row: ReplayRow, suite: ReplaySuite) -> Iterator[Difference]:
    cards: CardDialect = "map" if row.domain == "bank" else "list"
    yield from _required("eval", row.eval)
    if not row.nondeterministic:
        yield from _compare("eval", row.eval, suite.verdict(row, cards))
    yield from _base_differences(row, suite.tasks(row.domain)[row.task_index], cards)
    yield from _strict_differences(row, suite, cards)


def _required(name: str, expected: Fields | None) -> Iterator[Difference]:
    """Yield that an evaluation is missing: a row without one would pass with nothing compared."""
    if not expected:
        yield name, "an evaluation", "none; this may be the other kind of vectors"


def _compare(name: str, expected: Fields | None, verdict: Verdict) -> Iterator[Difference]:
    for field, value in (expected or {}).items():
        got = getattr(verdict, field)
        if got != value or type(got) is not type(value):
            yield f"{name}.{field}", value, got


def _base_differences(row: ReplayRow, task: Task, cards: CardDialect) -> list[Difference]:
    """Replay on the base system; a row of the file's other content dialect passes if all of it is in that dialect."""
    first = list(_base_differences_in(row, task, cards, row.dialect))
    if first and row.domain == "bank":
        other: ContentDialect = "unwrapped" if row.dialect == "tuple" else "tuple"
        return first if list(_base_differences_in(row, task, cards, other)) else []
    return first


def _base_differences_in(
    row: ReplayRow, task: Task, cards: CardDialect, dialect: ContentDialect
) -> Iterator[Difference]:
    system = PROCEDURES[row.domain].system.opened(
        msgspec.json.decode(msgspec.json.encode(task.initial_database)), cards
    )
    for number, call in enumerate(row.call_rows(), 1):
        if not_found(call):
            continue
        got = _called(system, call)
        if isinstance(got, Exception):
            if call.content.partition(":")[0] != type(got).__name__:
                yield f"content of call {number} ({call.called})", call.content, f"{type(got).__name__}: {got}"
            continue
        text = str(got[1]) if dialect == "unwrapped" and isinstance(got, tuple) and len(got) == 2 else str(got)
        if not _same_text(text, call.content):
            yield f"content of call {number} ({call.called})", call.content, text
    _take_licences(system.state, row.final_db)
    if state_digest(system.state) != row.final_db_sha256:
        yield "final_db_sha256", row.final_db_sha256, json.dumps(system.state)[:300]


def _called(system: System, call: CallRow) -> Any:
    # Tools read arguments as JSON, so that true is a boolean here, unlike in the evaluator.
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = call.arguments
    try:
        return system.call(call.called, arguments)
    except Exception as error:  # noqa: BLE001 - recorded as text, compared by type name
        return error


def _strict_differences(row: ReplayRow, suite: ReplaySuite, cards: CardDialect) -> Iterator[Difference]:
    judge = suite.judge(row.domain, cards)
    strict = judge.open(suite.prepared(row, cards))
    for number, (call, raw) in enumerate(zip(row.call_rows(), row.calls, strict=True), 1):
        status, value = judge.execute(call.called, arguments_literal(call.arguments), strict)
        expected_status, expected_text = raw["strict"]
        if status != expected_status:
            yield f"strict status of call {number} ({call.called})", raw["strict"], [status, str(value)]
        elif status == EXECUTED and not _same_text(str(value), expected_text):
            yield f"strict result of call {number} ({call.called})", expected_text, value
        elif status == FAILED and isinstance(value, Exception) and type(value).__name__ != expected_text:
            yield f"strict exception of call {number} ({call.called})", expected_text, type(value).__name__
    _take_licences(strict.system.state, row.final_db)
    if state_digest(strict.system.state) != row.strict_db_sha256:
        yield "strict_db_sha256", row.strict_db_sha256, json.dumps(strict.system.state, default=str)[:300]


_LICENCE = re.compile(r"'dl_number': 'D[ \d]{10}'")


def _same_text(ours: str, theirs: str) -> bool:
    """Compare results as text; a licence number comes from the recording process's own hash and may differ."""
    return ours == theirs or ("dl_number" in ours and _LICENCE.sub("", ours) == _LICENCE.sub("", theirs))


def _take_licences(state: dict[str, Any], recorded: dict[str, Any] | None) -> None:
    for name, account in (recorded or {}).get("accounts", {}).items():
        theirs = account.get("driver_license") if isinstance(account, dict) else None
        ours = state["accounts"].get(name, {}).get("driver_license") if theirs else None
        # Only a number drawn in this run is another process's; the others come with the task.
        if theirs and ours and ours["dl_number"] == licence_number(name):
            ours["dl_number"] = theirs["dl_number"]
