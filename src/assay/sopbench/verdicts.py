"""Verdicts: one for every rollout, under one profile."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from assay.errors import DataError
from assay.records.step import Inputs, Outputs
from assay.sopbench.catalogue import PROCEDURES
from assay.sopbench.judge import Judge, PreparedTask
from assay.sopbench.justification import refusal_justified
from assay.sopbench.rows import CardDialect, Profile, RolloutRow, TaskRow, VerdictRow


class VerdictSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Config of a verdicts job: the profile."""

    profile: Profile


def judge(config: dict[str, Any], inputs: Inputs) -> Outputs:
    """Judge every rollout, in the order of the rollouts."""
    settings = msgspec.convert(config, VerdictSettings)
    tasks = inputs.one("tasks").rows("tasks.jsonl", TaskRow)
    rollouts = inputs.one("rollouts").rows("rollouts.jsonl", RolloutRow)
    return {"verdicts.jsonl": verdict_rows(tasks, rollouts, settings.profile)}


def verdict_rows(tasks: Iterable[TaskRow], rollouts: Iterable[RolloutRow], profile: Profile) -> Iterator[VerdictRow]:
    """Yield one verdict for every rollout.

    Raises
    ------
    DataError
        If a rollout is of a task that is not there, two results carry one identity, or an agent has fewer attempts at
        one task than at another.
    """
    bench = Bench(tasks, profile)
    seen: set[object] = set()
    attempts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for rollout in rollouts:
        attempt = (rollout.agent, rollout.task_id, rollout.attempt)
        if rollout.row_id in seen:
            raise DataError("two rollouts have one identity", row=rollout.row_id, file="rollouts.jsonl")
        if attempt in seen:
            raise DataError(
                f"there are two results of {rollout.agent!r} for one task and attempt",
                row=rollout.row_id,
                file="rollouts.jsonl",
                key="task_id",
            )
        seen |= {rollout.row_id, attempt}
        attempts[rollout.agent][rollout.task_id] += 1
        yield bench.verdict(rollout)
    for agent, counts in attempts.items():
        task_id, fewest = min(counts.items(), key=lambda item: item[1])
        if fewest < max(counts.values()):
            raise DataError(
                f"{agent!r} has {fewest} attempts at one task and {max(counts.values())} at another",
                row=task_id,
                file="rollouts.jsonl",
                expected="as many attempts at every task",
            )


class Bench:
    """Judges of all domains over a set of tasks."""

    def __init__(self, tasks: Iterable[TaskRow], profile: Profile) -> None:
        self._tasks = {row.task_id: row for row in tasks}
        self._profile: Profile = profile
        self._judges: dict[tuple[str, CardDialect], Judge] = {}
        self._prepared: dict[tuple[str, CardDialect], PreparedTask] = {}

    def verdict(self, rollout: RolloutRow) -> VerdictRow:
        """Judge one rollout.

        Raises
        ------
        DataError
            If its task is unknown.
        """
        row = self._tasks.get(rollout.task_id)
        if row is None:
            raise DataError(
                f"the rollout is about a task that is not among the {len(self._tasks)} tasks",
                row=rollout.row_id,
                key="task_id",
                remedy="the tasks may have changed since: make the rollouts again",
            )
        judge, prepared = self._ready(row, rollout.card_dialect)
        verdict = judge.judge(
            prepared,
            rollout.calls,
            rollout.final_database,
            n_sender_messages=rollout.n_sender_messages,
            dialect=rollout.content_dialect,
            offered=frozenset(rollout.offered),
            enforced=rollout.enforced,
        )
        if not row.task.action_should_succeed:
            verdict = msgspec.structs.replace(
                verdict, refusal_justified=refusal_justified(judge, prepared, rollout.calls)
            )
        return VerdictRow(
            row_id=rollout.row_id,
            task_id=row.task_id,
            domain=row.domain,
            index=row.index,
            agent=rollout.agent,
            attempt=rollout.attempt,
            ending=rollout.ending,
            solvable=row.solvable,
            verdict=verdict,
        )

    def _ready(self, row: TaskRow, cards: CardDialect) -> tuple[Judge, PreparedTask]:
        if row.domain not in PROCEDURES:
            raise DataError(f"{row.domain!r} is no domain", row=row.task_id, expected=", ".join(PROCEDURES))
        if (row.domain, cards) not in self._judges:
            self._judges[row.domain, cards] = Judge(PROCEDURES[row.domain], self._profile, cards)
        judge = self._judges[row.domain, cards]
        if (row.task_id, cards) not in self._prepared:
            self._prepared[row.task_id, cards] = judge.prepare(row.task)
        return judge, self._prepared[row.task_id, cards]
