"""Logic puzzle: select different numbers of a grid under a row and column constraint."""

import math

from assay.symbench.positions import Cell, read_positions, read_strictly
from assay.symbench.rows import TaskRow
from assay.symbench.verdicts import RIGHT, Profile, Verdict, unreadable, wrong


def verify(sample: TaskRow, answer: str, profile: Profile) -> Verdict:
    """Check a selection of cells.

    `upstream` checks the number of positions and the sums or products; repeated positions, cells outside the
    grid, equal numbers and the fixed first cell pass (deviation D11). `corrected` enforces all stated rules.
    """
    if profile == "upstream":
        cells = read_positions(answer)
    else:
        strict = read_strictly(answer)
        if strict is None:
            return unreadable("not a list of row column pairs")
        cells = strict
    if len(cells) != len(sample.solution["solution"]):
        return wrong(f"{len(cells)} positions, expected {len(sample.solution['solution'])}")
    if profile == "corrected" and (verdict := _stated_rules(cells, sample)) is not RIGHT:
        return verdict
    return check_lines(set(cells), sample)


def _stated_rules(cells: list[Cell], sample: TaskRow) -> Verdict:
    grid = sample.solution["grid"]
    size = len(grid)
    if any(row >= size or column >= len(grid[row]) for row, column in cells):
        return wrong("a position lies outside the grid")
    if len({grid[row][column] for row, column in cells}) != len(cells):
        return wrong("two selected numbers are equal")
    if (0, size - 1) not in cells:
        return wrong("the top-right cell is not selected")
    # Seven of eight published references list the cells in another order; our own questions ask for this one.
    if sample.question_source == "generated" and cells[0] != (0, size - 1):
        return wrong("the top-right cell does not stand first")
    return RIGHT


def check_lines(cells: set[Cell], sample: TaskRow) -> Verdict:
    """Check every row and column: sum at most 4, or product above 0 (1 for an empty line)."""
    grid = sample.solution["grid"]
    kind = sample.solution["constraints"]["type"]
    rows, columns = range(len(grid)), range(len(grid[0]))
    lines = [[(row, column) for column in columns] for row in rows]
    lines += [[(row, column) for row in rows] for column in columns]
    for line in lines:
        selected = [grid[row][column] for row, column in line if (row, column) in cells]
        if kind == "sum_le_4" and sum(selected) > 4:
            return wrong("a row or column sums to more than 4")
        if kind == "product_gt_0" and math.prod(selected) <= 0:
            return wrong("the product of a row or column is not above 0")
    return RIGHT
