"""BoxNet: agents in a grid bring coloured boxes to targets of the same colour."""

import json
import re
from typing import Any

from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import Profile, Verdict, clipped, crash, unreadable, when, wrong

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SIGNED = re.compile(r"(?:(?<![\d.])-)?\d+(?:\.\d+)?", re.ASCII)
_ACTION = re.compile(r"move\((.*?),\s(.*?)\)")
# The lazy parts of the expression take quadratic time on a long text; no action is longer than this.
MAX_ACTION = 2_000

Cells = dict[str, list[str]]


class _UnknownCellError(ValueError):
    pass


class _TwiceError(ValueError):
    pass


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Carry out the plan; success means that every cell is empty at the end.

    The plan is a JSON list of steps {agent: action}. Impossible actions are ignored, not punished. An agent that
    stands in no cell makes upstream's verifier raise (deviation D21); `corrected` refuses the plan, and one in which
    an agent acts twice in a step, however its key is written (D27). `corrected` also reads signs of coordinates.
    """
    try:
        plan = json.loads(answer, object_pairs_hook=_unique if profile == "corrected" else None)
    except _TwiceError as error:
        return wrong(str(error))
    except (ValueError, RecursionError):
        return unreadable("not JSON")
    if not isinstance(plan, list):
        return unreadable("not a list of steps")
    cells = {name: list(objects) for name, objects in sample.solution["state"].items()}
    for number, step in enumerate(plan, 1):
        if not isinstance(step, dict) or not all(isinstance(action, str) for action in step.values()):
            return unreadable(f"step {number} is not an object of agent and action texts")
        try:
            moves = [move for key, action in step.items() if (move := _read(key, action, cells, profile))]
        except _UnknownCellError as error:
            return crash(str(error)) if profile == "upstream" else wrong(str(error))
        if profile == "corrected" and len({cell for cell, _, _ in moves}) < len(moves):
            return wrong(f"step {number} gives one agent several actions")
        for cell, item, location in moves:
            _apply(cells, cell, item, location, profile)
    left = sum(len(objects) for objects in cells.values())
    return when(left == 0, f"{left} boxes and targets are left")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    step = dict(pairs)
    if len(step) < len(pairs):
        raise _TwiceError("a step names an agent twice")
    return step


def _read(key: str, action: str, cells: Cells, profile: Profile) -> tuple[str, str, str] | None:
    match = _ACTION.match(action[:MAX_ACTION])
    if match is None:
        return None
    cell = _cell(key, profile)
    if cell not in cells:
        raise _UnknownCellError(f"the agent {clipped(key)!r} stands in no cell")
    return cell, match.group(1), match.group(2)


def _cell(text: str, profile: Profile) -> str | None:
    if profile == "upstream":
        numbers = _NUMBER.findall(text)
    else:
        numbers = [str(float(number)) for number in _SIGNED.findall(text)]
    return f"{numbers[0]}_{numbers[1]}" if len(numbers) >= 2 else None


def _apply(cells: Cells, cell: str, item: str, location: str, profile: Profile) -> None:
    objects = cells[cell]
    if item not in objects:
        return
    if "square" in location:
        destination = _cell(location, profile)
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
