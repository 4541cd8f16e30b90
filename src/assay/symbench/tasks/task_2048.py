"""2048: slide one tile over the board; the answer is the final matrix."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text

STEPS = {"u": (-1, 0), "d": (1, 0), "l": (0, -1), "r": (0, 1)}
TILES = (2, 4, 8, 16, 32)


class Task2048Config(Parameters):
    """Size of the board and length of the walk."""

    size: int = Field(ge=2, le=10)
    """Rows and columns."""
    moves: int = Field(ge=1, le=60)
    """Steps that are tried."""
    empty_percent: int = Field(default=40, ge=0, le=90)
    """Share of empty cells."""

    def space(self) -> int:
        """Return the number of boards and walks."""
        return int((1 + len(TILES)) ** (self.size * self.size) * 4**self.moves)


LEVELS = (
    Task2048Config(size=3, moves=4),
    Task2048Config(size=4, moves=6),
    Task2048Config(size=5, moves=9, empty_percent=50),
    Task2048Config(size=6, moves=14, empty_percent=50),
)


def generate(draws: Draws, config: Task2048Config) -> Draft:
    """Draw a board and steps of a tile that changes place at least once."""
    size = range(config.size)
    while True:
        grid = [[0 if draws.chance(config.empty_percent, 100) else draws.choice(TILES) for _ in size] for _ in size]
        tiles = [[row, column] for row in size for column in size if grid[row][column]]
        moves = "".join(draws.choice("udlr") for _ in range(config.moves))
        if not tiles:
            continue
        start = draws.choice(tiles)
        final = slide(grid, start, moves)
        if final != grid:
            break
    text = rows_text(final, ", ")
    solution = {"grid": grid, "moves": moves, "start_pos": start, "solution": text}
    return Draft(question=render(solution), solution=solution, reference=text)


def slide(grid: Sequence[Sequence[int]], start: Sequence[int], moves: str) -> list[list[int]]:
    """Return the board after the steps; an empty start cell (published samples have some) moves nothing."""
    cells = [list(row) for row in grid]
    row, column = start
    for move in moves:
        down, right = STEPS[move]
        to_row, to_column = row + down, column + right
        if not (0 <= to_row < len(cells) and 0 <= to_column < len(cells[0])):
            continue
        tile, there = cells[row][column], cells[to_row][to_column]
        if there in (0, tile):
            cells[row][column] = 0
            cells[to_row][to_column] = tile + there
            row, column = to_row, to_column
    return cells


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the board."""
    row, column = solution["start_pos"]
    return (
        "On the board below every number is a tile and 0 is an empty cell. Only one tile moves, one cell for each "
        "letter: u up, d down, l left, r right. Into an empty cell it simply moves. Onto a tile of the same number it "
        "moves as well, and the two become one tile of twice the number, which goes on with the next letter. A step "
        "that would leave the board or meet a different number is left out.\n\n"
        f"{rows_text(solution['grid'], ', ')}\n\n"
        f"The moving tile starts in row {row + 1}, column {column + 1} (counted from 1); the letters are "
        f"{solution['moves']}. What does the board look like in the end? Write its rows on separate lines. "
        + marked("the board", "0, 2\n4, 16")
    )
