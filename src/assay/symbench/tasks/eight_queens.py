"""Eight queens: complete a board on which some queens stand and some cells are blocked."""

from collections.abc import Mapping
from functools import cache
from math import comb
from typing import Any

from pydantic import Field

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked

SIZE = 8


class EightQueensConfig(Parameters):
    """What the board shows."""

    placed: int = Field(ge=0, le=7)
    """Queens that already stand on the board."""
    blocked: int = Field(ge=0, le=56)
    """Cells on which no queen may stand."""

    def space(self) -> int:
        """Return the number of boards with their solution (92 complete boards)."""
        return 92 * comb(SIZE, self.placed) * comb(SIZE * SIZE - SIZE, self.blocked)


LEVELS = (
    EightQueensConfig(placed=4, blocked=12),
    EightQueensConfig(placed=3, blocked=14),
    EightQueensConfig(placed=2, blocked=16),
    EightQueensConfig(placed=1, blocked=18),
    EightQueensConfig(placed=0, blocked=20),
)


def generate(draws: Draws, config: EightQueensConfig) -> Draft:
    """Take one of the 92 complete boards, keep some of its queens and block cells that it leaves empty."""
    columns = draws.choice(complete_boards())
    queens = [[row, column] for row, column in enumerate(columns)]
    placed = sorted(draws.sample(queens, config.placed))
    empty = [[row, column] for row in range(SIZE) for column in range(SIZE) if columns[row] != column]
    blocked = sorted(draws.sample(empty, config.blocked))
    board = [
        "".join("1" if [r, c] in placed else "X" if [r, c] in blocked else "0" for c in range(SIZE))
        for r in range(SIZE)
    ]
    solution = {"initial_board": board, "placed_queens": placed, "blocked_positions": blocked, "solution": queens}
    reference = ", ".join(f"{row} {column}" for row, column in queens)
    return Draft(question=render(solution), solution=solution, reference=reference)


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the board."""
    board = "\n".join(solution["initial_board"])
    return (
        "Below is a chessboard of 8 rows and 8 columns. 1 is a queen that stays where it is, 0 a free cell, X a cell "
        "where no queen may stand. Add queens until there are eight, so that no two share a row, a column or a "
        f"diagonal.\n\n{board}\n\n"
        "Give all eight queens, the given ones included, as `row column` pairs counted from 0, with commas between "
        "the pairs. " + marked("the list", "0 3, 1 0, 2 4")
    )


@cache
def complete_boards() -> tuple[tuple[int, ...], ...]:
    """Return the 92 solutions, each as the column of the queen in every row."""
    boards: list[tuple[int, ...]] = [()]
    for row in range(SIZE):
        boards = [
            (*board, column)
            for board in boards
            for column in range(SIZE)
            if all(column != c and abs(column - c) != row - r for r, c in enumerate(board))
        ]
    return tuple(boards)
