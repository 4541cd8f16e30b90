"""Reversi: place pieces and flip; the answer is the final board."""

from collections.abc import Mapping, Sequence
from math import perm
from typing import Any, Self

from pydantic import Field, model_validator

from assay.symbench.drafts import Draft, Parameters
from assay.symbench.drawing import Draws
from assay.symbench.wording import marked, rows_text

BLACK, WHITE, EMPTY = "0", "1", "*"
DIRECTIONS = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]


class ReversiConfig(Parameters):
    """Size of the board and number of pieces that are placed."""

    board_size: int = Field(ge=4, le=16, multiple_of=2)
    """Rows and columns, an even number."""
    pieces: int = Field(ge=1, le=60)
    """Pieces that are placed, black and white in turn."""

    @model_validator(mode="after")
    def _pieces_have_room(self) -> Self:
        if self.pieces > self.board_size**2 - 4:
            raise ValueError(f"pieces {self.pieces} exceed the free cells of a board of {self.board_size}")
        return self

    def space(self) -> int:
        """Return the number of placements."""
        return perm(self.board_size**2 - 4, self.pieces)


LEVELS = (
    ReversiConfig(board_size=6, pieces=4),
    ReversiConfig(board_size=6, pieces=7),
    ReversiConfig(board_size=8, pieces=9),
    ReversiConfig(board_size=8, pieces=14),
)


def generate(draws: Draws, config: ReversiConfig) -> Draft:
    """Place pieces; one that would flip something is preferred in three of four turns."""
    board = start_board(config.board_size)
    moves: list[list[int]] = []
    for turn in range(config.pieces):
        colour = BLACK if turn % 2 == 0 else WHITE
        free = [
            [row, column]
            for row in range(config.board_size)
            for column in range(config.board_size)
            if board[row][column] == EMPTY
        ]
        flipping = [cell for cell in free if flips(board, cell, colour)]
        row, column = draws.choice(flipping if flipping and draws.chance(3, 4) else free)
        place(board, (row, column), colour)
        moves.append([row + 1, column + 1])
    text = ",".join(cell for line in board for cell in line)
    solution = {"board_size": config.board_size, "moves": moves, "solution": text}
    return Draft(question=render(solution), solution=solution, reference=text)


def start_board(size: int) -> list[list[str]]:
    """Return the board with four pieces in its centre."""
    board = [[EMPTY] * size for _ in range(size)]
    middle = size // 2
    board[middle - 1][middle - 1] = board[middle][middle] = WHITE
    board[middle - 1][middle] = board[middle][middle - 1] = BLACK
    return board


def flips(board: Sequence[Sequence[str]], cell: Sequence[int], colour: str) -> list[tuple[int, int]]:
    """Return the opponent's pieces that lie in line, without a gap, between the cell and a piece of the colour."""
    found = []
    for down, right in DIRECTIONS:
        line = []
        row, column = cell[0] + down, cell[1] + right
        while 0 <= row < len(board) and 0 <= column < len(board) and board[row][column] not in (EMPTY, colour):
            line.append((row, column))
            row, column = row + down, column + right
        if 0 <= row < len(board) and 0 <= column < len(board) and board[row][column] == colour:
            found += line
    return found


def place(board: list[list[str]], cell: Sequence[int], colour: str) -> None:
    """Put a piece on an empty cell and flip what it encloses."""
    for row, column in flips(board, cell, colour):
        board[row][column] = colour
    board[cell[0]][cell[1]] = colour


def render(solution: Mapping[str, Any]) -> str:
    """Return the question about the board."""
    size = solution["board_size"]
    lines = [
        f"{number}. {'black' if number % 2 else 'white'} on ({row}, {column})"
        for number, (row, column) in enumerate(solution["moves"], 1)
    ]
    return (
        f"On a board of {size} x {size} cells black pieces are 0, white pieces 1 and empty cells *. It starts as\n\n"
        f"{rows_text(start_board(size), '')}\n\n"
        "Black and white place pieces in turn, on any empty cell. A placed piece encloses the opponent's pieces that "
        "lie between it and another piece of its own colour in one straight line (row, column or diagonal) without an "
        "empty cell in between; enclosed pieces change their colour at once. Pieces that changed colour enclose "
        "nothing by themselves. A piece may be placed even if it encloses nothing.\n\n"
        f"The pieces, as (row, column) counted from 1 at the top left:\n" + "\n".join(lines) + "\n\n"
        "What does the board look like in the end? Give all cells row by row with commas between them. "
        + marked("the cells", "*,*,0,1")
    )
