"""Import of the authors' trajectory files: calls, final states and stored evaluations, without evaluating any text."""

import json
import re
from collections.abc import Iterator
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import msgspec

from assay.errors import DataError
from assay.sopbench.conversation import EXIT_TOOL, NO_CALL
from assay.sopbench.rows import CallRow, ContentDialect, Ending, Task

_NAME = re.compile(
    r"(?:usr_(?P<user>.+?)-)?ast_(?P<model>.+)-mode_(?P<mode>fc|react|act-only)-.*tool_(?P<tools>full|oracle|test)-"
)
_PAIR = re.compile(r"\((?:True|False), ")


class TrajectoryFile(msgspec.Struct, frozen=True):
    """What a file's name says: `<domain>/[usr_<user>-]ast_<model>-mode_<mode>-...-tool_<list>-shuffle_<bool>.json`."""

    path: Path
    domain: str
    user: str
    model: str
    mode: str
    tool_list: str


class Trajectory(msgspec.Struct, frozen=True):
    """One conversation of a file, keyed by record and run, never by its place in a list of results.

    Attributes
    ----------
    calls, every_call : list of CallRow
        Those that the published evaluator sees, and all that were carried out.
    final_database : dict
        As recorded; always present here, also where it equals the initial one.
    ending : str
        "exit" if the last message calls the exit tool, else "limit".
    stored : dict or None
        The evaluation that the file carries for this run.
    """

    record: int
    run: int
    task: Task
    calls: list[CallRow]
    every_call: list[CallRow]
    n_sender_messages: int
    final_database: dict[str, Any]
    ending: Ending
    stored: dict[str, Any] | None


class Contents(msgspec.Struct, frozen=True):
    """A read file: its trajectories, and the numbers of records with and without one."""

    trajectories: list[Trajectory]
    dialect: ContentDialect
    n_records: int
    n_without: int


def find_files(folder: Path) -> list[TrajectoryFile]:
    """Return the trajectory files under a folder, sorted by domain and name.

    Raises
    ------
    DataError
        If there is none.
    """
    found = []
    for path in sorted(folder.glob("*/*.json")):
        match = _NAME.match(path.name)
        if match:
            tools = {"test": "oracle"}.get(match["tools"], match["tools"])  # older files write "test"
            facts = (path.parent.name, match["user"] or "", match["model"], match["mode"], tools)
            found.append(TrajectoryFile(path, *facts))
    if not found:
        raise DataError(
            "there is no trajectory file",
            file=folder,
            expected="<domain>/ast_<model>-mode_<mode>-...-tool_<list>-....json",
        )
    return found


def other_files(folder: Path) -> list[Path]:
    """Return the JSON files beside trajectory files whose names are not those of trajectory files, sorted."""
    return [path for path in sorted(folder.glob("*/*.json")) if not _NAME.match(path.name)]


def read_file(file: TrajectoryFile) -> Contents:
    """Read one file. An empty list, or null, is a file without records.

    Raises
    ------
    DataError
        Naming file and record, for text that is no JSON, a record without a task, or a run without a final database.
    """
    try:
        records = json.loads(file.path.read_bytes() or b"null")
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror}", file=file.path) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"the file is no JSON, perhaps cut off: {error}", file=file.path) from error
    if records is None:
        records = []
    if not isinstance(records, list):
        raise DataError("the file holds no list of records", file=file.path)
    trajectories: list[Trajectory] = []
    without = 0
    for number, record in enumerate(records):
        runs = list(_runs(file, number, record))
        trajectories += runs
        without += not runs
    tuples = any(_PAIR.match(call.content) for trajectory in trajectories for call in trajectory.calls)
    return Contents(trajectories, "tuple" if tuples else "unwrapped", len(records), without)


