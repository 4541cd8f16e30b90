"""BoxNet: agents in a grid bring coloured boxes to targets of the same colour."""

import json
import re

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, crash, unreadable, when, wrong

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_ACTION = re.compile(r"move\((.*?),\s(.*?)\)")
# The lazy parts of the expression take quadratic time on a long text; no action is longer than this.
MAX_ACTION = 2_000

Cells = dict[str, list[str]]


class _UnknownCellError(ValueError):
    pass


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Carry out the plan; success means that every cell is empty at the end.

    The plan is a JSON list of steps {agent: action}. Impossible actions are ignored, not punished. An agent that
    stands in no cell makes upstream's verifier raise (deviation D21); `corrected` refuses the plan.
    """
    try:
        plan = json.loads(answer)
    except (ValueError, RecursionError):
        return unreadable("not JSON")
    if not isinstance(plan, list):
        return unreadable("not a list of steps")
    cells = {name: list(objects) for name, objects in sample.solution["state"].items()}
    for number, step in enumerate(plan, 1):
        if not isinstance(step, dict) or not all(isinstance(action, str) for action in step.values()):
            return unreadable(f"step {number} is not an object of agent and action texts")
        try:
            moves = [move for key, action in step.items() if (move := _read(key, action, cells))]
        except _UnknownCellError as error:
            return crash(str(error)) if profile == "upstream" else wrong(str(error))
        for cell, item, location in moves:
            _apply(cells, cell, item, location)
    left = sum(len(objects) for objects in cells.values())
    return when(left == 0, f"{left} boxes and targets are left")


def _read(key: str, action: str, cells: Cells) -> tuple[str, str, str] | None:
    match = _ACTION.match(action[:MAX_ACTION])
    if match is None:
        return None
    cell = _cell(key)
    if cell not in cells:
        raise _UnknownCellError(f"the agent {clipped(key)!r} stands in no cell")
    return cell, match.group(1), match.group(2)


def _cell(text: str) -> str | None:
    numbers = _NUMBER.findall(text)
    return f"{numbers[0]}_{numbers[1]}" if len(numbers) >= 2 else None


def _apply(cells: Cells, cell: str, item: str, location: str) -> None:
    objects = cells[cell]
    if item not in objects:
        return
    if "square" in location:
        destination = _cell(location)
        if destination in cells and _distance(cell, destination) == 1:
            objects.remove(item)
            cells[destination].append(item)
    elif _is_pair(item, location) and location in objects:
        objects.remove(item)
        objects.remove(location)


def _is_pair(item: str, target: str) -> bool:
    return item.startswith("box_") and target.startswith("target_") and item[4:] == target[7:]


def _distance(first: str, second: str) -> float:
    (x0, y0), (x1, y1) = (map(float, name.split("_")) for name in (first, second))
    return abs(x0 - x1) + abs(y0 - y1)
