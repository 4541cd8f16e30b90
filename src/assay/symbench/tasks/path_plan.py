"""Path plan: drive through coloured boxes along straight lines without touching a wall."""

from collections import deque
from collections.abc import Mapping, Sequence
from math import perm
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import listed, marked

COLOURS = ("yellow", "red", "green", "blue", "pink", "purple", "orange")
WALLS = ((-1.5, -1.4, -1.5, 1.5), (1.4, 1.5, -1.5, 1.5), (-1.5, 1.5, -1.5, -1.4), (-1.5, 1.5, 1.4, 1.5))
# Instruction index -> colours to enter and to avoid, as the task defines its ten instructions.
INSTRUCTIONS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("green", "yellow"), ()),
    (("yellow", "purple", "red", "green"), ()),
    (("yellow", "purple", "red", "green"), ("blue",)),
    (("green", "yellow"), ()),
    (("blue",), ("red", "green", "yellow", "pink", "purple", "orange")),
    (("green", "yellow"), ("pink",)),
    (("yellow", "orange"), ("blue", "purple", "red")),
    (("green", "yellow", "red"), ("blue",)),
    (("purple", "orange", "pink"), ("blue", "red", "green", "yellow")),
    (("yellow", "red", "green"), ("blue",)),
)
# The room between the walls has 28 x 28 cells of side 0.1. Boxes have their edges on the cells' borders and
# paths run through cell centres, so that no path touches an edge without crossing it.
CELLS, CELL = 28, 0.1

Cell = tuple[int, int]
Area = tuple[int, int, int, int]  # first column, first row, column after the last, row after the last


class PathPlanConfig(Parameters):
    """Which instructions are given, and how large the boxes are."""

    instructions: tuple[int, ...] = Field(min_length=1)
    """Indices of the instructions to draw from, 0 to 9."""
    smallest_side: int = Field(default=3, ge=2, le=8)
    """Smallest side of a box, in tenths."""
    largest_side: int = Field(default=7, ge=2, le=9)
    """Largest side of a box, in tenths."""

    def model_post_init(self, context: object) -> None:
        """Check the indices and the order of the sides."""
        if not all(0 <= index < len(INSTRUCTIONS) for index in self.instructions):
            raise ValueError(f"instructions {self.instructions}: each must be 0 to {len(INSTRUCTIONS) - 1}")
        if self.smallest_side > self.largest_side:
            raise ValueError(f"smallest_side {self.smallest_side} exceeds largest_side {self.largest_side}")

    def space(self) -> int:
        """Return the number of rooms in which the boxes lie in different tiles of a coarse raster."""
        tiles = (CELLS // (self.largest_side + 1)) ** 2
        sides = range(self.smallest_side, self.largest_side + 1)
        in_a_tile = sum(self.largest_side - side + 1 for side in sides) ** 2
        return int(perm(tiles, len(COLOURS)) * in_a_tile ** len(COLOURS))


LEVELS = (
    PathPlanConfig(instructions=(0, 5)),
    PathPlanConfig(instructions=(7, 9)),
    PathPlanConfig(instructions=(1, 2)),
    PathPlanConfig(instructions=(6, 8)),
    PathPlanConfig(instructions=(4, 8), smallest_side=4, largest_side=8),
)


def generate(draws: Draws, config: PathPlanConfig) -> Draft:
    """Draw rooms until a path exists (complete search on the cells)."""
    index = draws.choice(config.instructions)
    enter, avoid = INSTRUCTIONS[index]
    while True:
        areas = _areas(draws, config)
        if areas is None:
            continue
        covered = {cell for area in areas.values() for cell in _cells(area)}
        free = [(x, y) for x in range(CELLS) for y in range(CELLS) if (x, y) not in covered]
        start, end = draws.sample(free, 2)
        path = plan(start, end, [areas[colour] for colour in enter], [areas[colour] for colour in avoid])
        if path is not None:
            break
    points = [_point(cell) for cell in path]
    solution = {
        "boxes": {colour: _edges(area) for colour, area in areas.items()},
        "start": list(points[0]),
        "end": list(points[-1]),
        "walls": [list(wall) for wall in WALLS],
        "instruction": sentence(index),
        "instruction_index": index,
        "reference_answer": str(points),
    }
    return Draft(question=render(solution), solution=solution, reference=str(points))


def _areas(draws: Draws, config: PathPlanConfig) -> dict[str, Area] | None:
    """Place seven boxes that leave at least one cell between each other, or give up."""
    areas: dict[str, Area] = {}
    for colour in COLOURS:
        for _ in range(60):
            width, height = (draws.integer(config.smallest_side, config.largest_side) for _ in range(2))
            x, y = draws.integer(1, CELLS - 1 - width), draws.integer(1, CELLS - 1 - height)
            area = (x, y, x + width, y + height)
            if not any(_near(area, other) for other in areas.values()):
                areas[colour] = area
                break
        else:
            return None
    return areas


def _near(a: Area, b: Area) -> bool:
    return a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]


