"""BoxNet: agents in a grid bring coloured boxes to targets of the same colour."""

import json
from collections import Counter
from collections.abc import Mapping
from math import factorial
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

COLOURS = ("blue", "red", "green", "purple", "orange")
Cell = tuple[int, int]


class BoxnetConfig(Parameters):
    """Size of the grid and number of boxes."""

    rows: int = Field(ge=1, le=8)
    """Rows of cells."""
    columns: int = Field(ge=2, le=8)
    """Columns of cells."""
    pairs: int = Field(ge=1, le=60)
    """Boxes, each with a target of its colour."""

    def space(self) -> int:
        """Return the number of placements of boxes and targets, when equal objects are not told apart."""
        return int((self.rows * self.columns) ** (2 * self.pairs) * len(COLOURS) ** self.pairs) // (
            factorial(self.pairs) ** 2
        )


LEVELS = (
    BoxnetConfig(rows=2, columns=2, pairs=8),
    BoxnetConfig(rows=2, columns=3, pairs=9),
    BoxnetConfig(rows=2, columns=4, pairs=10),
    BoxnetConfig(rows=3, columns=4, pairs=12),
    BoxnetConfig(rows=4, columns=4, pairs=14),
)


def generate(draws: Draws, config: BoxnetConfig) -> Draft:
    """Scatter pairs of box and target, at least one of them apart."""
    cells = [(row, column) for row in range(config.rows) for column in range(config.columns)]
    while True:
        pairs = [(draws.choice(COLOURS), draws.choice(cells), draws.choice(cells)) for _ in range(config.pairs)]
        if any(start != goal for _, start, goal in pairs):
            break
    objects: dict[Cell, list[str]] = {cell: [] for cell in cells}
    for colour, start, goal in draws.shuffled(pairs):
        objects[start].append(f"box_{colour}")
        objects[goal].append(f"target_{colour}")
    reference = json.dumps(plan(pairs, config.rows, config.columns))
    solution = {
        "rows": config.rows,
        "columns": config.columns,
        "state": {_name(cell): draws.shuffled(held) for cell, held in objects.items()},
        "reference_answer": reference,
    }
    return Draft(question=render(solution), solution=solution, reference=reference)


def plan(pairs: list[tuple[str, Cell, Cell]], rows: int, columns: int) -> list[dict[str, str]]:
    """Return steps in which every agent matches a box that has arrived, or sends one on its way.

    Each box goes to the target it was drawn with, first along the rows. The actions of a step concern different
    boxes, so their order does not matter; boxes of one colour in one cell may swap roles without harm.
    """
    left = list(pairs)
    steps: list[dict[str, str]] = []
    while left:
        step: dict[str, str] = {}
        following: list[tuple[str, Cell, Cell]] = []
        acting: set[Cell] = set()
        for colour, at, goal in sorted(left, key=lambda pair: pair[1] != pair[2]):
            if at in acting:
                following.append((colour, at, goal))
                continue
            acting.add(at)
            if at == goal:
                step[_agent(at)] = f"move(box_{colour}, target_{colour})"
                continue
            on = _towards(at, goal)
            step[_agent(at)] = f"move(box_{colour}, {_square(on)})"
            following.append((colour, on, goal))
        steps.append(step)
        left = following
    return steps


def _towards(at: Cell, goal: Cell) -> Cell:
    if at[0] != goal[0]:
        return at[0] + (1 if goal[0] > at[0] else -1), at[1]
    return at[0], at[1] + (1 if goal[1] > at[1] else -1)


def _centre(cell: Cell) -> tuple[float, float]:
    return cell[0] + 0.5, cell[1] + 0.5


def _name(cell: Cell) -> str:
    return "{}_{}".format(*_centre(cell))


def _agent(cell: Cell) -> str:
    return "Agent[{}, {}]".format(*_centre(cell))


def _square(cell: Cell) -> str:
    return "square[{}, {}]".format(*_centre(cell))


def render(solution: Mapping[str, Any]) -> str:
    """Return the question: what every cell holds, and what its agent can do."""
    rows, columns = solution["rows"], solution["columns"]
    lines = []
    for row in range(rows):
        for column in range(columns):
            held = solution["state"][_name((row, column))]
            can = ", ".join(_actions((row, column), rows, columns, held)) or "nothing"
            lines.append(f"{_agent((row, column))} sees {', '.join(held) or 'nothing'}; it can do: {can}")
    report = "\n".join(lines)
    return (
        f"A field has {rows} x {columns} square cells, named by their centres. In each cell stands an agent that can "
        "move boxes of its own cell: into a cell that shares a side, or onto a target of the box's colour in the same "
        "cell, which removes both. A cell may hold any number of boxes and targets. In each step every agent may act "
        "once, and agents that do nothing are left out.\n\n"
        f"{report}\n\n"
        "Plan steps after which no box and no target is left; use few. The plan is a JSON list with one object for "
        "each step: keys are agents, values their actions. "
        + marked(
            "the plan",
            '[{"Agent[0.5, 0.5]": "move(box_blue, square[0.5, 1.5])"}, '
            '{"Agent[0.5, 1.5]": "move(box_blue, target_blue)"}]',
        )
    )


def _actions(cell: Cell, rows: int, columns: int, held: list[str]) -> list[str]:
    """Return the possible actions of an agent, each once, in the order of the boxes: up, down, left, right, target."""
    row, column = cell
    near = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    inside = [other for other in near if 0 <= other[0] < rows and 0 <= other[1] < columns]
    actions = []
    for item in Counter(held):
        if item.startswith("box_"):
            actions += [f"move({item}, {_square(other)})" for other in inside]
            target = f"target_{item.removeprefix('box_')}"
            actions += [f"move({item}, {target})"] if target in held else []
    return actions
