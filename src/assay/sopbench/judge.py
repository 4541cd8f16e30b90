"""The evaluator: replays a trajectory behind the rules and compares.

`Judge` is one domain under one profile and card dialect. It prepares a task once and judges any number of
trajectories of it; nothing is shared between trajectories, so order and number of workers change no verdict.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from assay.errors import DataError
from assay.sopbench.defaults import Defaults
from assay.sopbench.domain import Procedure
from assay.sopbench.expressions import decode, singles
from assay.sopbench.fitting import fitted
from assay.sopbench.readings import CORRECTED, UPSTREAM, Reading, not_found
from assay.sopbench.rows import CallRow, CardDialect, ContentDialect, Profile, Task, Verdict
from assay.sopbench.system import RuleTable, Strict, opened_session
from assay.sopbench.walk import Plan, Walk, plans_of

EXECUTED, BASE_ONLY, FAILED = 0, 1, 2
_SHOWN = 80


def _state_bytes(state: dict[str, Any]) -> bytes:
    """Return a state as JSON, from which fresh copies are made faster than by copying."""
    try:
        data = msgspec.json.encode(state)
        same = bool(msgspec.json.decode(data) == state)
    except (TypeError, OverflowError, UnicodeEncodeError):
        same = False
    if not same:
        raise DataError(
            "the task's database holds values that are not JSON (NaN, or numbers beyond 64 bits)",
            key="initial_database",
        )
    return data


def _short(name: str) -> str:
    """Return the name of a function as reasons show it: a model may have written anything."""
    return name if len(name) <= _SHOWN else f"{name[:_SHOWN]}... ({len(name)} characters)"


@dataclass(frozen=True)
class PreparedTask:
    """A task with its rules compiled."""

    task: Task
    state_bytes: bytes
    initial: dict[str, Any]
    table: RuleTable
    plans: dict[str, Plan]
    n_constraints: int
    n_constraints_expanded: int


@dataclass
class Replay:
    """What the replay of the calls found, before it becomes a verdict."""

    n_errors: int = 0
    n_unoffered: int = 0
    no_tool_call_error: bool = True
    constraint_not_violated: bool = True
    dirgraph_satisfied: bool = True
    successfully_called: bool = False
    first_faults: dict[str, str] | None = None

    def fault(self, check: str, why: str) -> None:
        """Remember the first call at fault of a check."""
        if self.first_faults is None:
            self.first_faults = {}
        self.first_faults.setdefault(check, why)


class Judge:
    """Judges trajectories of one domain.

    Parameters
    ----------
    procedure : Procedure
        Functions, constraints and rules of the domain.
    profile : str
        "upstream" for the published evaluation, "corrected" for ours.
    cards : str
        Card dialect of the bank; ignored elsewhere.
    """

    def __init__(self, procedure: Procedure, profile: Profile = "upstream", cards: CardDialect = "list") -> None:
        self.procedure = procedure
        self.profile: Profile = profile
        self.cards: CardDialect = cards
        self.reading: Reading = UPSTREAM if profile == "upstream" else CORRECTED
        self._defaults = Defaults.of(procedure, published=profile == "upstream")
        self._lacks_helpers = procedure.session.lacks_helpers

    def prepare(self, task: Task) -> PreparedTask:
        """Compile the rules of a task.

        Raises
        ------
        DataError
            If the task does not fit the domain (`fitted`), or its database is none of the domain.
        """
        check, graph = fitted(task, self.procedure)
        prepared = PreparedTask(
            task=task,
            state_bytes=_state_bytes(task.initial_database),
            initial=task.initial_database,
            table={**self._defaults.table, task.user_goal: check},
            plans=plans_of(graph),
            n_constraints=sum(1 for _ in singles(decode(task.constraints_original))),
            n_constraints_expanded=sum(1 for _ in singles(decode(task.constraints))),
        )
        self.open(prepared)  # so that a database of another version is named here, not in the middle of a replay
        return prepared

    def open(self, prepared: PreparedTask) -> Strict:
        """Return a strict system on a fresh copy of the task's initial state."""
        session = opened_session(
            self.procedure.system,
            self.procedure.session,
            msgspec.json.decode(prepared.state_bytes),
            prepared.task.constraint_parameters,
            self.cards,
            careful=self.reading.careful,
        )
        return Strict(session, prepared.table)

    def walk(self, prepared: PreparedTask, *, enforced: bool = False) -> Walk:
        """Return a walk of the task's graph at its beginning; see `judge` for `enforced`."""
        excused = enforced and self.reading.careful
        defaults = self._defaults
        return Walk(prepared.plans, defaults.plans, defaults.implied, by_variable=self.reading.careful, excused=excused)

    def judge(
        self,
        prepared: PreparedTask,
        calls: Sequence[CallRow],
        final_database: dict[str, Any] | None,
        *,
        n_sender_messages: int,
        dialect: ContentDialect,
        offered: Collection[str] | None = None,
        enforced: bool = False,
    ) -> Verdict:
        """Judge one trajectory.

        Parameters
        ----------
        final_database : dict or None
            The recorded final state; None if it equals the initial one.
        offered : collection of str or None
            Functions that the agent could call; None if unknown (then those that were not found were not offered).
        enforced : bool
            Whether the system enforced the rules and offered no look-ups: corrected, none is required then.
        """
        strict = self.open(prepared)
        walk = self.walk(prepared, enforced=enforced)
        replay = Replay()
        for number, call in enumerate(calls, 1):
            self._replay(call, number, prepared.task.user_goal, strict, walk, replay, dialect, offered)
        recorded = prepared.initial if final_database is None else final_database
        matches = self.reading.same_state(recorded, strict.system.state)
        return self._verdict(prepared, replay, strict, walk, matches, len(calls), n_sender_messages, dialect)

    def _replay(
        self,
        call: CallRow,
        number: int,
        goal: str,
        strict: Strict,
        walk: Walk,
        replay: Replay,
        dialect: ContentDialect,
        offered: Collection[str] | None,
    ) -> None:
        name = call.called
        arguments = self.reading.arguments(call)
        unoffered = not_found(call) if offered is None else name not in offered
        replay.n_unoffered += unoffered
        # What was not offered was not carried out: behind the rules it must not be either (a login, a write).
        ignored = unoffered and self.reading.careful
        status, value = (FAILED, None) if ignored else self.execute(name, arguments, strict)
        if status == FAILED:
            replay.n_errors += 1
            replay.no_tool_call_error = False
            replay.fault("no_tool_call_error", f"call {number}, {_short(name)}, could not be executed")
            return
        if status == EXECUTED and not self.reading.same(call, value, dialect):
            replay.constraint_not_violated = False
            replay.fault(
                "constraint_not_violated", f"call {number}, {_short(name)}, returned what the rules do not allow"
            )
        if name == goal and self.reading.succeeded(call, value, dialect):
            replay.successfully_called = True
        given = arguments if isinstance(arguments, dict) else {}
        if not walk.step(name, given):
            replay.dirgraph_satisfied = False
            replay.fault("dirgraph_satisfied", f"call {number}, {_short(name)}, came before what it requires")

    def execute(self, name: str, arguments: Any, strict: Strict) -> tuple[int, Any]:
        """Call a function of the strict system; return the status with the value, or with the exception.

        A look-up that the strict system lacks is decided by its name alone; corrected, it must also not raise.
        """
        if name not in self.procedure.system.functions:
            return FAILED, None
        base_only = self._lacks_helpers and name.startswith("internal_")
        if base_only and not self.reading.careful:
            return BASE_ONLY, None
        if not isinstance(arguments, dict):
            return FAILED, TypeError("arguments are not an object")
        try:
            if base_only:
                return BASE_ONLY, strict.system.call(name, arguments)
            return EXECUTED, strict.call(name, arguments)
        except Exception as error:  # noqa: BLE001 - whatever a function raises on a model's arguments is an error
            return FAILED, error

    def _verdict(
        self,
        prepared: PreparedTask,
        replay: Replay,
        strict: Strict,
        walk: Walk,
        database_match: bool,
        n_calls: int,
        n_sender_messages: int,
        dialect: ContentDialect,
    ) -> Verdict:
        task = prepared.task
        correct = task.action_should_succeed == replay.successfully_called
        rest = replay.constraint_not_violated and database_match and correct and replay.dirgraph_satisfied
        if not database_match:
            replay.fault("database_match", "the final database is not the one that the rules lead to")
        if not correct:
            wanted = "succeed" if task.action_should_succeed else "not be carried out"
            replay.fault("action_called_correctly", f"{task.user_goal} should {wanted}")
        return Verdict(
            user_goal=task.user_goal,
            action_should_succeed=task.action_should_succeed,
            num_messages=n_sender_messages - 1,
            num_function_calls=n_calls,
            num_constraints=prepared.n_constraints,
            num_constraints_expanded=prepared.n_constraints_expanded,
            no_tool_call_error=replay.no_tool_call_error,
            constraint_not_violated=replay.constraint_not_violated,
            database_match=database_match,
            action_successfully_called=replay.successfully_called,
            action_called_correctly=correct,
            dirgraph_satisfied=replay.dirgraph_satisfied,
            success=replay.no_tool_call_error and rest,
            profile=self.profile,
            content_dialect=dialect,
            card_dialect=self.cards,
            success_lenient=rest,
            n_unoffered=replay.n_unoffered,
            reasons=[f"{check}: {why}" for check, why in (replay.first_faults or {}).items()],
        )