def _cells(area: Area) -> list[Cell]:
    return [(x, y) for x in range(area[0], area[2]) for y in range(area[1], area[3])]


def plan(start: Cell, end: Cell, enter: Sequence[Area], avoid: Sequence[Area]) -> list[Cell] | None:
    """Return the corners of a path through all areas to enter, nearest first, or None if there is none."""
    blocked = {cell for area in avoid for cell in _cells(area)}
    left = [set(_cells(area)) for area in enter]
    path = [start]
    while left:
        leg = _shortest(path[-1], set().union(*left), blocked)
        if leg is None:
            return None
        path += leg
        # The leg ends in the first area that it reaches.
        left = [area for area in left if path[-1] not in area]
    leg = _shortest(path[-1], {end}, blocked)
    return None if leg is None else _corners(path + leg)


def _shortest(start: Cell, goals: set[Cell], blocked: set[Cell]) -> list[Cell] | None:
    """Return the cells after `start` up to the nearest goal (breadth first, fixed order of directions)."""
    came: dict[Cell, Cell] = {start: start}
    queue = deque([start])
    while queue:
        cell = queue.popleft()
        if cell in goals:
            leg = []
            while cell != start:
                leg.append(cell)
                cell = came[cell]
            return leg[::-1]
        for dx, dy in ((1, 0), (0, 1), (-1, 0), (0, -1)):
            step = cell[0] + dx, cell[1] + dy
            if step not in came and step not in blocked and 0 <= step[0] < CELLS and 0 <= step[1] < CELLS:
                came[step] = cell
                queue.append(step)
    return None


def _corners(path: Sequence[Cell]) -> list[Cell]:
    """Drop the cells in which the direction does not change."""
    kept = [path[0]]
    for before, cell, after in zip(path, path[1:], path[2:], strict=False):
        if (cell[0] - before[0], cell[1] - before[1]) != (after[0] - cell[0], after[1] - cell[1]):
            kept.append(cell)
    return [*kept, path[-1]]


def _point(cell: Cell) -> tuple[float, float]:
    return round(-1.35 + CELL * cell[0], 2), round(-1.35 + CELL * cell[1], 2)


def _edges(area: Area) -> list[float]:
    x0, y0, x1, y1 = (round(-1.4 + CELL * value, 1) + 0.0 for value in area)
    return [x0, x1, y0, y1]


def sentence(index: int) -> str:
    """Return what the instruction with this index asks for."""
    enter, avoid = INSTRUCTIONS[index]
    text = f"Enter the {listed(enter)} {'box' if len(enter) == 1 else 'boxes'}, in any order."
    return f"{text} Never enter the {listed(avoid, 'or')} box." if avoid else text


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the room."""
    boxes = "\n".join(f"{colour}: {_tuple(edges)}" for colour, edges in solution["boxes"].items())
    walls = ", ".join(_tuple(wall) for wall in solution["walls"])
    return (
        "Plan the way of a small robot. Every area is a rectangle (x_start, x_end, y_start, y_end).\n\n"
        f"Walls, which may never be touched: {walls}.\nBoxes:\n{boxes}\n\n"
        f"The robot starts at {_tuple(solution['start'])} and must stop at {_tuple(solution['end'])}. "
        f"{sentence(solution['instruction_index'])} The robot drives straight from one waypoint to the next; a box "
        "counts as entered as soon as one of these straight lines crosses its boundary.\n\n"
        "Give the waypoints as a list of (x, y) tuples that begins with the start and ends with the end point. "
        + marked("the list", "[(-1.3, -1.3), (0.2, 0.55), (1.3, 1.3)]")
    )


def _tuple(values: Sequence[float]) -> str:
    return f"({', '.join(map(str, values))})"
