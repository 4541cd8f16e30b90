"""BoxLift: assign lifters to boxes, step by step."""

import re
from typing import Any

from assay.symbench.alternatives import NOT_BARE, denied, last_clause
from assay.symbench.literals import LiteralError, python_value
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, unreadable, when, wrong

_STEP_NUMBER = re.compile(r"\s*(\d{1,6})\b", re.ASCII)


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Carry out the steps; success means that every box is lifted within the estimated number of steps.

    An assignment that the rules do not allow is skipped, as upstream does. `upstream` adds up the capacity of a
    lifter that is listed twice and counts negative indices from the end (deviation D23), and reads the steps whatever
    their numbers; `corrected` wants distinct indices in range, and steps that are numbered 1, 2, 3 and so on, so that
    two plans are none, nor is a plan that is denied (D25).
    """
    if profile == "corrected" and (refused := _misnumbered(answer)):
        return refused
    lifters, remaining = sample.solution["lifters"], list(sample.solution["boxes"])
    for number, step in enumerate(answer.split("Step")[1 : sample.solution["estimated_steps"] + 1], 1):
        _, _, text = step.partition(":")
        try:
            assignments = python_value(text.strip())
            _lift(assignments, remaining, lifters, profile)
        except LiteralError as error:
            return unreadable(f"step {number}: {error}")
        except (TypeError, ValueError, IndexError) as error:
            return unreadable(f"step {number} is not a list of (weight, lifters): {error}")
    return when(not remaining, f"{len(remaining)} boxes are left")


def _misnumbered(answer: str) -> Verdict | None:
    introduction, *steps = answer.split("Step")
    if not steps:
        return unreadable("no step")
    if denied(last_clause(introduction)):
        return unreadable(NOT_BARE)
    for number, step in enumerate(steps, 1):
        match = _STEP_NUMBER.match(step)
        if match is None or int(match.group(1)) != number:
            return wrong(f"step {number} is not numbered so")
    return None


def _lift(assignments: Any, remaining: list[int], lifters: list[int], profile: Profile) -> None:
    used: set[int] = set()
    for weight, indices in assignments:
        if weight not in remaining or any(index >= len(lifters) or index in used for index in indices):
            continue
        if profile == "corrected" and (len(set(indices)) != len(indices) or any(index < 0 for index in indices)):
            continue
        if sum(lifters[index] for index in indices) < weight:
            continue
        remaining.remove(weight)
        used.update(indices)
