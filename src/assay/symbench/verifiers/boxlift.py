"""BoxLift: assign lifters to boxes, step by step."""

from typing import Any

from assay.symbench.literals import LiteralError, python_value
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, unreadable, when


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Carry out the steps; success means that every box is lifted within the estimated number of steps.

    An assignment that the rules do not allow is skipped, as upstream does. `upstream` adds up the capacity of a
    lifter that is listed twice and counts negative indices from the end (deviation D23); `corrected` wants
    distinct indices in range.
    """
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
    if profile == "corrected" and "Step" not in answer:
        return unreadable("no step")
    return when(not remaining, f"{len(remaining)} boxes are left")


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
