"""Which task a published conversation ran on, where that is not the task that its record carries.

Upstream keys results by list position. With a user model it skips tasks, and resuming a run then shifts every later
position, so that record k keeps task k of the file while its conversation was held about another one. Scoring always
uses the record's task; only a replay of the base system needs the executed one.
"""

from collections.abc import Sequence

from assay.sopbench.rows import Task

# One published file without a user model is shifted too: (first record that is not shifted by this much, shift).
_SHIFTED_FILE = ("healthcare", "o4-mini", "fc", "full")
_SHIFTS = ((3, 10), (26, 35), (46, 39), (85, 45))


class ExecutedTasks:
    """Finds executed tasks among the tasks of one domain, given in file order."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._tasks = tasks
        self._sequence = _resumed(tasks)

    def of(
        self, domain: str, user: str | None, model: str, setting: tuple[str, str], run: int, index: int, own: Task
    ) -> Task:
        """Return the task that record `index` of a file ran on; `setting` is (tool-call mode, tool list)."""
        adversarial = user == "adv" and run == 0 and domain in ("university", "library")
        if adversarial or (user is not None and domain == "healthcare"):
            return self._sequence[index] if index < len(self._sequence) else own
        # The file carries the plain or the dated name of the model.
        if user is None and (domain, model.partition("-2025")[0], *setting) == _SHIFTED_FILE:
            shift = next((shift for end, shift in _SHIFTS if index < end), 0)
            return self._tasks[index + shift] if shift else own
        return own


def _resumed(tasks: Sequence[Task]) -> list[Task]:
    """Repeat "append all should-refuse tasks whose index is at least the present length" until nothing is added."""
    sequence: list[Task] = []
    while True:
        length = len(sequence)
        sequence += [task for index, task in enumerate(tasks) if index >= length and not task.action_should_succeed]
        if len(sequence) == length:
            return sequence