def _runs(file: TrajectoryFile, number: int, record: Any) -> Iterator[Trajectory]:
    if not isinstance(record, dict) or not isinstance(record.get("task"), dict):
        raise DataError("the record carries no task", file=file.path, row=number, key="task")
    task = _task(file, number, record["task"])
    stored, interactions = record.get("evaluations") or [], record.get("interactions") or []
    if not isinstance(stored, list) or not isinstance(interactions, list):
        raise DataError("interactions and evaluations are lists", file=file.path, row=number)
    for run, interaction in enumerate(interactions):
        place = {"file": file.path, "row": f"{number}, run {run}"}
        if not isinstance(interaction, dict) or not isinstance(interaction.get("interaction"), list):
            raise DataError("the run carries no messages", **place, key="interaction")  # type: ignore[arg-type]
        if not isinstance(interaction.get("database"), dict):
            raise DataError("the run carries no final database", **place, key="database")  # type: ignore[arg-type]
        messages = interaction["interaction"]
        try:
            calls, every_call, ending = extract_calls(messages), extract_every_call(messages), _ending(messages)
            n_sender_messages = sum(1 for message in messages if "sender" in message)
        except (KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"a message is not in the authors' form ({type(error).__name__}: {error})",
                **place,  # type: ignore[arg-type]
                key="interaction",
                expected="objects with sender and content, calls with function.name and function.arguments",
            ) from error
        yield Trajectory(
            record=number,
            run=run,
            task=task,
            calls=calls,
            every_call=every_call,
            n_sender_messages=n_sender_messages,
            final_database=interaction["database"],
            ending=ending,
            stored=stored[run] if run < len(stored) and isinstance(stored[run], dict) else None,
        )


def _ending(messages: list[dict[str, Any]]) -> Ending:
    calls = messages[-1].get("tool_calls") or [] if messages else []
    return "exit" if any(call["function"]["name"] == EXIT_TOOL for call in calls) else "limit"


def _task(file: TrajectoryFile, number: int, value: dict[str, Any]) -> Task:
    try:
        task = msgspec.convert(value, Task)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # the latter by a message about half a character
        raise DataError(str(error), file=file.path, row=number, key="task", expected="a task of SOPBench") from error
    if task.user_goal:
        return task
    # Two domains leave the goal to the object key of the task file; in a record, the graph names it.
    match task.directed_action_graph.get("nodes"):
        case [[str(goal), *_], *_]:
            return msgspec.structs.replace(task, user_goal=goal)
    return task


def extract_calls(messages: list[dict[str, Any]]) -> list[CallRow]:
    """Return the calls that the published evaluator sees: of each message but the last, the first that is no "n/a".

    Name and result come from the message after it.
    """
    calls = []
    for message, following in pairwise(messages):
        named = _named(message)
        if named:
            name = following.get("tool_name") or named[0]["function"]["name"]
            calls.append(_call(named[0], name, following.get("content")))
    return calls


def extract_every_call(messages: list[dict[str, Any]]) -> list[CallRow]:
    """Return all calls that were carried out, also those that a message makes beside its first one, in their order.

    Each result is that with the call's identifier, else the one in its place.
    """
    calls = []
    for number, message in enumerate(messages[:-1]):
        results = list(takewhile(lambda m: "tool_call_id" in m or "tool_name" in m, messages[number + 1 :]))
        by_id = {result["tool_call_id"]: result for result in results if result.get("tool_call_id")}
        for place, call in enumerate(_named(message)):
            result = by_id.get(call.get("id")) or (results[place] if place < len(results) else {})
            if call["function"]["name"] != EXIT_TOOL:
                calls.append(_call(call, result.get("tool_name") or call["function"]["name"], result.get("content")))
    return calls


def _named(message: dict[str, Any]) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = message.get("tool_calls") or []
    return [call for call in calls if str(call["function"]["name"]).strip().lower() not in NO_CALL]


def _call(call: dict[str, Any], name: Any, content: Any) -> CallRow:
    if not isinstance(name, str):
        raise TypeError(f"a tool is named {name!r}")
    return CallRow(name, _text(call["function"].get("arguments")), _text(content))


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value)
