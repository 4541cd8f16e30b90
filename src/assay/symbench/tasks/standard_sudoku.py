"""Standard sudoku: complete a 9 x 9 grid that has exactly one solution."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.gridfill import EMPTY, Grid
from assay.symbench.wording import marked, rows_text

SIZE = 9
COMPLETE_GRIDS = 6_670_903_752_021_072_936_960


class StandardSudokuConfig(Parameters):
    """How much of the grid is missing."""

    blanks: int = Field(ge=1, le=58)
    """Empty cells; fewer where the solution would not stay the only one."""

    def space(self) -> int:
        """Return the number of complete grids (Felgenhauer and Jarvis 2005); random filling can reach each."""
        return COMPLETE_GRIDS


LEVELS = (
    StandardSudokuConfig(blanks=32),
    StandardSudokuConfig(blanks=40),
    StandardSudokuConfig(blanks=46),
    StandardSudokuConfig(blanks=52),
)


def generate(draws: Draws, config: StandardSudokuConfig) -> Draft:
    """Fill an empty grid at random and empty cells as long as the solution stays the only one."""
    cells = [EMPTY] * (SIZE * SIZE)
    # Three boxes on the diagonal do not see each other: any digits fit, and the rest fills quickly.
    for box in (0, 30, 60):
        for place, digit in zip(range(SIZE), draws.shuffled(range(SIZE)), strict=True):
            cells[box + place // 3 * SIZE + place % 3] = digit
    shape().solve(cells, draws)
    puzzle = shape().dig(cells, draws.shuffled(range(SIZE * SIZE)), config.blanks)
    solution = {"puzzle": _rows(puzzle), "solution": _rows(cells)}
    return Draft(question=render(solution), solution=solution, reference=str(solution["solution"]))


@cache
def shape() -> Grid:
    """Return the rows, columns and boxes of a sudoku."""
    rows = [[row * SIZE + column for column in range(SIZE)] for row in range(SIZE)]
    columns = [[row * SIZE + column for row in range(SIZE)] for column in range(SIZE)]
    boxes = [
        [(top + i // 3) * SIZE + left + i % 3 for i in range(SIZE)]
        for top in range(0, SIZE, 3)
        for left in range(0, SIZE, 3)
    ]
    return Grid(rows + columns + boxes, SIZE)


def _rows(cells: Sequence[int]) -> list[list[int]]:
    """Return rows of digits, 0 for an empty cell."""
    return [[cell + 1 for cell in cells[start : start + SIZE]] for start in range(0, SIZE * SIZE, SIZE)]


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the grid."""
    return (
        "Complete this sudoku: every row, every column and every one of the nine 3 x 3 boxes must hold each digit from "
        "1 to 9 once. 0 marks an empty cell; the other digits stay.\n\n"
        f"{rows_text(solution['puzzle'], ' ')}\n\n"
        "Give the complete grid as a list of nine rows of nine numbers. "
        + marked("the grid", "[[1, 2, ...], [4, 5, ...], ...]")
    )
