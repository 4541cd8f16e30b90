"""Scripted agents: one that follows the rules, and the controls that must fail."""

from collections.abc import Callable, Sequence

import msgspec

from assay.sopbench.conversation import EXIT_TOOL, Conversation, Request, Turn
from assay.sopbench.rows import PlannedCall, TaskRow

Script = list[PlannedCall]


def _target(row: TaskRow) -> PlannedCall:
    """Return the call of the target with all that the user knows."""
    planned = next((call for call in reversed(row.plan or []) if call.name == row.task.user_goal), None)
    if planned is not None:
        return planned
    target = row.task.directed_action_graph["nodes"][0]
    known = row.task.user_known
    return PlannedCall(target[0], {name: known[name] for name in target[1] if name in known})


def oracle(row: TaskRow) -> Script:
    """Verify what the rules ask for, then act if it is allowed: the task's plan."""
    return list(row.plan or [])


def do_nothing(_row: TaskRow) -> Script:
    """Leave at once. Passes every task that should be refused, which is why it stands beside every rate."""
    return []


def target_at_once(row: TaskRow) -> Script:
    """Call the target and nothing before it."""
    return [_target(row)]


def wrong_order(row: TaskRow) -> Script:
    """Call the target first and verify afterwards, last things first."""
    return [_target(row), *(call for call in reversed(row.plan or []) if call.name != row.task.user_goal)]


def wrong_user(row: TaskRow) -> Script:
    """Verify and act as the plan says, but verify somebody else.

    Every text argument that names an account or a guest of the task's world is replaced in the verifications by
    another one; the target keeps its own.
    """
    names = people(row)
    return [call if call.name == row.task.user_goal else _as_another(call, names) for call in row.plan or []]


def people(row: TaskRow) -> list[str]:
    """Return the names of the accounts, students or guests of a task's world, sorted."""
    state = row.task.initial_database
    for place in ("accounts", "students"):
        if isinstance(state.get(place), dict):
            return sorted(state[place])
    bookings = state.get("bookings")
    booked = list(bookings.values()) if isinstance(bookings, dict) else []
    guests = [booking.get("guest") for booking in booked if isinstance(booking, dict)]
    return sorted({guest for guest in guests if isinstance(guest, str)})


def _as_another(call: PlannedCall, people: list[str]) -> PlannedCall:
    arguments = {
        name: people[(people.index(value) + 1) % len(people)] if isinstance(value, str) and value in people else value
        for name, value in call.arguments.items()
    }
    return PlannedCall(call.name, arguments)


SCRIPTS: dict[str, Callable[[TaskRow], Script]] = {
    "oracle": oracle,
    "do-nothing": do_nothing,
    "target-at-once": target_at_once,
    "wrong-order": wrong_order,
    "wrong-user": wrong_user,
}


class ScriptedAgent:
    """Makes the calls of a script, then uses the exit tool."""

    def __init__(self, name: str) -> None:
        self._script = SCRIPTS[name]

    def turns(self, conversations: Sequence[Conversation]) -> list[Turn]:
        """Return the next call of each script."""
        return [self._turn(talk) for talk in conversations]

    def _turn(self, talk: Conversation) -> Turn:
        script = self._script(talk.row)
        made = len(talk.calls)
        if made >= len(script):
            return Turn("", Request(EXIT_TOOL, "{}"))
        call = script[made]
        return Turn("", Request(call.name, msgspec.json.encode(call.arguments, order="sorted").decode()))


class SilentUser:
    """Never asked, because scripted agents end by the exit tool."""

    def replies(self, conversations: Sequence[Conversation]) -> list[str | None]:
        """End every conversation."""
        return [None for _ in conversations]
