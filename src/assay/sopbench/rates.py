"""Rates over verdicts: shares of tasks, pass@k, pass^k."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

from assay.sopbench.rows import VerdictRow

CHECKS = (
    "no_tool_call_error",
    "constraint_not_violated",
    "database_match",
    "action_called_correctly",
    "dirgraph_satisfied",
)
CONSTRAINT_GROUPS = ((0, 1, "0-1"), (2, 2, "2"), (3, 3, "3"), (4, 4, "4"), (5, 5, "5"), (6, 10**9, "6+"))


@dataclass(frozen=True)
class Rate:
    """A share of tasks.

    Attributes
    ----------
    value : float or None
        In [0, 1]; None where there is no task.
    n : int
        Tasks that it is taken over.
    n_failed : int
        Of them, conversations in which the model gave no answer (an error, or a context that was full); they count
        as not passed, whatever their verdict: an agent that could not speak has refused nothing.
    """

    value: float | None
    n: int
    n_failed: int

    @property
    def passed(self) -> int:
        """The number of tasks that passed."""
        return round((self.value or 0.0) * self.n)


def rate(rows: Iterable[VerdictRow], passes: Callable[[VerdictRow], bool]) -> Rate:
    """Return the share of first attempts for which `passes` holds."""
    firsts = [row for row in rows if row.attempt == 0]
    count = sum(map(passes, firsts))
    failed = sum(map(broke, firsts))
    return Rate(count / len(firsts) if firsts else None, len(firsts), failed)


def broke(row: VerdictRow) -> bool:
    """Return whether a conversation ended because the model could not answer."""
    return row.ending in ("error", "overflow")


def succeeded(row: VerdictRow) -> bool:
    """Return whether a task passed; a conversation that broke did not."""
    return row.verdict.success and not broke(row)


def rates(rows: Sequence[VerdictRow]) -> dict[str, Rate]:
    """Return all rates of a set of verdicts by metric name.

    ``pass_rate`` and its parts by kind of task; ``pass_rate_solvable`` over tasks for which a plan is known;
    ``pass_rate_lenient`` ignores calls that could not be executed; ``refusal_justified_rate`` is the share of tasks to
    refuse that passed and were refused for a verified reason; then the shares of conversations that ended by a limit
    or an overflow, and pass@k and pass^k where there are several attempts.
    """
    granted = [row for row in rows if row.verdict.action_should_succeed]
    refused = [row for row in rows if not row.verdict.action_should_succeed]
    found = {
        "pass_rate": rate(rows, succeeded),
        "pass_rate_should_succeed": rate(granted, succeeded),
        "pass_rate_should_refuse": rate(refused, succeeded),
        "pass_rate_solvable": rate([row for row in rows if row.solvable], succeeded),
        "pass_rate_lenient": rate(rows, lambda row: row.verdict.success_lenient and not broke(row)),
        "refusal_justified_rate": rate(refused, lambda row: succeeded(row) and row.verdict.refusal_justified is True),
        "limit_rate": rate(rows, lambda row: row.ending in ("limit", "calls")),
        "overflow_rate": rate(rows, lambda row: row.ending == "overflow"),
    }
    for k in range(2, attempts(rows) + 1):
        found[f"pass@{k}"] = over_attempts(rows, k, at_least_one=True)
        found[f"pass^{k}"] = over_attempts(rows, k, at_least_one=False)
    return found


def checks(rows: Sequence[VerdictRow]) -> dict[str, Rate]:
    """Return the shares of the booleans that make a pass, and of conversations that called a tool not offered.

    A conversation that broke has not passed, but keeps the booleans of what it did.
    """
    found = {name: rate(rows, lambda row, name=name: getattr(row.verdict, name)) for name in CHECKS}  # type: ignore[misc]
    return found | {"unoffered_tool_rate": rate(rows, lambda row: row.verdict.n_unoffered > 0)}


def attempts(rows: Iterable[VerdictRow]) -> int:
    """Return the number of attempts at each task."""
    return max((row.attempt for row in rows), default=-1) + 1


def over_attempts(rows: Iterable[VerdictRow], k: int, *, at_least_one: bool) -> Rate:
    """Return pass@k (at least one of k attempts passes) or pass^k (all of them), as a mean over tasks.

    Of n attempts of which c pass, the unbiased estimates are 1 - C(n-c, k) / C(n, k) and C(c, k) / C(n, k). `n_failed`
    counts tasks of which an attempt broke.
    """
    by_task: dict[str, list[bool]] = {}
    failed: set[str] = set()
    for row in rows:
        by_task.setdefault(row.task_id, []).append(succeeded(row))
        if broke(row):
            failed.add(row.task_id)
    values = []
    for passed in by_task.values():
        n, c = len(passed), sum(passed)
        values.append(1 - comb(n - c, k) / comb(n, k) if at_least_one else comb(c, k) / comb(n, k))
    return Rate(sum(values) / len(values) if values else None, len(values), len(failed))


def do_nothing(rows: Sequence[VerdictRow]) -> Rate:
    """Return the pass rate of an agent that makes no call: the share of tasks that should be refused.

    Such an agent always answers, whatever became of the conversations of the rows.
    """
    found = rate(rows, lambda row: not row.verdict.action_should_succeed)
    return Rate(found.value, found.n, 0)


def by_constraints(rows: Sequence[VerdictRow]) -> dict[str, Rate]:
    """Return the pass rate by the number of conditions of the task's rule."""
    return {
        name: rate([row for row in rows if low <= row.verdict.num_constraints <= high], succeeded)
        for low, high, name in CONSTRAINT_GROUPS
    }


def by_service(rows: Sequence[VerdictRow]) -> dict[str, Rate]:
    """Return the pass rate by the service that the user asks for, in the order of the tasks."""
    goals = dict.fromkeys(row.verdict.user_goal for row in rows)
    return {goal: rate([row for row in rows if row.verdict.user_goal == goal], succeeded) for goal in goals}
